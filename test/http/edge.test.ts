import { afterAll, describe, expect, test } from 'vitest';
import { apiError, type ErrorCode, errorTable } from '../../api/contract/errors.ts';
import { balanceExample } from '../../api/contract/examples.ts';
import { renderError } from '../../api/http/render-error.ts';
import { ErrorResponse, MessagesErrorResponse } from '../../openapi/generate/error-response.ts';
import { CALL_ID_HEADER, documentText, type EdgeOptions, smallBody, startEdge } from '../support/edge-app.ts';

const edges: { stop(): Promise<void> }[] = [];
afterAll(() => Promise.all(edges.map((edge) => edge.stop())));

/** The `error` of an answer that has the shape of the document. */
const errorOf = async (answer: { json(): Promise<unknown> }) =>
  ErrorResponse.parse(await answer.json()).error;

async function start(options: EdgeOptions = {}) {
  const edge = await startEdge(options);
  edges.push(edge);
  const call = (body: string | Uint8Array = smallBody, headers: Record<string, string> = {}) =>
    fetch(`${edge.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${edge.key}`, ...headers },
      body,
    });
  return { ...edge, call };
}

const codes = Object.keys(errorTable).filter((code): code is ErrorCode => code in errorTable);

describe('refusals', async () => {
  let refusal = apiError('gateway_error');
  const edge = await start({ useCases: { runCall: async () => refusal } });
  const messages = await start({
    useCases: {
      // The messages format has no route yet: its shape is rendered from the chat route.
      async runCall(_endpoint, call) {
        renderError(call.res, refusal, { ...call, shape: 'messages' });
        return null;
      },
    },
  });

  test.each(codes)('%s is rendered in the shape of chat and responses', async (code) => {
    refusal = apiError(code, { param: 'model' });
    const answer = await edge.call();
    const { status, type, message, retryAfterMs } = { retryAfterMs: undefined, ...errorTable[code] };
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ error: { message, type, code, param: 'model' } });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get(CALL_ID_HEADER)).toMatch(/^\d+$/);
    expect(answer.headers.get('x-request-id')).toBe(answer.headers.get(CALL_ID_HEADER));
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('x-powered-by')).toBeNull();
    expect(answer.headers.get('retry-after-ms')).toBe(
      retryAfterMs === undefined ? null : String(retryAfterMs),
    );
    const isFinal = code === 'daily_share_used' || errorTable[code].retry === 'fix_first';
    expect(answer.headers.get('x-should-retry')).toBe(isFinal ? 'false' : null);
    expect(answer.headers.get('www-authenticate')).toBe(
      code === 'invalid_api_key' ? 'Bearer realm="faregate"' : null,
    );
  });

  test.each(codes)('%s is rendered in the shape of the messages format', async (code) => {
    refusal = apiError(code);
    const answer = await messages.call();
    const body: object = MessagesErrorResponse.parse(await answer.json());
    expect(answer.status).toBe(code === 'model_busy' ? 529 : errorTable[code].status);
    expect(Object.keys(body)).toEqual(['type', 'error']);
    expect(body).toMatchObject({ type: 'error', error: { code, message: errorTable[code].message } });
    expect(answer.headers.get('request-id')).toBe(answer.headers.get(CALL_ID_HEADER));
  });
});

describe('an unexpected failure', () => {
  const secret = 'the database at 10.0.0.7 said no to fg_secret';

  test('in a hot route is a gateway_error that tells nothing, and is logged with its call id', async () => {
    const edge = await start({
      useCases: {
        async runCall() {
          throw new Error(secret);
        },
      },
    });
    const answer = await edge.call();
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expect(JSON.parse(text).error.code).toBe('gateway_error');
    expect(text).not.toContain('10.0.0.7');
    expect(edge.logged).toHaveLength(1);
    expect(edge.logged[0]).toMatchObject({
      event: 'request failed',
      fields: { callId: Number(answer.headers.get(CALL_ID_HEADER)), path: 'createChatCompletion' },
    });
  });

  test('in a route that only reads is the same', async () => {
    const edge = await start({
      useCases: {
        async sendBalance() {
          throw new Error(secret);
        },
      },
    });
    const answer = await fetch(`${edge.url}/v1/balance`, { headers: { 'x-api-key': edge.key } });
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('10.0.0.7');
    expect(edge.logged[0]).toMatchObject({ fields: { path: 'getBalance' } });
  });

  test('after the first byte cuts the connection: nobody takes the answer for a whole one', async () => {
    const edge = await start({
      useCases: {
        async runCall(_endpoint, { res }) {
          res.writeHead(200, { 'content-length': '100' });
          res.write('half');
          throw new Error('late');
        },
      },
    });
    await expect(edge.call().then((answer) => answer.text())).rejects.toThrow();
    expect((await fetch(`${edge.url}/v1/balance`, { headers: { 'x-api-key': edge.key } })).status).toBe(200);
  });
});

