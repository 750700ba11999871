import { accountBars } from './bars.ts';
import { compareToBare } from './compare-to-bare.ts';
import { startGateway } from './gateway.ts';
import { canMeasure } from './process-figures.ts';
import type { PlainRequest } from './request-side.ts';
import { runPart } from './run-part.ts';

/** Nothing here asks one. */
const NO_PROVIDER = 9;

await runPart('The account: balance by HTTP and by MCP', { pinned: true }, async (bench) => {
  if (!canMeasure) return bench.report.line('CPU is measured on Linux only');
  const gateway = await startGateway({ providerPort: NO_PROVIDER, core: bench.coreUnderTest });
  bench.later(gateway.stop);
  const { balance, getBalance } = requestsOf();
  await compareToBare(bench, gateway, 'GET /v1/balance', balance, accountBars.balance);
  await compareToBare(
    bench,
    gateway,
    'get_balance by MCP, 2026-07-28',
    getBalance(true),
    accountBars.mcpBalance,
  );
  await compareToBare(
    bench,
    gateway,
    'get_balance by MCP, 2025-11-25',
    getBalance(false),
    accountBars.mcpBalance,
  );
});

function requestsOf() {
  const expected = 'spendable_usd';
  const balance: PlainRequest = {
    method: 'GET',
    paths: ['/v1/balance'],
    headers: {},
    body: null,
    expected,
  };
  const getBalance = (isModern: boolean): PlainRequest => {
    const revision = isModern ? '2026-07-28' : '2025-11-25';
    const envelope = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { name: 'get_balance', arguments: {}, ...(isModern ? { _meta: envelope } : {}) };
    return {
      method: 'POST',
      paths: ['/mcp'],
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        ...(isModern ? { 'mcp-method': 'tools/call', 'mcp-name': 'get_balance' } : {}),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      expected,
    };
  };
  return { balance, getBalance };
}
