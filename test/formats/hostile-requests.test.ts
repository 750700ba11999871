import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { errorStatus, errorType } from '../../api/contract/error-body.ts';
import { type ErrorCode, errorTable } from '../../api/contract/errors.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import type { TestAgent, TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { modelOf, type ProviderKind, startFormatGateway } from './format-gateway.ts';
import { FORMATS, requestIn } from './requests.ts';

let gateway: TestGateway;
let agent: TestAgent;
beforeAll(async () => {
  const more = 'limits: { callsPerMinute: 60000, burst: 60000 }';
  gateway = await startFormatGateway('stops_billing', { more });
  agent = await gateway.newAgent();
});
afterAll(() => gateway.stop());

interface Heard {
  status: number;
  code: ErrorCode | null;
  param: string | null;
  message: string;
}

/** Whatever was sent: an answer, or an error of the format's shape; and nothing stays held, or is paid for no answer. */
async function send(format: FormatName, body: unknown): Promise<Heard> {
  const before = (await gateway.view(agent)).chargedNanoUsd;
  const res = await gateway.post(body, { agent, path: pathOf(format) });
  const text = await res.text();
  const { chargedNanoUsd } = await gateway.settled(agent);
  expect(gateway.running.deps.gateway.openCalls.size).toBe(0);
  expect(gateway.running.deps.gateway.capacity.heldNanoUsd).toBe(0n);
  expect(gateway.logged).toEqual([]);
  if (res.status === 200) return { status: 200, code: null, param: null, message: '' };
  expect(chargedNanoUsd).toBe(before);
  expect(res.headers.get('content-type')).toBe('application/json');
  const { error } = JSON.parse(text);
  const shape = shapeOfPath(pathOf(format));
  const code: ErrorCode = error.code;
  expect([res.status, error.type]).toEqual([errorStatus(code, shape), errorType(code, shape)]);
  expect(error.message.length).toBeLessThan(600);
  return { status: res.status, code, param: error.param ?? null, message: error.message };
}

const bodyText = (format: FormatName, members = '', model = '"acme/all"'): string => {
  const { model: _, ...rest } = JSON.parse(JSON.stringify(requestIn(format, '')));
  return `{"model":${model},${JSON.stringify(rest).slice(1, -1)}${members === '' ? '' : `,${members}`}}`;
};

const repeated = (text: string, count: number): string => Array(count).fill(text).join(',');
const CAP: Readonly<Record<FormatName, string>> = {
  chat: 'max_completion_tokens',
  responses: 'max_output_tokens',
  messages: 'max_tokens',
};
const FUNCTION: Readonly<Record<FormatName, (name: string) => object>> = {
  chat: (name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }),
  responses: (name) => ({ type: 'function', name, parameters: { type: 'object' } }),
  messages: (name) => ({ name, input_schema: { type: 'object' } }),
};

