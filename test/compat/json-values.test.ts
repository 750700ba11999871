import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { MODEL_KINDS, modelIdOf, startCompatGateway } from './compat-gateway.ts';
import { isSameValue, passValue } from './json-values.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startCompatGateway();
});
afterAll(() => gateway?.stop());

/** Values that readers of JSON are known to change. */
const VALID = [
  ...[
    '0',
    '-0',
    '-0.0',
    '1.0',
    '1E400',
    '1e-7',
    '1E+2',
    '123e65',
    '-1e-400',
    '100000000000000000000',
    '-9223372036854775809',
  ],
  ...['0.1000000000000000055511151231257827', '1.7976931348623157e309', '4.9e-325', '20e1', '1.5e+9999'],
  ...[
    '""',
    '"\\u0000"',
    '"\\u0061"',
    '"\\/"',
    '"\\uD801\\udc37"',
    '"\\uD800"',
    '"\\uDC00\\uD800"',
    '"\u2028\u2029"',
    '"\u007f"',
    '"\\u200b"',
  ],
  ...['"é"', '"é"', '"\u{10ffff}"', '"😀"', '"null"', '"\\b\\f\\n\\r\\t\\"\\\\"', '"asd "', '" "'],
  ...[
    'null',
    'true',
    'false',
    '[]',
    '{}',
    '[[]]',
    '[null,1,"1",{}]',
    '{"":0}',
    '{"a":{"":[]}}',
    '{"__proto__":{"a":1}}',
    '{"constructor":null}',
  ],
  ...['{"title":"\\u041f\\u043e"}', '{"b":1,"a":2}', '{"\\u0000":1}', '[1,[2,[3,[4,[5]]]]]'],
];

const INVALID = [
  ...[
    '',
    ',',
    '01',
    '-',
    '+1',
    '.5',
    '1.',
    '1e',
    '1e+',
    '0x1',
    '1_000',
    'Infinity',
    'NaN',
    '-Infinity',
    '１',
  ],
  ...['"', '"\\x"', '"\\u12"', '"\\uD8', "'a'", '"\n"', '"\t"', '"\u0000"', 'a', 'nul', 'True', 'undefined'],
  ...[
    '[',
    ']',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1:2]',
    '[1,,2]',
    '[1}',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{1:1}',
    "{'a':1}",
  ],
  ...[
    '{"a" 1}',
    '{"a":1 "b":2}',
    '{"a":1]',
    '{"a":1}}',
    '[1]]',
    '[1]/*c*/',
    '[1]//c',
    '1#',
    '\u00a01',
    '\u20601',
    '\ufeff1',
  ],
];

describe.each(MODEL_KINDS)('a value in a body for a %s model', (kind) => {
  const pass = (text: string) =>
    passValue((body) => gateway.post(body), gateway.provider, modelIdOf(kind), text);

  it.each(VALID)('reaches the provider with every digit and letter: %j', async (text) => {
    const { status, sent } = await pass(text);
    const isSame = kind === 'messages-only' ? isSameValue(sent, text) : sent === text;
    expect([status, isSame ? text : sent]).toEqual([200, text]);
  });

  it.each(INVALID)('is refused where it is no JSON: %j', async (text) => {
    expect(await pass(text)).toEqual({ status: 400, sent: null });
  });
});
