import { accountBars } from './bars.ts';
import { measureCpu, ratiosOf } from './cpu-per-call.ts';
import { type GatewayUnderTest, startGateway, videoOrder } from './gateway.ts';
import { canMeasure } from './process-figures.ts';
import { medianAndSpread } from './report.ts';
import { type PlainRequest, pathOf, requestSide } from './request-side.ts';
import { type Bench, runPart } from './run-part.ts';
import { cpuLine, reportFailures } from './runs.ts';
import { median } from './statistics.ts';

/** Nothing here asks one. */
const NO_PROVIDER = 9;

await runPart(
  'The account: balance by HTTP and by MCP, and a read of a video',
  { pinned: true },
  async (bench) => {
    if (!canMeasure) return bench.report.line('CPU is measured on Linux only');
    const gateway = await startGateway({ providerPort: NO_PROVIDER, core: bench.coreUnderTest });
    bench.later(gateway.stop);
    const { balance, getBalance } = requestsOf();
    await compare(bench, gateway, 'GET /v1/videos/{id}', await readOfVideos(gateway), accountBars.video);
    await compare(bench, gateway, 'GET /v1/balance', balance, accountBars.balance);
    await compare(bench, gateway, 'get_balance by MCP, 2026-07-28', getBalance(true), accountBars.mcpBalance);
    await compare(
      bench,
      gateway,
      'get_balance by MCP, 2025-11-25',
      getBalance(false),
      accountBars.mcpBalance,
    );
  },
);

/** A video of each agent, in the making. */
async function readOfVideos({ target }: GatewayUnderTest): Promise<PlainRequest> {
  const path: string[] = [];
  for (const authorization of target.authorizations) {
    const answer = await fetch(`${target.origin}/v1/videos`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify(videoOrder),
    });
    if (answer.status !== 202) throw new Error(`A video was refused: ${await answer.text()}`);
    path.push(`/v1/videos/${JSON.parse(await answer.text()).id}`);
  }
  return { method: 'GET', path, headers: {}, body: null, expected: 'video.generation' };
}

function requestsOf() {
  const expected = 'spendable_usd';
  const balance: PlainRequest = {
    method: 'GET',
    path: '/v1/balance',
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
      path: '/mcp',
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

/** Against a process that answers the same bytes without a thought. */
async function compare(
  { report, sizes, start, coreUnderTest }: Bench,
  { target }: GatewayUnderTest,
  what: string,
  request: PlainRequest,
  ratioMax: number,
): Promise<void> {
  const { method, headers, body } = request;
  const [authorization = ''] = target.authorizations;
  const answer = await fetch(`${target.origin}${pathOf(request, 0)}`, {
    method,
    headers: { ...headers, authorization },
    body,
  });
  const bare = await start('bare-answer.ts', ['--answer', await answer.text()], coreUnderTest);
  const bareTarget = { ...target, name: 'bare', pid: bare.pid, origin: `http://127.0.0.1:${bare.port}` };
  const sides = [bareTarget, target].map((side) => requestSide(side, request, sizes));
  const [ofBare, ofGateway] = await measureCpu(sides, sizes);
  if (ofBare === undefined || ofGateway === undefined) return;
  report.heading(`CPU per ${what}, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`);
  for (const each of [ofBare, ofGateway]) {
    report.line(cpuLine(each));
    reportFailures(report, each.name, each.loads);
  }
  const ratios = ratiosOf(ofGateway, ofBare);
  const failed = [ofBare, ofGateway]
    .flatMap(({ loads }) => loads)
    .reduce((sum, { failed }) => sum + failed, 0);
  report.verdict({
    bar: `CPU per ${what} <= ${ratioMax} x bare node:http`,
    measured: `${medianAndSpread(ratios)} x, ${failed} failed`,
    met: median(ratios) <= ratioMax && failed === 0,
  });
}