describe.each(FORMATS)('%s: a body', (format) => {
  const text = (members: string, model?: string) => bodyText(format, members, model);
  const withoutCap = (members: string) => text(members).replace('"max_tokens":200,', '');

  it.each<[string, string | Uint8Array, ErrorCode]>([
    ['is empty', '', 'invalid_request'],
    ['is no JSON', 'hello', 'invalid_request'],
    ['is half of a JSON text', text('').slice(0, -1), 'invalid_request'],
    ['is a list', '[]', 'invalid_request'],
    ['is null', 'null', 'invalid_request'],
    ['begins with a mark of the byte order', `\uFEFF${text('')}`, 'invalid_request'],
    [
      'is no UTF-8',
      Buffer.concat([Buffer.from(text('"x":"')), Buffer.from([0xff, 0x22, 0x7d])]),
      'invalid_request',
    ],
    ['holds a control character in a string', text('"x":"a\u0001b"'), 'invalid_request'],
    ['nests 100,000 deep', text(`"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`), 'invalid_request'],
    ['nests 100,000 deep and never ends', text(`"x":${'{"a":'.repeat(100_000)}`), 'invalid_request'],
    [
      'has 100,000 keys',
      text(`"x":{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(',')}}`),
      'invalid_request',
    ],
    ['has a million values', text(`"x":[${repeated('1', 1_000_000)}]`), 'invalid_request'],
    ['is larger than 4 MB', text(`"x":"${'y'.repeat(4 * 1024 * 1024)}"`), 'request_too_large'],
    ['says its model twice', text('"model":"acme/chat"'), 'invalid_request'],
    ['says its model twice, once in disguise', text('"mod\\u0065l":"acme/chat"'), 'invalid_request'],
    ['says its tools in disguise', text('"t\\u006fols":[{"type":"mcp"}]'), 'invalid_request'],
    ['caps its answer twice', withoutCap(`"${CAP[format]}":1,"${CAP[format]}":4000`), 'invalid_request'],
    ['says its cap in capitals', withoutCap(`"${CAP[format].toUpperCase()}":1`), 'invalid_request'],
    ['caps its answer at 1e999', withoutCap(`"${CAP[format]}":1e999`), 'invalid_request'],
    ['caps its answer at 2^53+1', withoutCap(`"${CAP[format]}":9007199254740993`), 'invalid_request'],
    ['caps its answer at -0', withoutCap(`"${CAP[format]}":-0`), 'invalid_request'],
    ['caps its answer at 0.5', withoutCap(`"${CAP[format]}":0.5`), 'invalid_request'],
    ['caps its answer in words', withoutCap(`"${CAP[format]}":"10"`), 'invalid_request'],
    [
      'caps its answer at a trillion digits',
      withoutCap(`"${CAP[format]}":1${'0'.repeat(100_000)}`),
      'invalid_request',
    ],
    ['has a temperature beyond all numbers', text('"temperature":1e999'), 'invalid_request'],
    ['streams by a word', text('"stream":"true"'), 'invalid_request'],
    ['names 1,000 fallbacks', text(`"models":[${repeated('"acme/all"', 1_000)}]`), 'invalid_request'],
    ['names 9 fallbacks', text(`"models":[${repeated('"acme/all"', 9)}]`), 'invalid_request'],
    ['names a fallback that nobody knows', text('"models":["acme/all","nobody/knows"]'), 'unknown_model'],
    ['names an empty fallback', text('"models":[""]'), 'invalid_request'],
    [
      'has 10,000 tools',
      text(`"tools":[${repeated(JSON.stringify(FUNCTION[format]('f')), 10_000)}]`),
      'invalid_request',
    ],
    ['has a tool that is none', text('"tools":[5]'), 'invalid_request'],
  ])('that %s is refused', async (_, body, code) => {
    const heard = await send(format, body);
    expect({ status: heard.status, code: heard.code }).toEqual({
      status: errorTable[code].status,
      code,
    });
  });

  it.each<[string, string]>([
    ['repeats a fallback', '"models":["acme/all","acme/chat","acme/all","acme/chat"]'],
    ['holds 2^53+1 and -0 where no number of ours stands', '"metadata":{"a":9007199254740993,"b":-0}'],
    ['has 256 tools', `"tools":[${repeated(JSON.stringify(FUNCTION[format]('f')), 256)}]`],
    [
      'has the keys of every object in a tool',
      `"tools":[${JSON.stringify(FUNCTION[format]('constructor'))}]`,
    ],
    ['nests 50 deep', `"metadata":${'{"a":'.repeat(50)}1${'}'.repeat(50)}`],
  ])('that %s is answered', async (_, members) => {
    expect(await send(format, text(members))).toMatchObject({ status: 200 });
  });

  it.each([
    '"__proto__":{"model":"acme/chat","max_tokens":1}',
    '"constructor":{"prototype":{"x":1}}',
    '"toString":1',
  ])('with the key %s changes no other object', async (members) => {
    const { status } = await send(format, text(members));
    expect([200, 400]).toContain(status);
    const plain: Record<string, unknown> = {};
    for (const name of ['x', 'model', 'max_tokens']) expect(plain[name]).toBeUndefined();
  });

  it.each<[string, string, ErrorCode]>([
    ['of 10 KB', JSON.stringify('x'.repeat(10_240)), 'invalid_request'],
    ['with lines of its own', JSON.stringify('acme/all\n\ndata: {"error":{}}\n\n'), 'unknown_model'],
    ['with a null character', '"acme/all\\u0000"', 'unknown_model'],
    ['with an escape of a terminal', '"acme/all\\u001b[31m"', 'unknown_model'],
    ['with two suffixes', '"acme/all:nitro:floor"', 'unknown_model'],
    ['with the same suffix twice', '"acme/all:nitro:nitro"', 'unknown_model'],
    ['with an empty suffix', '"acme/all:"', 'unknown_model'],
    ['in letters that look alike', '"\u0430cme/all"', 'unknown_model'],
    ['with half a character', '"acme/all\\ud800"', 'unknown_model'],
    ['with a mark that turns the direction', '"acme/all\u202e"', 'unknown_model'],
    ['that is a key of every object', '"__proto__"', 'unknown_model'],
    ['that is a function of every object', '"constructor"', 'unknown_model'],
    ['with a suffix of every object', '"acme/all:constructor"', 'unknown_model'],
    ['that is a path', '"../../acme/all"', 'unknown_model'],
    ['in capitals', '"ACME/ALL"', 'unknown_model'],
    ['that is empty', '""', 'invalid_request'],
    ['that is a list', '["acme/all"]', 'invalid_request'],
  ])('whose model is an id %s is refused, and shows no line of it', async (_, model, code) => {
    const heard = await send(format, text('', model));
    expect([heard.status, heard.code]).toEqual([400, code]);
    expect(heard.message.length).toBeLessThan(400);
  });

  it('whose model takes three suffixes and a stream is refused as JSON, not in events', async () => {
    const body = text('"stream":true', '"acme/all:nitro:floor:exacto"');
    expect(await send(format, body)).toMatchObject({ status: 400, code: 'unknown_model' });
  });

  if (format !== 'messages') {
    const nested = (depth: number, inner: object): object =>
      depth === 0
        ? inner
        : { type: 'namespace', name: 'n', description: 'd', tools: [nested(depth - 1, inner)] };

    it('with a tool of a provider nested five deep is refused by that tool’s name and place', async () => {
      const tools = [FUNCTION[format]('f'), nested(5, { type: 'code_interpreter' })];
      const { code, message, param } = await send(format, { ...requestIn(format, 'acme/all'), tools });
      expect([code, param]).toEqual(['tool_not_served', `tools[1]${'.tools[0]'.repeat(5)}`]);
      expect(message).toContain('`code_interpreter`');
    });

    it('with functions nested five deep is passed on', async () => {
      const tools = [nested(5, FUNCTION[format]('f'))];
      expect(await send(format, { ...requestIn(format, 'acme/all'), tools })).toMatchObject({ status: 200 });
    });
  }

  it('whose tool has a name of lines is told that name in one', async () => {
    const type = 'x\r\n\r\ndata: [DONE]\n\n';
    const { code, message } = await send(format, {
      ...requestIn(format, 'acme/all'),
      tools: [{ type, name: 'x' }],
    });
    expect(code).toBe('tool_not_served');
    expect(message.length).toBeLessThan(400);
  });
});

describe.each<[FormatName, ProviderKind, (json: string) => object]>([
  [
    'chat',
    'messages only',
    (json) => ({
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: json } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      ],
    }),
  ],
  [
    'responses',
    'messages only',
    (json) => ({
      input: [
        { role: 'user', content: 'Hello' },
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: json },
        { type: 'function_call_output', call_id: 'call_1', output: 'done' },
      ],
    }),
  ],
])('%s: arguments of an earlier call, for a provider that speaks %s', (format, kind, more) => {
  it.each([
    ['no JSON', '{"city": Paris'],
    ['a list', '[1]'],
    ['a number', '1e999'],
    ['empty', ''],
    ['100,000 closed levels deep', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['an object 100,000 levels deep', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['of keys of every object', '{"__proto__":{"x":1},"constructor":2}'],
  ])('that are %s are passed on in an object', async (_, json) => {
    const { code } = await send(format, requestIn(format, modelOf[kind], more(json)));
    // Some are too long for the model.
    expect([null, 'request_too_large']).toContain(code);
    const { messages } = JSON.parse(gateway.provider.lastRequest('/messages').body.toString());
    const { input } = messages[1].content[0];
    expect(typeof input === 'object' && input !== null && !Array.isArray(input)).toBe(true);
  });
});
