import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS, systemClock } from '#core/clock.ts';
import type { FileName } from '#core/files/file-name.ts';
import { Upload } from '../../api/contract/upload.ts';
import type { FetchedImage } from '../../api/inference/linked-images/fetch-image.ts';
import { INLINED_BYTES_MAX, INLINED_IMAGES_MAX } from '../../api/inference/linked-images/inline-images.ts';
import { newName } from '../files/file-home.ts';
import { freePort } from '../services/free-port.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

const FORMATS = ['/chat/completions', '/responses', '/messages'] as const;
type Path = (typeof FORMATS)[number];

/** Fetches links itself; and one that does not, of any format. */
const VISION = 'faregate-sim/vision';
const EYES = 'acme/eyes';
const YAML = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: sim, kind: simulator, baseUrl: PROVIDER_URL }
  - { id: own, kind: openai, dialect: vllm, formats: [chat/completions, responses, messages], baseUrl: PROVIDER_URL }
models:
  - id: ${EYES}
    name: Eyes
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints:
      - { provider: own, model: ${VISION}, pricing: { prompt: "0.0000001", completion: "0.0000004" } }
`;

/** There, links are of its S3 store. */
/** A cluster's links lead to its store, which every provider is taken to reach. */
const describeLocal = sharedCluster() === undefined ? describe : () => undefined;

let gateway: TestGateway;
/** What is found behind public links. */
let web: Record<string, FetchedImage>;
let fetched: string[];

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: YAML });
  gateway.running.deps.gateway.fetchImage = async (link, bytesMax) => {
    fetched.push(link);
    const found = web[link] ?? { ok: false, words: 'could not be fetched' };
    return found.ok && found.bytes.length > bytesMax ? { ok: false, words: 'leads to too much' } : found;
  };
});

afterAll(() => gateway.stop());

afterEach(() => {
  gateway.provider.reset();
  web = {};
  fetched = [];
});

web = {};
fetched = [];

const image = (bytes: number, fill = 7): Buffer => Buffer.alloc(bytes, fill);

async function upload(bytes: Buffer, agent: TestAgent = gateway.agent): Promise<string> {
  const started = await gateway.post(
    { content_type: 'image/webp', size: bytes.length },
    { agent, path: '/uploads' },
  );
  const { upload_url, upload_headers, url } = Upload.parse(await started.json());
  const headers = { ...upload_headers };
  expect((await fetch(upload_url, { method: 'PUT', headers, body: new Uint8Array(bytes) })).status).toBe(200);
  return url;
}

/** A number that only exact copies keep, and words that look like a link. */
function bodyIn(path: Path, model: string, links: readonly string[], words = 'What is this?') {
  switch (path) {
    case '/chat/completions': {
      const parts = links.map((url) => ({ type: 'image_url', image_url: { url, detail: 'low' } }));
      return { model, messages: [{ role: 'user', content: [{ type: 'text', text: words }, ...parts] }] };
    }
    case '/responses': {
      const parts = links.map((image_url) => ({ type: 'input_image', image_url, detail: 'low' }));
      return { model, input: [{ role: 'user', content: [{ type: 'input_text', text: words }, ...parts] }] };
    }
    case '/messages': {
      const parts = links.map((url) => ({ type: 'image', source: { type: 'url', url } }));
      return {
        model,
        max_tokens: 100,
        messages: [{ role: 'user', content: [{ type: 'text', text: words }, ...parts] }],
      };
    }
  }
}

const placeIn = (path: Path): string =>
  ({
    '/chat/completions': 'messages[0].content[1].image_url.url',
    '/responses': 'input[0].content[1].image_url',
    '/messages': 'messages[0].content[1].source.url',
  })[path];

/** As the provider was sent them, whatever it speaks. */
function sentImages(path: Path, of: TestGateway = gateway): unknown[] {
  const { messages, input } = JSON.parse(of.provider.lastRequest(path).body.toString());
  const [, ...parts] = (messages ?? input)[0].content;
  return parts.map((part: Record<string, unknown>) => part.source ?? part.image_url);
}

const asSent = (path: Path, type: string, bytes: Buffer): unknown => {
  const data = bytes.toString('base64');
  if (path === '/messages') return { type: 'base64', media_type: type, data };
  return path === '/responses'
    ? `data:${type};base64,${data}`
    : { url: `data:${type};base64,${data}`, detail: 'low' };
};

async function refusal(path: Path, body: object, agent: TestAgent = gateway.agent) {
  const answer = await gateway.post(body, { path, agent });
  const { error = {} } = JSON.parse(await answer.text());
  return {
    status: answer.status,
    code: error.code ?? error.type,
    param: error.param,
    message: error.message,
  };
}

const asks = (): number => gateway.provider.posts().length;

describe.each(FORMATS)('an agent’s own image in a call of %s', (path) => {
  it.each([VISION, EYES])('reaches the model %s as it was uploaded', async (model) => {
    const link = await upload(image(100_000));
    const answer = await gateway.post(bodyIn(path, model, [link], `Not this: ${link}`), { path });
    expect(answer.status).toBe(200);
    expect(sentImages(path)).toEqual([asSent(path, 'image/webp', image(100_000))]);
    // What the agent says of it is its own affair.
    expect(gateway.provider.lastRequest(path).body.toString()).toContain(`Not this: ${link}`);
    expect(fetched).toEqual([]);
    expect((await gateway.settled()).runningCalls).toBe(0);
  });

  it.each<[string, (link: string, other: TestAgent) => string | Promise<string>]>([
    ['another agent’s', (_, other) => upload(image(10), other)],
    ['a forged one', (link) => link.replace(/upl_./, 'upl_-')],
    ['one with another agent’s number', (link) => link.replace(/\/\d+\/upl_/, '/4711/upl_')],
    ['one with another signature', (link) => link.replace(/(signature=)..../i, '$1AAAA')],
    ['one with another end', (link) => link.replace(/(expires=)\d/i, '$19')],
    ['one without a signature', (link) => link.replace(/[?].*/, '')],
  ])('is refused before anything is held: %s', async (_, change) => {
    const other = await gateway.newAgent();
    const link = await change(await upload(image(10)), other);
    const before = asks();
    const refused = await refusal(path, bodyIn(path, EYES, [link]));
    expect(refused).toMatchObject({ status: 400 });
    expect(refused.message).toContain(`\`${placeIn(path)}`);
    expect(refused.message).toContain('no link to an upload of yours');
    expect(asks()).toBe(before);
    expect(await gateway.calls(other)).toEqual([]);
  });

  it('is refused before anything is held when nothing was uploaded', async () => {
    const started = await gateway.post({ content_type: 'image/png', size: 5 }, { path: '/uploads' });
    const { url } = Upload.parse(await started.json());
    const callsBefore = (await gateway.calls()).length;
    expect((await refusal(path, bodyIn(path, EYES, [url]))).message).toContain('nothing has been uploaded');
    expect((await gateway.calls()).length).toBe(callsBefore);
  });
});

