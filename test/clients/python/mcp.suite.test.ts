import { describe } from 'vitest';
import { testMcpClient } from '../mcp-scenarios.ts';
import { installPython } from './install-python.ts';
import { pythonMcpClients } from './mcp-client.ts';

const installed = await installPython();
const missing = 'missing' in installed;
if (missing) console.warn(`\nSKIPPED: every test of Python's MCP client. ${installed.missing}\n`);

describe.skipIf(missing)('with the official Python package', () => {
  for (const client of pythonMcpClients(missing ? '' : installed.python)) testMcpClient(client);
});
