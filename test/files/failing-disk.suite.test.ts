import { readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Upload } from '../../api/contract/upload.ts';
import { freePort } from '../services/free-port.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { FOREVER } from '../support/power-cut-life.ts';
import { requireFaultShim } from '../support/power-cut-shim.ts';
import { bodyOf, read } from './file-home.ts';

const BYTES = 3_000_000;
const { shim } = requireFaultShim();

describe.skipIf(shim === null)('uploads into the data folder of a real process', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let gateway: NodeProcess;
  let ports: { public: number; internal: number };

  const at = (...names: string[]) => join(folder.path, ...names);
  const incoming = () => readdir(at('data', 'files', 'incoming'));

  beforeAll(async () => {
    folder = await testDataDir();
    ports = { public: await freePort(), internal: await freePort() };
    await writeFile(at('faults'), '');
    gateway = await start();
  });

  afterAll(async () => {
    await gateway.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });

  const start = (): Promise<NodeProcess> =>
    startNodeProcess({
      command: ['api/main.ts'],
      internalPort: ports.internal,
      output: at('output'),
      ready: true,
      env: {
        PORT: String(ports.public),
        FAREGATE_DATA: at('data'),
        LD_PRELOAD: shim ?? '',
        // Files alone: what a ledger does with a failing disk is told elsewhere.
        FAULT_ROOT: at('data', 'files'),
        FAULT_CONTROL: at('faults'),
      },
    });

  async function startUpload(): Promise<Upload> {
    const demo = z
      .object({ key: z.string() })
      .parse(JSON.parse(await readFile(at('data', 'demo.json'), 'utf8')));
    const answer = await fetch(`http://127.0.0.1:${ports.public}/v1/uploads`, {
      method: 'POST',
      headers: { 'x-api-key': demo.key },
      body: JSON.stringify({ content_type: 'image/gif', size: BYTES }),
    });
    return Upload.parse(await answer.json());
  }

  const put = async ({ upload_url, upload_headers }: Upload, fill = 1): Promise<number> =>
    (await fetch(upload_url, { method: 'PUT', headers: upload_headers, body: bodyOf(BYTES, fill) })).status;

  test.each([
    ['a full disk', `write ENOSPC 0 ${FOREVER}`],
    ['a disk that is full in the middle', `write ENOSPC 1000000 ${FOREVER}`],
    ['a disk that takes no write', `write EIO 0 ${FOREVER}`],
    ['a disk that syncs nothing', `sync EIO 0 ${FOREVER}`],
  ])('%s refuses a file, keeps nothing of it, and takes it once it is mended', async (what, fault) => {
    const upload = await startUpload();
    await writeFile(at('faults'), `${what.replaceAll(' ', '-').slice(0, 31)} ${fault}\n`);
    expect(await put(upload)).toBe(503);
    expect(await incoming()).toEqual([]);
    await writeFile(at('faults'), '');
    expect(await put(upload)).toBe(200);
    expect(Buffer.compare((await read(upload.url)) ?? bodyOf(0), bodyOf(BYTES, 1))).toBe(0);
  });

  test('writes that stop half-way are gone on with', async () => {
    const upload = await startUpload();
    await writeFile(at('faults'), 'half write SHORT 0 20\n');
    expect(await put(upload, 5)).toBe(200);
    await writeFile(at('faults'), '');
    expect(Buffer.compare((await read(upload.url)) ?? bodyOf(0), bodyOf(BYTES, 5))).toBe(0);
  });

  test('a kill in the middle of one leaves nothing of it, and all that was taken before', async () => {
    const before = await startUpload();
    expect(await put(before, 3)).toBe(200);
    const cut = await startUpload();
    const headers = { ...cut.upload_headers, 'Content-Length': String(BYTES) };
    const sending = request(cut.upload_url, { method: 'PUT', headers });
    const ended = new Promise((resolve) => void sending.on('error', resolve));
    sending.write(bodyOf(BYTES / 2));
    await until(async () => (await incoming()).length === 1);
    await gateway.stop('SIGKILL');
    await ended;
    expect(await incoming()).toHaveLength(1);

    gateway = await start();
    expect(await incoming()).toEqual([]);
    expect(await read(cut.url)).toBeNull();
    expect((await read(before.url))?.[BYTES - 1]).toBe(3);
    expect(await put(cut, 4)).toBe(200);
    expect((await read(cut.url))?.[0]).toBe(4);
  });
});
