import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../api/http/create-http-server.ts';
import { compileCache } from '../../support/compile-cache.ts';
import { testDataDir } from '../../support/data-dir.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { applicable, exceptions } from './scenarios.ts';

/** The protocol's own suite, against the real gateway. It cannot send a key, so a proxy adds it. */

const suite = join(process.cwd(), 'node_modules/@modelcontextprotocol/conformance');
const expectedFailures = join(import.meta.dirname, 'expected-failures.yaml');

let gateway: TestGateway;
let proxy: Server;
let url: string;
let results: Awaited<ReturnType<typeof testDataDir>>;

beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { mcpRequestsPerMinute: 60000, mcpBurst: 1000 }
providers: [{ id: sim, kind: simulator, cancel: bills_full, baseUrl: PROVIDER_URL }]
`,
  });
  results = await testDataDir();
  const { key } = gateway.agent;
  proxy = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${key}` };
    const onward = request(gateway.running.mcpUrl, { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(onward);
  });
  url = `http://127.0.0.1:${await listen(proxy, 0, '127.0.0.1')}/mcp`;
});

afterAll(async () => {
  proxy?.close();
  proxy?.closeAllConnections();
  await gateway?.stop();
  await results?.[Symbol.asyncDispose]();
});

async function run(...args: string[]) {
  const child = spawn(process.execPath, [join(suite, 'dist/index.js'), ...args], {
    // It leaves its results where it is started.
    cwd: results.path,
    env: { ...compileCache, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { code, output: out + errors };
}

describe.each(Object.entries(applicable))('the conformance suite at %s', (revision, scenarios) => {
  it.each(scenarios)('%s', async (scenario) => {
    const { code, output } = await run(
      'server',
      ...['--url', url],
      ...['--scenario', scenario],
      ...['--spec-version', revision],
      ...['--expected-failures', expectedFailures],
    );
    expect(code, output).toBe(0);
  });
});

it.each(Object.keys(applicable))(
  'nothing that the suite has for %s is left out without a reason',
  async (revision) => {
    const { code, output } = await run('list', '--server', '--spec-version', revision);
    expect(code, output).toBe(0);
    const listed = Array.from(output.matchAll(/^ {2}- (\S+) \[/gm), ([, name = '']) => name);
    const excepted = new Set(Object.values(exceptions).flat());
    const applied = new Set(applicable[revision]);
    expect(listed).not.toEqual([]);
    expect(listed.filter((name) => !applied.has(name) && !excepted.has(name))).toEqual([]);
    expect([...applied].filter((name) => excepted.has(name))).toEqual([]);
  },
);
