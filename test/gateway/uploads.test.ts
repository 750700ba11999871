import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import { formatFileName, hourOf } from '#core/files/file-name.ts';
import { Upload } from '../../api/contract/upload.ts';
import { newName } from '../files/file-home.ts';
import { testDataDir } from '../support/data-dir.ts';
import { startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

const YAML = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
limits: { uploadsPerDay: 20 }
`;
const onCluster = sharedCluster() !== undefined;

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: YAML });
});

afterAll(() => gateway.stop());

const post = (body: unknown, agent: TestAgent = gateway.agent): Promise<Response> =>
  gateway.post(body, { agent, path: '/uploads' });

const wanted = { content_type: 'image/png', size: 3 };

async function start(agent?: TestAgent): Promise<Upload> {
  const answer = await post(wanted, agent);
  expect(answer.status).toBe(201);
  return Upload.parse(await answer.json());
}

async function refusal(body: unknown, agent?: TestAgent) {
  const answer = await post(body, agent);
  return { status: answer.status, headers: answer.headers, error: JSON.parse(await answer.text()).error };
}

const put = ({ upload_url, upload_headers }: Upload, bytes = Uint8Array.from([1, 2, 3])): Promise<Response> =>
  fetch(upload_url, { method: 'PUT', headers: upload_headers, body: bytes });

describe('an image of the caller’s own', () => {
  it('is sent by the one link and read by the other', async () => {
    const before = await gateway.balance();
    const upload = await start();
    expect(upload).toMatchObject({
      object: 'upload',
      upload_method: 'PUT',
      content_type: 'image/png',
      size: 3,
    });
    expect(upload.id).toMatch(/^upl_\w{24}$/);
    expect(upload.upload_headers['Content-Type']).toBe('image/png');
    expect(Date.parse(upload.expires_at) - Date.parse(upload.upload_expires_at)).toBe(DAY_MS - HOUR_MS);
    expect((await fetch(upload.url)).status).toBe(404);

    expect((await put(upload, Uint8Array.from([1, 2]))).ok).toBe(false);
    expect((await put(upload)).status).toBe(200);
    const read = await fetch(upload.url);
    expect(read.headers.get('content-type')).toBe('image/png');
    expect([...new Uint8Array(await read.arrayBuffer())]).toEqual([1, 2, 3]);
    expect(await gateway.balance()).toEqual(before);
  });

  it('has links that say whose it is, and open it for nobody who changes that', async () => {
    const upload = await start();
    const place = `/${gateway.agent.agentId}/${upload.id}.png`;
    for (const link of [upload.upload_url, upload.url]) expect(new URL(link).pathname).toContain(place);
    await put(upload);
    const others = upload.url.replace(place, place.replace(/\d+/, '99'));
    expect((await fetch(others)).status).toBe(403);
  });

  it('may be sent with a key that has a limit', async () => {
    const limited = await gateway.newKey(gateway.agent.agentId, '0.01');
    expect((await put(await start(limited))).status).toBe(200);
  });
});

describe('what cannot be an upload is refused by the field, and not counted', () => {
  let agent: TestAgent;

  beforeAll(async () => {
    agent = await gateway.newAgent();
  });

  it.each([
    ['no type', { size: 3 }, 'content_type', 'one of `image/png`'],
    ['another type', { ...wanted, content_type: 'image/svg+xml' }, 'content_type', 'one of `image/png`'],
    ['a type in another case', { ...wanted, content_type: 'IMAGE/PNG' }, 'content_type', 'one of'],
    ['a type of another kind', { ...wanted, content_type: ['image/png'] }, 'content_type', 'one of'],
    ['no size', { content_type: 'image/png' }, 'size', 'from 1 to 20971520'],
    ['no bytes', { ...wanted, size: 0 }, 'size', 'from 1 to 20971520'],
    ['fewer than none', { ...wanted, size: -1 }, 'size', 'from 1'],
    ['one byte too many', { ...wanted, size: 20_971_521 }, 'size', 'from 1 to 20971520'],
    ['half a byte', { ...wanted, size: 1.5 }, 'size', 'whole number'],
    ['a size as text', { ...wanted, size: '3' }, 'size', 'whole number'],
    ['a size beyond all', { ...wanted, size: 1e300 }, 'size', 'whole number'],
    ['a field that is not taken', { ...wanted, filename: '../x' }, 'filename', 'no such field'],
    ['a list', [wanted], null, 'JSON object'],
    ['no JSON', '{', null, 'not valid JSON'],
  ])('%s', async (_, body, param, words) => {
    const { status, error } = await refusal(body, agent);
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 'invalid_request', param });
    expect(error.message).toContain(words);
  });

  it('so that all of the day are still left', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => post(wanted, agent)));
    expect(all.map(({ status }) => status)).toEqual(Array(20).fill(201));
  });

  it('the largest size is taken', async () => {
    expect((await post({ ...wanted, size: 20_971_520 })).status).toBe(201);
  });
});

describe('who may not start an upload is told why', () => {
  it.each([
    ['inactive', 403, 'agent_inactive'],
    ['suspended', 403, 'agent_suspended'],
  ] as const)('an agent that is %s', async (agentStatus, status, code) => {
    const agent = await gateway.newAgent({ status: agentStatus });
    expect(await refusal(wanted, agent)).toMatchObject({ status, error: { code } });
  });

  it('an agent without credit', async () => {
    const { status, error } = await refusal(wanted, await gateway.newAgent({ creditUsd: '0' }));
    expect({ status, code: error.code }).toEqual({ status: 402, code: 'insufficient_balance' });
    expect(error.message).toContain('needs an agent with credit');
  });

  it('a key that was revoked, and none at all', async () => {
    const agent = await gateway.newAgent();
    const { ledger } = gateway.running.deps.store;
    const command = {
      type: 'revoke_key',
      readVersion: null,
      agentId: agent.agentId,
      keyId: agent.keyId,
      actingKeyId: null,
    } as const;
    await (await ledger.execute(command)).durable;
    expect((await post(wanted, agent)).status).toBe(401);
    const answer = await fetch(`${gateway.baseUrl}/uploads`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
  });

  it('of many uploads at once as many as are left of the day are started, and the others wait', async () => {
    const agent = await gateway.newAgent();
    const all = await Promise.all(Array.from({ length: 50 }, () => post(wanted, agent)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(20);
    const { status, headers, error } = await refusal(wanted, agent);
    expect(status).toBe(429);
    expect(error.code).toBe('rate_limited');
    expect(error.message).toMatch(/the next one may start at 20\d\d-.*Z/);
    // No client sleeps for hours.
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(23 * 3_600);
    expect(headers.get('x-should-retry')).toBe('false');
    expect((await post(wanted, await gateway.newAgent())).status).toBe(201);
  });
});

// Each where it means something: a test that is skipped is one that CI misses.
if (onCluster) {
  it('a cluster without an S3 store says that it keeps no files', async () => {
    await using without = await startTestGateway({ files: false });
    const answer = await without.post(wanted, { path: '/uploads' });
    expect(answer.status).toBe(404);
    const { error } = JSON.parse(await answer.text());
    expect(error.code).toBe('not_found');
    expect(error.message).toContain('keeps no files');
  });
} else {
  it('links outlive the process', async () => {
    await using folder = await testDataDir();
    const before = await startTestGateway({ dataDir: folder.path });
    const answer = await before.post(wanted, { path: '/uploads' });
    const upload = Upload.parse(await answer.json());
    await before.stop();
    await using after = await startTestGateway({ dataDir: folder.path });
    const moved = (link: string) => link.replace(/^.*?(?=\/files)/, after.baseUrl.replace('/v1', ''));
    expect((await put({ ...upload, upload_url: moved(upload.upload_url) })).status).toBe(200);
    expect((await fetch(moved(upload.url))).status).toBe(200);
  });

  it('a start deletes what ended while nothing ran', async () => {
    await using folder = await testDataDir();
    const nowMs = Date.now();
    const place = (hours: number) =>
      join(
        folder.path,
        'files',
        formatFileName({ ...newName(nowMs), endHour: hourOf(nowMs - hours * HOUR_MS) }),
      );
    const [ended, live] = [place(5), place(0)];
    for (const path of [ended, live]) {
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, 'image');
    }
    await using _ = await startTestGateway({ dataDir: folder.path });
    await until(async () => !(await isThere(ended)));
    expect(await isThere(live)).toBe(true);
  });
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