describe('the balance route', () => {
  test('answers the record, and is never cached', async () => {
    const edge = await start();
    const answer = await fetch(`${edge.url}/v1/balance?beta=true`, { headers: { 'x-api-key': edge.key } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual(balanceExample);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get(CALL_ID_HEADER)).toMatch(/^\d+$/);
  });

  test('renders a refusal of its use case', async () => {
    const edge = await start({ useCases: { sendBalance: async () => apiError('service_unavailable') } });
    const answer = await fetch(`${edge.url}/v1/balance`, { headers: { 'x-api-key': edge.key } });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(edge.logged).toEqual([]);
  });
});

describe('keys', async () => {
  const edge = await start();
  const balance = (headers: Record<string, string>) => fetch(`${edge.url}/v1/balance`, { headers });

  test('one key works in either header, or the same key in both', async () => {
    const { key } = edge;
    expect((await balance({ authorization: `Bearer ${key}` })).status).toBe(200);
    expect((await balance({ authorization: `bearer ${key}` })).status).toBe(200);
    expect((await balance({ 'x-api-key': key })).status).toBe(200);
    expect((await balance({ authorization: `Bearer ${key}`, 'x-api-key': key })).status).toBe(200);
  });

  test('two good keys that differ are refused', async () => {
    const answer = await balance({ authorization: `Bearer ${edge.key}`, 'x-api-key': edge.otherKey });
    expect(answer.status).toBe(401);
    expect((await errorOf(answer)).message).toContain('two different keys');
  });

  const { key } = edge;
  const last = key.endsWith('a') ? 'b' : 'a';
  const bad: [what: string, headers: Record<string, string>][] = [
    ['no key', {}],
    ['an empty header', { authorization: '' }],
    ['no key after Bearer', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${key}` }],
    ['another scheme beside a good key', { authorization: 'Basic abc', 'x-api-key': key }],
    ['an empty x-api-key', { 'x-api-key': '' }],
    ['a key without Bearer', { authorization: key }],
    ['two keys in one header', { authorization: `Bearer ${key} ${key}` }],
    ['a list', { 'x-api-key': `${key}, ${key}` }],
    ['a key cut short', { authorization: `Bearer ${key.slice(0, -1)}` }],
    ['only the prefix', { authorization: `Bearer ${key.slice(0, 12)}` }],
    ['a mistyped key', { authorization: `Bearer ${key.slice(0, -1)}${last}` }],
    ['a key of another service', { authorization: 'Bearer sk-proj-abcdefghijklmnop' }],
    ['a key of 8,000 characters', { authorization: `Bearer fg_${'a'.repeat(8000)}` }],
    ['a revoked key', { authorization: `Bearer ${edge.revokedKey}` }],
  ];
  test.each(bad)('%s is 401', async (_what, headers) => {
    const answer = await balance(headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="faregate"');
    const text = await answer.text();
    expect(JSON.parse(text).error).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error' });
    expect(text).not.toContain(key.slice(0, 12));
  });

  test('a well-made key that was never issued here is looked up and refused', async () => {
    const foreign = await start();
    expect((await balance({ authorization: `Bearer ${foreign.key}` })).status).toBe(401);
  });

  test('a malformed key costs no look-up', async () => {
    let lookUps = 0;
    const counting = await start({
      findKey: async () => {
        lookUps += 1;
        return { found: false };
      },
    });
    const ask = (given: string) => fetch(`${counting.url}/v1/balance`, { headers: { 'x-api-key': given } });
    expect((await ask(`fg_${'a'.repeat(38)}`)).status).toBe(401);
    expect(lookUps).toBe(0);
    expect((await ask(key)).status).toBe(401);
    expect(lookUps).toBe(1);
  });

  describe('that was live some seconds ago', () => {
    const revoked = { found: true, agentId: 7, keyId: 1, revoked: true, agentStatus: 'active' } as const;

    /** One whose first look-up finds it live, and each later one revoked. */
    async function startWithEnded(options: Partial<EdgeOptions> = {}) {
      let lookUps = 0;
      const app = await start({
        findKey: async () => (lookUps++ === 0 ? { ...revoked, revoked: false } : revoked),
        recallKey: () => (lookUps === 0 ? null : { agentId: 7, keyId: 1 }),
        ...options,
      });
      await app.call();
      return { app, lookUps: () => lookUps };
    }

    test('begins a start without a look-up', async () => {
      const { app, lookUps } = await startWithEnded();
      expect((await app.call()).status).toBe(200);
      expect(lookUps()).toBe(1);
    });

    test('is looked up before a start is refused for its body or its rate', async () => {
      const { app, lookUps } = await startWithEnded({ bodyBytesMax: 1 });
      expect((await app.call()).status).toBe(401);
      const limited = await startWithEnded({ useCases: { admitStart: () => apiError('rate_limited') } });
      expect((await limited.app.call()).status).toBe(401);
      expect(lookUps()).toBe(2);
    });

    test('is looked up by every other route', async () => {
      const { app } = await startWithEnded();
      const answer = await fetch(`${app.url}/v1/balance`, { headers: { 'x-api-key': app.key } });
      expect(answer.status).toBe(401);
    });
  });

  test('a ledger that cannot answer is 503 with a wait, never 401', async () => {
    const blind = await start({ findKey: async () => 'unavailable' });
    const answer = await blind.call();
    expect(answer.status).toBe(503);
    expect((await errorOf(answer)).code).toBe('service_unavailable');
    expect(answer.headers.get('retry-after')).toBe('2');
  });

  test('the handler is told whose key it is', async () => {
    await edge.call();
    expect(edge.callers.at(-1)).toEqual({ agentId: 7, keyId: 1, agentStatus: 'active' });
  });
});

describe('paths', async () => {
  const edge = await start();
  const ask = (method: string, path: string) =>
    fetch(`${edge.url}${path}`, { method, headers: { 'x-api-key': edge.key } });

  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v1/'],
    ['GET', '/v1/embeddings'],
    ['POST', '/v1/chat/completions/'],
    ['POST', '/v1/Chat/completions'],
    ['POST', '/V1/chat/completions'],
    ['POST', '//v1/chat/completions'],
    ['POST', '/v1//chat/completions'],
    ['POST', '/v1/chat%2Fcompletions'],
    ['POST', '/v1/%63hat/completions'],
    ['POST', '/v1/chat/completions;a=b'],
    ['POST', '/v1/chat/completions%00'],
    ['POST', '/v1/chat/completions%ff'],
    ['GET', '/v1/chat/completions'],
    ['PUT', '/v1/chat/completions'],
    ['DELETE', '/v1/balance'],
    ['POST', '/v1/balance'],
    ['OPTIONS', '/v1/balance'],
    ['OPTIONS', '/v1/chat/completions'],
    ['PROPFIND', '/v1/balance'],
  ])('%s %s is not_found, with or without a key', async (method, path) => {
    for (const answer of [await ask(method, path), await fetch(`${edge.url}${path}`, { method })]) {
      expect(answer.status).toBe(404);
      const error = await errorOf(answer);
      expect(error).toMatchObject({ code: 'not_found', type: 'not_found_error', param: null });
    }
  });

  test.each(['/v1/messages/', '/v1/messages/count_tokens', '/v1/messages/batches'])(
    'below %s in the messages shape',
    async (path) => {
      const answer = await ask('POST', path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ type: 'error', error: { code: 'not_found' } });
      expect(answer.headers.get('request-id')).toMatch(/^\d+$/);
    },
  );

  test('a path that only starts like messages has the common shape', async () => {
    expect(await (await ask('POST', '/v1/messages2')).json()).toHaveProperty('error.param');
  });

  test('HEAD answers like GET, without a body', async () => {
    const answer = await ask('HEAD', '/v1/balance');
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('');
    expect((await ask('HEAD', '/v1/chat/completions')).status).toBe(404);
  });

  test('unknown query parameters are ignored: some clients add their own', async () => {
    const answer = await fetch(`${edge.url}/v1/chat/completions?beta=true&a=1&a=2`, {
      method: 'POST',
      headers: { 'x-api-key': edge.key },
      body: smallBody,
    });
    expect(answer.status).toBe(200);
  });
});

describe('the order of refusals', () => {
  test('the key comes before the body, and a broke agent is refused between the two', async () => {
    const refused: string[] = [];
    const edge = await start({
      bodyBytesMax: 10,
      useCases: {
        admitStart(caller) {
          refused.push(`key ${caller.keyId}`);
          return caller.keyId === 2 ? apiError('rate_limited', { retryAfterMs: 700 }) : null;
        },
      },
    });
    const tooLarge = 'x'.repeat(11);
    expect((await edge.call(tooLarge, { authorization: 'Bearer no' })).status).toBe(401);
    expect(refused).toEqual([]);
    const broke = await edge.call(tooLarge, { authorization: `Bearer ${edge.otherKey}` });
    expect(broke.status).toBe(429);
    expect(broke.headers.get('retry-after-ms')).toBe('700');
    expect((await edge.call(tooLarge)).status).toBe(413);
    expect(refused).toEqual(['key 2', 'key 1']);
    expect(edge.bodies).toEqual([]);
  });

  test('reading the balance starts nothing, so the bucket of refused starts does not matter', async () => {
    const edge = await start({ useCases: { admitStart: () => apiError('rate_limited') } });
    const answer = await fetch(`${edge.url}/v1/balance`, { headers: { 'x-api-key': edge.key } });
    expect(answer.status).toBe(200);
  });
});

describe('bodies', async () => {
  const edge = await start({ bodyBytesMax: 1024 * 1024 });

  test('reach the handler byte for byte, whatever they hold', async () => {
    for (const body of [
      Buffer.from(smallBody),
      Buffer.alloc(0),
      Buffer.from([0xff, 0x00, 0xfe]),
      Buffer.alloc(900_000, 7),
    ]) {
      const answer = await edge.call(body, { 'content-type': 'text/plain' });
      expect(answer.status).toBe(200);
      expect(edge.bodies.at(-1)?.equals(body)).toBe(true);
    }
  });

  test.each([
    ['gzip', 'The body is not what its Content-Encoding says: gzip, deflate, br or zstd.'],
    ['br', 'The body is not what its Content-Encoding says: gzip, deflate, br or zstd.'],
    ['deflate, gzip', 'send it as gzip, deflate, br or zstd, or without Content-Encoding.'],
    ['x-unknown', 'send it as gzip, deflate, br or zstd, or without Content-Encoding.'],
  ])('said to be in %s that are plain are refused with what to do', async (encoding, words) => {
    const answer = await edge.call(smallBody, { 'content-encoding': encoding });
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(words),
    });
  });

  test('with the content-encoding identity are read', async () => {
    expect((await edge.call(smallBody, { 'content-encoding': 'identity' })).status).toBe(200);
  });
});

describe('the document', async () => {
  const edge = await start();

  test('is served with an etag and can be cached', async () => {
    const answer = await fetch(`${edge.url}/openapi.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.text()).toBe(documentText);
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const again = (value: string) =>
      fetch(`${edge.url}/openapi.json`, { headers: { 'if-none-match': value, 'cache-control': 'no-store' } });
    expect((await again(`"other", W/${etag}`)).status).toBe(304);
    expect((await again('"other"')).status).toBe(200);
  });
});
