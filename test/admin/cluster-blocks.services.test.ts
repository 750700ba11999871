import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readBlocks } from '../clients/pasted-blocks.ts';
import { freePort } from '../services/free-port.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { compileCache } from '../support/compile-cache.ts';
import { testDataDir } from '../support/data-dir.ts';
import { hello } from '../support/gateway.ts';
import { putMake } from '../support/make-stand-in.ts';
import { describeWith } from '../support/with-services.ts';

const EXAMPLE = 'faregate.cluster.example.yaml';

const [makeSecrets, startAll, careFor, ...others] = readBlocks(await readFile('docs/cluster.md', 'utf8')).map(
  ({ source }) => source.trim().split('\n'),
);

describeWith(['redis', 'kafka', 'cassandra'], 'who has read docs/cluster.md', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  /** By what stands in the document. */
  let ours: Map<string, string>;
  const terminals: ChildProcess[] = [];
  let exported = '';

  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startClusterStores(folder.path);
    await copyFile(EXAMPLE, join(folder.path, EXAMPLE));
    await putMake(folder.path);
    const simulatorPort = await freePort();
    ours = new Map([
      ['127.0.0.1:6379', stores.redis.address],
      ['127.0.0.1:9092', stores.kafka.address],
      ['127.0.0.1:9042', stores.cassandra.address],
      ['127.0.0.1:8100', `127.0.0.1:${simulatorPort}`],
      ['make simulator', `make simulator PORT=${simulatorPort}`],
    ]);
    for (const port of ['8081', '9091', '9191']) ours.set(port, String(await freePort()));
  });
  afterAll(async () => {
    await Promise.all(
      terminals.map(async (terminal) => {
        const ended = once(terminal, 'exit');
        if (terminal.kill('SIGTERM')) await ended;
      }),
    );
    await stores?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const adapt = (source: string): string =>
    source.replaceAll(
      /127\.0\.0\.1:(?:6379|9092|9042|8100)|make simulator|\b(?:8081|9091|9191)\b/g,
      (theirs) => ours.get(theirs) ?? theirs,
    );

  function openTerminal(line: string): ChildProcess & { stdout: NodeJS.ReadableStream } {
    return spawn('sh', ['-e', '-c', `${exported}\n${adapt(line)}`], {
      cwd: folder.path,
      stdio: ['ignore', 'pipe', 'inherit'],
      // Nothing of this machine's settings.
      env: { ...compileCache, PATH: `${folder.path}:${process.env.PATH}`, HOME: folder.path },
    });
  }

  async function paste(line: string): Promise<string> {
    const terminal = openTerminal(line);
    const ended = once(terminal, 'exit');
    const said = await text(terminal.stdout);
    expect([line, ...(await ended)], said).toEqual([line, 0, null]);
    return said;
  }

  /** What goes on running: until the address answers. */
  async function leaveRunning(line: string, url: string): Promise<void> {
    const terminal = openTerminal(`exec ${line}`);
    terminals.push(terminal);
    terminal.stdout.resume();
    while ((await fetch(url).catch(() => null))?.status !== 200) {
      expect([terminal.exitCode, terminal.signalCode], line).toEqual([null, null]);
      await sleep(50);
    }
  }

  test('has a cluster that makes a paid call', async () => {
    expect(others).toEqual([]);
    for (const line of makeSecrets ?? []) await paste(line);
    const config = join(folder.path, 'faregate.cluster.yaml');
    await writeFile(config, adapt(await readFile(config, 'utf8')));

    const said: string[] = [];
    for (const line of startAll ?? []) {
      const internalPort = /INTERNAL_PORT=(\d+)/.exec(adapt(line))?.[1];
      if (line.startsWith('export')) exported = line;
      else if (internalPort !== undefined)
        await leaveRunning(line, `http://127.0.0.1:${internalPort}/readyz`);
      else if (line.startsWith('make simulator'))
        await leaveRunning(line, adapt('http://127.0.0.1:8100/api/v1/models'));
      else said.push(await paste(line));
    }
    expect(said).toHaveLength(2);

    const cli = (args: string) =>
      paste(`make cli ARGS="--url http://127.0.0.1:9091 --token-file .faregate/cluster-admin-token ${args}"`);
    expect(await cli('agents create Acme')).toContain('Made agent 1.');
    await cli('credit grant 1 1');
    const [key] = /fg_\w+/.exec(await cli('keys create 1 first')) ?? [];
    const answer = await fetch(adapt('http://127.0.0.1:8081/v1/chat/completions'), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(hello({ max_tokens: 20 })),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"cost":0.')]);
  });

  test('compares the stores, and has a shard rebuilt', async () => {
    const [audit = '', recover = '', ...more] = careFor ?? [];
    expect(more).toEqual([]);
    expect(await paste(audit)).toContain('Redis and Cassandra are as the log has it.');
    expect(await paste(recover)).toContain('1 of 1 shards were rebuilt from the log.');
  });
});