describe('a link to an own image', () => {
  it('is good until its end, and then refused', async () => {
    const { files } = gateway.running.deps;
    const name = { ...newName(systemClock.now()), agentId: gateway.agent.agentId };
    await files?.write(name, chunksOf(image(10)));
    const post = async (aheadMs: number) => {
      const link = (await files?.getLink(name, systemClock.now() + aheadMs)) ?? '';
      return refusal('/chat/completions', bodyIn('/chat/completions', EYES, [link]));
    };
    expect(await post(MINUTE_MS)).toMatchObject({ status: 200 });
    expect(await post(-MINUTE_MS)).toMatchObject({
      code: 'invalid_request',
      param: placeIn('/chat/completions'),
    });
  });

  it('leads to an image that a model made, too, and not to a film', async () => {
    const { files } = gateway.running.deps;
    const made: FileName = {
      ...newName(systemClock.now()),
      kind: 'pictures',
      id: 'img_0123456789abcdefghijklmn',
      agentId: gateway.agent.agentId,
    };
    await files?.write(made, chunksOf(image(20)));
    const link = (await files?.getLink(made, systemClock.now() + HOUR_MS)) ?? '';
    expect((await gateway.post(bodyIn('/chat/completions', EYES, [link]))).status).toBe(200);
    expect(sentImages('/chat/completions')).toEqual([asSent('/chat/completions', 'image/png', image(20))]);
    const film: FileName = {
      ...made,
      kind: 'videos',
      id: 'vid_0123456789abcdefghij',
      contentType: 'video/mp4',
    };
    await files?.write(film, chunksOf(image(20)));
    const filmLink = (await files?.getLink(film, systemClock.now() + HOUR_MS)) ?? '';
    expect(await refusal('/chat/completions', bodyIn('/chat/completions', EYES, [filmLink]))).toMatchObject({
      code: 'invalid_request',
    });
  });

  it('whose file is gone when it is read ends the call, and costs nothing', async () => {
    const link = await upload(image(10));
    const before = await gateway.balance();
    const { gateway: parts } = gateway.running.deps;
    const { files } = parts;
    if (files === null) throw new Error('This gateway keeps files.');
    parts.files = { ...files, read: async () => null };
    expect((await refusal('/chat/completions', bodyIn('/chat/completions', EYES, [link]))).message).toContain(
      'nothing',
    );
    parts.files = { ...files, read: () => Promise.reject(new Error('storage is down')) };
    expect(await refusal('/chat/completions', bodyIn('/chat/completions', EYES, [link]))).toMatchObject({
      status: 503,
      code: 'service_unavailable',
    });
    parts.files = files;
    await gateway.settled();
    expect(await gateway.balance()).toEqual(before);
  });
});

