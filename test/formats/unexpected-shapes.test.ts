import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { officialAnswer } from '../recordings/accumulators.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, PROVIDER_KINDS, type ProviderKind } from './format-gateway.ts';
import { askedIn, FORMATS, requestIn } from './requests.ts';
import { namedEvent, wholeStream, wires } from './wires.ts';

/* Good answers in shapes that nobody asked for reach their caller whole, at the price of any other. */

let provider: RawProvider;
let gateway: TestGateway;
let agent: TestAgent;
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({
    yaml: formatYaml(provider.baseUrl, 'stops_billing', {
      all: 'openai',
      more: 'limits: { callsPerMinute: 60000, burst: 60000 }',
    }),
  });
});
beforeEach(async () => {
  agent = await gateway.newAgent({ creditUsd: '1.00' });
});
afterAll(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

/** The one that the last event of a stream of `wires` has. */
const TEXT = 'Hi';
/** 5 tokens in and 7 out, at the prices of the gateway's models. */
const CHARGED = 3_814n;

const ask = (kind: ProviderKind, format: FormatName, stream: boolean, more: object = {}): Promise<Response> =>
  gateway.post(requestIn(format, modelOf[kind], { ...(stream ? { stream } : {}), ...more }), {
    path: pathOf(format),
    agent,
  });

/** The answer as a client reads it: streamed events are put together. */
async function readAnswer(response: Response, format: FormatName, stream: boolean): Promise<string> {
  const body = await response.text();
  expect([response.status, body]).toEqual([200, expect.any(String)]);
  if (!stream) return body;
  const assembly = callFormats[format].openAssembly();
  for (const [, data = ''] of body.matchAll(/^data: (.*)$/gm)) assembly.read(Buffer.from(data), '');
  return assembly.answer()?.toString() ?? '';
}

const calls = PROVIDER_KINDS.flatMap((kind) =>
  FORMATS.flatMap((format) => [true, false].map((stream) => ({ kind, format, stream }))),
);

async function costsAsAlways(): Promise<void> {
  expect((await gateway.settled(agent)).chargedNanoUsd).toBe(CHARGED);
}

describe.each(calls)('$format of $kind, streamed: $stream', ({ kind, format, stream }) => {
  const asked = askedIn(kind, format);

  it('is read where the provider sends a whole answer', async () => {
    provider.answers = plays(wires[asked].json(TEXT), 'application/json');
    expect(await readAnswer(await ask(kind, format, stream), format, stream)).toContain(TEXT);
    await costsAsAlways();
  });

  it('is read where the provider sends a whole answer of megabytes', async () => {
    const long = 'word '.repeat(600_000);
    provider.answers = plays(wires[asked].json(long), 'application/json');
    const answer = await readAnswer(await ask(kind, format, stream), format, stream);
    expect(answer.length).toBeGreaterThan(long.length);
    expect(answer).toContain(long.trim());
    // No megabytes are 7 tokens, so the call pays for its text, as far as its hold reaches.
    expect((await gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(CHARGED);
  });

  it.each(['text/plain', 'application/json', 'application/octet-stream', 'binary'])(
    'is read where events come under the type %s',
    async (type) => {
      provider.answers = plays(wholeStream(wires[asked], TEXT), type);
      expect(await readAnswer(await ask(kind, format, stream), format, stream)).toContain(TEXT);
      await costsAsAlways();
    },
  );

  it.each(['application/x-ndjson', 'application/json', ''])(
    'is read where each line is an event, under the type "%s"',
    async (type) => {
      const events = wholeStream(wires[asked], TEXT);
      const lines = [...events.matchAll(/^data: (\{.*)$/gm)].map(([, line]) => `${line}\n`).join('');
      // In pieces, of which the first is a part of a line, and with a last line that does not end.
      for (const at of [1, 40, lines.indexOf('\n') + 1]) {
        provider.answers = (res) => {
          res.writeHead(200, type === '' ? {} : { 'content-type': type });
          res.write(lines.slice(0, at));
          setImmediate(() => res.end(lines.slice(at).replace(/\n$/, '').replaceAll('\n', '\r\n')));
        };
        agent = await gateway.newAgent({ creditUsd: '1.00' });
        expect(await readAnswer(await ask(kind, format, stream), format, stream)).toContain(TEXT);
        await costsAsAlways();
      }
    },
  );

  it('is free where the lines are those of another format', async () => {
    const line = JSON.stringify({ model: 'm', message: { role: 'assistant', content: TEXT }, done: false });
    provider.answers = plays(`${line}\n${line}\n`, 'application/x-ndjson');
    const response = await ask(kind, format, stream);
    expect([response.status, JSON.parse(await response.text()).error.code]).toEqual([502, 'provider_error']);
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('is read where it comes compressed in %s', async (encoding, compress) => {
    const headers = { 'content-encoding': encoding };
    provider.answers = plays(compress(wholeStream(wires[asked], TEXT)), 'text/event-stream', headers);
    expect(await readAnswer(await ask(kind, format, stream), format, stream)).toContain(TEXT);
    await costsAsAlways();
    provider.answers = plays(compress(wires[asked].json(TEXT)), 'application/json', headers);
    expect(await readAnswer(await ask(kind, format, false), format, false)).toContain(TEXT);
  });

  it('is free where what is compressed is broken', async () => {
    const broken = gzipSync(wholeStream(wires[asked], TEXT)).subarray(0, 20);
    provider.answers = plays(broken, 'text/event-stream', { 'content-encoding': 'gzip' });
    const response = await ask(kind, format, stream);
    expect(response.status).toBe(502);
    await response.text();
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });

  it.each(['gzip', 'deflate', 'br', 'zstd'])(
    'is free where it is no %s at all, and the connection is closed',
    async (encoding) => {
      const closed = Promise.withResolvers<void>();
      provider.answers = (res) => {
        res.once('close', () => closed.resolve());
        res.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding });
        res.write(Buffer.alloc(4_096, 0x55));
      };
      const response = await ask(kind, format, stream);
      expect([response.status, JSON.parse(await response.text()).error.code]).toEqual([
        502,
        'provider_error',
      ]);
      await closed.promise;
      expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
    },
  );

  it('is cut at the bound of an answer where few bytes expand to more', async () => {
    const closed = Promise.withResolvers<void>();
    const members = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x61));
    provider.answers = (res) => {
      res.once('close', () => closed.resolve());
      res.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      res.write(gzipSync('{"x":"'));
      res.write(members);
    };
    const response = await ask(kind, format, stream);
    expect([response.status, JSON.parse(await response.text()).error.code]).toEqual([502, 'provider_error']);
    await closed.promise;
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });
});

describe.each(calls.filter(({ kind, format }) => askedIn(kind, format) === 'chat'))(
  '$format of $kind, streamed: $stream, of a server that neither counts nor marks the end',
  ({ kind, format, stream }) => {
    const chunk = (content: string, finish_reason: string | null) =>
      `data: ${JSON.stringify({
        id: 'gen-chat-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content }, finish_reason }],
      })}\n\n`;

    it('is whole where it says why it ends', async () => {
      provider.answers = plays(chunk(TEXT, null) + chunk('', 'stop'));
      const answer = await readAnswer(await ask(kind, format, stream), format, stream);
      expect(answer).toContain(TEXT);
      expect(answer).not.toContain('provider_');
      expect((await gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(0n);
    });

    it.each([null, 'null'])('was cut where it says no reason: %j', async (reason) => {
      provider.answers = plays(chunk(TEXT, reason));
      const response = await ask(kind, format, stream);
      expect([response.status, await response.text()]).toEqual([
        stream ? 200 : 502,
        expect.stringContaining('provider_error'),
      ]);
      // A caller who waited for the whole was shown nothing.
      const { chargedNanoUsd } = await gateway.settled(agent);
      expect(chargedNanoUsd > 0n).toBe(stream);
    });
  },
);

describe.each(calls.filter(({ kind, format }) => askedIn(kind, format) !== 'chat'))(
  '$format of $kind, streamed: $stream, of a server that leaves out its beginning',
  ({ kind, format, stream }) => {
    it('is whole, under a name, at the price of any other', async () => {
      const wire = wires[askedIn(kind, format)];
      provider.answers = plays(wire.textStart + wire.text(TEXT) + wire.end());
      const body = await (await ask(kind, format, stream)).text();
      const answer = stream ? await officialAnswer(format, body) : JSON.parse(body);
      expect(JSON.stringify(answer)).toContain(TEXT);
      expect(answer).toMatchObject({ id: expect.stringMatching(/./), model: expect.stringMatching(/./) });
      await costsAsAlways();
    });

    it('is no answer where there is nothing but its end', async () => {
      provider.answers = plays('data: {"type":"ping"}\n\n');
      const response = await ask(kind, format, stream);
      expect(await response.text()).toContain('provider_error');
      expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
    });
  },
);

describe('a native answer of responses whose last event has no output', () => {
  const item = {
    type: 'message',
    id: 'msg',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: TEXT, annotations: [] }],
  };
  const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
  const frame = { id: 'resp_1', object: 'response', status: 'completed', usage };

  it.each([{ output: [] }, { output: null }, {}])('has what its items brought: %j', async (output) => {
    provider.answers = plays(
      wires.responses.start() +
        namedEvent('response.output_item.done', { output_index: 0, item }) +
        namedEvent('response.completed', { response: { ...frame, ...output } }),
    );
    const answer = JSON.parse(
      await readAnswer(await ask('all formats', 'responses', false), 'responses', false),
    );
    expect(answer).toMatchObject({ output: [item], output_text: TEXT });
    await costsAsAlways();
  });
});

describe('an answer of nothing, with status 200 and a number for what went wrong', () => {
  const failed = (number: number, choices: unknown) => ({
    id: 'gen-1',
    choices,
    created: 1,
    model: 'm',
    object: '',
    usage: { total_tokens: 0 },
    base_resp: { status_code: number, status_msg: 'said by the vendor' },
  });
  const asChunk = (answer: object): string => `data: ${JSON.stringify(answer)}\n\n`;

  // Numbers that close the provider for later calls are tried in `upstream-error.test.ts`.
  it.each([
    [1026, 'provider_refused'],
    [1039, 'request_too_large'],
    [2013, 'invalid_request'],
  ])('is the error of the number, and free: %i is %s', async (number, code) => {
    for (const choices of [null, []]) {
      for (const stream of [false, true]) {
        const { usage, ...uncounted } = failed(number, choices);
        for (const answer of [{ ...uncounted, usage }, uncounted]) {
          provider.answers = stream
            ? plays(asChunk(answer), 'text/event-stream')
            : plays(JSON.stringify(answer), 'application/json');
          const response = await ask('chat only', 'chat', stream);
          expect(await response.json(), JSON.stringify(answer)).toMatchObject({ error: { code } });
        }
      }
    }
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });

  it('is the error that its words tell where it is nothing else', async () => {
    const message = 'length of prompt_tokens (57535) must be less than max_seq_len (32768)';
    provider.answers = plays(JSON.stringify({ code: 20_015, message, data: null }), 'application/json');
    for (const stream of [false, true]) {
      const response = await ask('chat only', 'chat', stream);
      expect([response.status, JSON.parse(await response.text()).error.code]).toEqual([
        413,
        'request_too_large',
      ]);
    }
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });

  it('is none where the number says that all is well', async () => {
    const whole = { ...JSON.parse(wires.chat.json(TEXT)), base_resp: { status_code: 0, status_msg: '' } };
    provider.answers = plays(JSON.stringify(whole), 'application/json');
    expect(await readAnswer(await ask('chat only', 'chat', false), 'chat', false)).toContain(TEXT);
    await costsAsAlways();
  });
});

describe('fields that the provider is not sent', () => {
  it.each(PROVIDER_KINDS)('are named in a header of the answer of %s, streamed or not', async (kind) => {
    const isLeftOut = kind === 'messages only';
    for (const stream of [true, false]) {
      provider.answers = plays(wholeStream(wires[askedIn(kind, 'chat')], TEXT));
      const response = await ask(kind, 'chat', stream, { seed: 7, 'a, b': 1 });
      await response.text();
      expect(response.headers.get('x-ignored-fields')).toBe(isLeftOut ? 'seed, a%2C%20b' : null);
    }
  });

  it('are named in a header of an error, too', async () => {
    provider.answers = (res) => void res.writeHead(400, { 'content-type': 'application/json' }).end('{}');
    const response = await ask('messages only', 'chat', false, { seed: 7 });
    expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([400, 'seed']);
    await response.text();
  });
});

describe('a request that is compressed', () => {
  const send = (body: Buffer, encoding: string): Promise<Response> =>
    fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.key}`,
        'content-type': 'application/json',
        'content-encoding': encoding,
      },
      body,
    });
  const request = Buffer.from(JSON.stringify(requestIn('chat', modelOf['chat only'])));

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('in %s is read as the same one that is not', async (encoding, compress) => {
    provider.answers = plays(wholeStream(wires.chat, TEXT));
    const response = await send(compress(request), encoding);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(TEXT)]);
    await costsAsAlways();
  });

  it('is refused where it is broken, unknown, or larger than any body may be', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
    const refused = [
      [await send(request, 'gzip'), 400],
      [await send(request, 'compress'), 400],
      [await send(bomb, 'gzip'), 413],
    ] as const;
    for (const [response, status] of refused) {
      expect(response.status).toBe(status);
      expect(JSON.parse(await response.text())).toHaveProperty('error.message');
    }
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });
});

describe('a stream of responses that fails in its middle', () => {
  it.each(PROVIDER_KINDS)('of %s ends in response.failed, numbered on from what was shown', async (kind) => {
    const wire = wires[askedIn(kind, 'responses')];
    provider.answers = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(wire.start() + wire.textStart + wire.text(TEXT), () => res.destroy());
    };
    const text = await (await ask(kind, 'responses', true)).text();
    const events = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: expect.any(String), message: expect.any(String) } },
    });
    // Clients read the members that repeat the request without asking whether they are there.
    expect(events.at(-1)).toMatchObject({
      response: {
        tools: [],
        tool_choice: 'auto',
        text: { format: { type: 'text' } },
        reasoning: { effort: null },
        store: false,
      },
    });
    if (kind !== 'all formats')
      expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, index) => index));
  });
});

it('an image in a whole answer reaches a caller of events, although no part of it comes by itself', async () => {
  const url = `data:image/png;base64,${'A'.repeat(3 * 1024 * 1024)}`;
  const images = [{ type: 'image_url', image_url: { url } }];
  const whole = JSON.parse(wires.chat.json(TEXT));
  whole.choices[0].message.images = images;
  provider.answers = plays(JSON.stringify(whole), 'application/json');
  const answer = JSON.parse(await readAnswer(await ask('all formats', 'chat', true), 'chat', true));
  expect(answer.choices[0].message).toMatchObject({ content: TEXT, images });
  await costsAsAlways();
});

describe('a chat of a server that names no provider', () => {
  const chunksIn = (text: string): Record<string, unknown>[] =>
    [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data));

  it.each(PROVIDER_KINDS)(
    'has one in the first chunk, in that of the usage and in every whole answer of %s, errors included',
    async (kind) => {
      const wire = wires[askedIn(kind, 'chat')];
      const more = { stream_options: { include_usage: true } };
      provider.answers = plays(wholeStream(wire, 'Hi', ' there', '!'));
      const chunks = chunksIn(await (await ask(kind, 'chat', true, more)).text());
      expect(chunks.length).toBeGreaterThan(4);
      provider.answers = plays(wire.json(TEXT), 'application/json');
      const whole = JSON.parse(await (await ask(kind, 'chat', false)).text());
      provider.answers = (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(wire.start() + wire.textStart + wire.text(TEXT), () => res.destroy());
      };
      const failed = chunksIn(await (await ask(kind, 'chat', true, more)).text());
      expect(failed.at(-1)).toHaveProperty('error');
      for (const chunk of [chunks[0], chunks.at(-1), whole, failed[0]])
        expect(chunk).toHaveProperty('provider', 'faregate');
    },
  );

  it('keeps the name that a router gives', async () => {
    const named = wholeStream(wires.chat, TEXT).replaceAll('data: {', 'data: {"provider":"Acme",');
    provider.answers = plays(named);
    const chunks = chunksIn(await (await ask('all formats', 'chat', true)).text());
    for (const chunk of chunks) expect(chunk).toHaveProperty('provider', 'Acme');
  });
});