async function* chunksOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

describeLocal('behind a public address of this gateway', () => {
  let known: TestGateway;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    const server = `server: { publicUrl: https://gw.example.com/v1, port: ${port},`;
    known = await startTestGateway({ yaml: YAML.replace('server: { port: 0,', server) });
  });

  afterAll(() => known.stop());

  it('an own image is left to a provider that follows links, and sent to one that does not', async () => {
    const { files } = known.running.deps;
    const name = { ...newName(systemClock.now()), agentId: known.agent.agentId };
    await files?.write(name, chunksOf(image(10)));
    const link = (await files?.getLink(name, systemClock.now() + HOUR_MS)) ?? '';
    expect(link).toMatch(/^https:\/\/gw\.example\.com\/files\/uploads\//);
    const sent = async (model: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-api-key': known.agent.key },
        body: JSON.stringify(bodyIn('/chat/completions', model, [link])),
      });
      expect(answer.status).toBe(200);
      return sentImages('/chat/completions', known);
    };
    expect(await sent(VISION)).toEqual([{ url: link, detail: 'low' }]);
    expect(await sent(EYES)).toEqual([asSent('/chat/completions', 'image/png', image(10))]);
  });
});

describe('a public image', () => {
  const link = 'https://images.example.com/cat.png';

  it.each(FORMATS)('is fetched for a server that follows no links, in %s', async (path) => {
    web = { [link]: { ok: true, contentType: 'image/png', bytes: image(1_000) } };
    expect((await gateway.post(bodyIn(path, EYES, [link, link]), { path })).status).toBe(200);
    expect(sentImages(path)).toEqual([1, 2].map(() => asSent(path, 'image/png', image(1_000))));
    expect(fetched).toEqual([link]);
  });

  it.each(FORMATS)('is left to a provider that does, in %s', async (path) => {
    expect((await gateway.post(bodyIn(path, VISION, [link]), { path })).status).toBe(200);
    expect(JSON.stringify(sentImages(path))).toContain(link);
    expect(fetched).toEqual([]);
  });

  it('that cannot be fetched ends the call by the name of its field, and costs nothing', async () => {
    const before = await gateway.balance();
    const asked = asks();
    expect(await refusal('/chat/completions', bodyIn('/chat/completions', EYES, [link]))).toEqual({
      status: 400,
      code: 'invalid_request',
      param: placeIn('/chat/completions'),
      message: `\`${placeIn('/chat/completions')}\` could not be fetched.`,
    });
    await gateway.settled();
    expect(await gateway.balance()).toEqual(before);
    expect(asks()).toBe(asked);
  });

  it('is not one of too many, nor of too many bytes', async () => {
    const many = Array.from({ length: INLINED_IMAGES_MAX + 1 }, (_, at) => `${link}?${at}`);
    web = Object.fromEntries(
      many.map((each) => [each, { ok: true, contentType: 'image/png', bytes: image(10) }]),
    );
    // A busy machine is late with the hold of a call that takes megabytes, and asks to be asked again.
    const post = async (links: string[]): Promise<Response> => {
      for (;;) {
        const response = await gateway.post(bodyIn('/chat/completions', EYES, links));
        if (response.status !== 503) return response;
        await response.text();
      }
    };
    expect((await post(many.slice(1))).status).toBe(200);
    expect((await post(many)).status).toBe(400);
    const half = { ok: true, contentType: 'image/png', bytes: image(INLINED_BYTES_MAX / 2) } as const;
    web = { [`${link}?1`]: half, [`${link}?2`]: half, [`${link}?3`]: { ...half, bytes: image(1) } };
    expect((await post([`${link}?1`, `${link}?2`])).status).toBe(200);
    expect((await post([`${link}?1`, `${link}?2`, `${link}?3`])).status).toBe(400);
  });

  it('leaves every other word of the request as it was', async () => {
    web = { [link]: { ok: true, contentType: 'image/png', bytes: image(10) } };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: `{"image_url":"${link}"}` } };
    const text = JSON.stringify({
      model: EYES,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: link } },
            { type: 'text', text: link },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c', content: 'NUMBER' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { const: 'NUMBER' } } }],
    }).replaceAll('"NUMBER"', '12345678901234567890');
    const sent = text.replace('"content":12345678901234567890', '"content":"1"');
    const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.agent.key, 'content-type': 'application/json' },
      body: sent,
    });
    expect(answer.status).toBe(200);
    const body = gateway.provider.lastRequest().body.toString();
    expect(body).toContain(`{"type":"text","text":"${link}"}`);
    expect(body).toContain(JSON.stringify(call));
    expect(body).toContain('12345678901234567890');
  });
});
