import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAttoUsd } from '#core/money.ts';
import { readJsonObject } from '../../api/inference/json/json-object.ts';
import { priceCall } from '../../api/inference/price/call-cost.ts';
import {
  chatCounts,
  messagesCounts,
  noTokens,
  readUsage,
  usageOfAnswer,
} from '../../api/inference/price/usage.ts';
import { atto, prices } from './support.ts';

const usage = (text: string) => readUsage(Buffer.from(text), chatCounts)?.usage ?? null;
const counters = '"prompt_tokens":10,"completion_tokens":5';
const cost = (text: string): string | null | undefined => {
  const read = usage(`{${counters},"cost":${text}}`);
  if (read === null) return undefined;
  return read.reportedAttoUsd === null ? null : formatAttoUsd(read.reportedAttoUsd);
};

describe('what a provider that speaks messages counted', () => {
  const counted = (text: string) => readUsage(Buffer.from(text), messagesCounts)?.usage ?? null;

  it('has the cache beside the prompt, and tells what was written for an hour', () => {
    const cache = '"cache_read_input_tokens":5,"cache_creation_input_tokens":7';
    const hour = '"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":4}';
    expect(counted(`{"input_tokens":10,"output_tokens":2,${cache},${hour}}`)).toEqual({
      tokens: { prompt: 22, completion: 2, reasoning: null, cached: 5, cacheWritten: 7 },
      cacheWritten1h: 4,
      webSearches: 0,
      reportedAttoUsd: null,
    });
  });

  it('is priced each at its own price', () => {
    const table = prices({
      prompt: atto('0.000003'),
      completion: atto('0.000015'),
      cacheRead: atto('0.0000003'),
      cacheWrite: atto('0.00000375'),
      cacheWrite1h: atto('0.000006'),
    });
    const tokens = { prompt: 22, completion: 2, reasoning: null, cached: 5, cacheWritten: 7 };
    const nano = 10 * 3_000 + 2 * 15_000 + 5 * 300 + 3 * 3_750 + 4 * 6_000;
    expect(priceCall(tokens, table, 0, { cacheWritten1h: 4, webSearches: 0 })).toBe(BigInt(nano));
  });

  it.each([
    '{}',
    '{"input_tokens":1}',
    '{"input_tokens":-1,"output_tokens":2}',
    '{"input_tokens":null,"output_tokens":2}',
  ])('counts as missing where it is no sane number: %s', (text) => {
    expect(counted(text)).toBeNull();
  });
});

describe('what a provider says a call cost', () => {
  it.each([
    ['0', '0'],
    ['0.0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['0e9', '0'],
    ['0.136002', '0.136002'],
    ['1e-7', '0.0000001'],
    ['1E-9', '0.000000001'],
    ['1e-12', '0.000000000001'],
    ['1.5e+2', '150'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['0.00012345678901234567890123', '0.000123456789012346'],
    ['9000000', '9000000'],
  ])('is read from its text: %s', (text, expected) => {
    expect(cost(text)).toBe(expected);
  });

  it('keeps eighteen decimals of any text, where a float would not', () => {
    const digits = fc.tuple(fc.nat({ max: 999 }), fc.stringMatching(/^[0-9]{1,18}$/));
    fc.assert(
      fc.property(digits, ([whole, fraction]) => {
        const exact = `${whole}.${fraction}`.replace(/\.?0*$/, '');
        expect(cost(`${whole}.${fraction}`)).toBe(exact === '' ? '0' : exact);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '-1',
    '-0.5',
    '-1e-9',
    '1e30',
    '1e400',
    '9000000.000000001',
    'null',
    '"0.1"',
    'true',
    '{}',
    '[0.1]',
    '1e-99',
  ])('is no price, so the next rung of the ladder is asked: %s', (text) => {
    expect(cost(text)).toBeNull();
  });

  it('is one number, even where it stands twice', () => {
    expect(usage(`{${counters},"cost":0.1,"cost":0.2}`)?.reportedAttoUsd).toBe(atto('0.1'));
  });

  it.each([
    // The router's fee alone: what the operator pays at the vendor is not said.
    ['0.05', null],
    ['0.05,"cost_details":null', null],
    ['0.05,"cost_details":{}', null],
    ['0.05,"cost_details":{"upstream_inference_cost":null}', null],
    ['0.05,"cost_details":{"upstream_inference_cost":0}', '0.05'],
    ['0.05,"cost_details":{"upstream_inference_cost":0.100000000000000001}', '0.150000000000000001'],
    ['0.05,"cost_details":{"upstream_inference_cost":-1}', null],
    ['0.05,"cost_details":{"upstream_inference_cost":"1"}', null],
    ['null,"cost_details":{"upstream_inference_cost":1}', null],
  ])('holds the upstream’s own bill, where the operator brings the key: %s', (text, expected) => {
    expect(cost(`${text},"is_byok":true`)).toBe(expected);
    expect(cost(`${text},"is_byok":false`)).toBe(text.startsWith('null') ? null : '0.05');
  });
});

describe('the tokens that a provider counts', () => {
  it.each<[string, string, number[]]>([
    ['the plain ones', '"prompt_tokens":10,"completion_tokens":5', [10, 5, 0]],
    ['zeros', '"prompt_tokens":0,"completion_tokens":0', [0, 0, 0]],
    [
      'cached ones',
      '"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}',
      [10, 5, 4],
    ],
    [
      'more cached than read',
      '"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":99}',
      [10, 5, 10],
    ],
    [
      'cached below nothing',
      '"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":-1}',
      [10, 5, 0],
    ],
    ['details of null', '"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null', [10, 5, 0]],
    ['a total that fits', '"prompt_tokens":10,"completion_tokens":5,"total_tokens":15', [10, 5, 0]],
    [
      'thinking only in the total',
      '"prompt_tokens":19693,"completion_tokens":7,"total_tokens":20309',
      [19693, 616, 0],
    ],
    ['a total that is too small', '"prompt_tokens":10,"completion_tokens":5,"total_tokens":3', [10, 5, 0]],
    ['a total that is no number', '"prompt_tokens":10,"completion_tokens":5,"total_tokens":"9x"', [10, 5, 0]],
    ['digits as a text', '"prompt_tokens":"10","completion_tokens":"5","total_tokens":"18"', [10, 8, 0]],
    ['digits of another kind', '"prompt_tokens":1e1,"completion_tokens":5.0', [10, 5, 0]],
  ])('%s', (_what, text, [prompt, completion, cached]) => {
    expect(usage(`{${text}}`)?.tokens).toEqual({ prompt, completion, cached, reasoning: null });
  });

  it('reasoning is told apart and not counted twice', () => {
    const read = usage(`{${counters},"completion_tokens_details":{"reasoning_tokens":3}}`);
    expect(read?.tokens).toEqual({ prompt: 10, completion: 5, reasoning: 3, cached: 0 });
  });

  it.each([
    '-1',
    '1.5',
    '1e30',
    '1e9999',
    '"-1"',
    '"1.5"',
    '""',
    '"12345678901"',
    'null',
    'true',
    '{}',
    '1000000001',
  ])('none that is no sane number counts as zero: %s', (text) => {
    expect(usage(`{"prompt_tokens":${text},"completion_tokens":5}`)).toBeNull();
    expect(usage(`{"prompt_tokens":5,"completion_tokens":${text}}`)).toBeNull();
    const priced = usage(`{"prompt_tokens":${text},"completion_tokens":5,"cost":0.1}`);
    expect(priced).toEqual({
      tokens: noTokens,
      cacheWritten1h: 0,
      webSearches: 0,
      reportedAttoUsd: atto('0.1'),
    });
  });

  it.each([
    '',
    'null',
    '5',
    '"x"',
    '[]',
    '{',
    '{}',
    '{"cost":null}',
    '{"prompt_tokens":10}',
    'x'.repeat(100),
  ])('nothing is read from %j', (text) => {
    expect(usage(text)).toBeNull();
  });

  it('no bytes make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        readUsage(Buffer.from(bytes), chatCounts);
        readUsage(Buffer.concat([Buffer.from('{"cost":'), Buffer.from(bytes), Buffer.from('}')]), chatCounts);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('tokens × prices', () => {
  const tokens = (prompt: number, completion: number, cached = 0) => ({
    prompt,
    completion,
    cached,
    reasoning: null,
  });
  const over = {
    minPromptTokens: 100,
    prompt: 5n,
    completion: null,
    cacheRead: null,
    cacheWrite: null,
    cacheWrite1h: null,
  };
  const NANO = 1_000_000_000n;

  it('are summed exactly and rounded up once', () => {
    const table = prices({ prompt: 1n, completion: 1n, request: 1n });
    expect(priceCall(tokens(1, 1), table, 0)).toBe(1n);
    expect(priceCall(tokens(0, 0), prices(), 0)).toBe(0n);
    expect(priceCall(tokens(3, 7), prices({ prompt: NANO / 3n, completion: NANO / 7n }), 0)).toBe(2n);
  });

  it('count a cached token by its own price, or by the plain one', () => {
    const table = prices({ prompt: 10n * NANO, completion: 0n });
    expect(priceCall(tokens(10, 0, 4), table, 0)).toBe(100n);
    expect(priceCall(tokens(10, 0, 4), { ...table, cacheRead: NANO }, 0)).toBe(64n);
    expect(priceCall(tokens(10, 0, 10), { ...table, cacheRead: 0n }, 0)).toBe(0n);
  });

  it('count a token written to the cache, and one of thinking, by its own price, or by the plain one', () => {
    const table = prices({ prompt: NANO, completion: 2n * NANO });
    const used = { ...tokens(10, 6, 4), cacheWritten: 3, reasoning: 5 };
    expect(priceCall(used, table, 0)).toBe(22n);
    expect(priceCall(used, { ...table, cacheWrite: 9n * NANO, internalReasoning: 7n * NANO }, 0)).toBe(71n);
  });

  it('count each image of the prompt', () => {
    const table = prices({ prompt: NANO, completion: NANO, image: 100n * NANO });
    expect(priceCall(tokens(1, 1), table, 3)).toBe(302n);
    expect(priceCall(tokens(1, 1), { ...table, image: null }, 3)).toBe(2n);
  });

  it('reprice the whole call above a threshold, and only above it', () => {
    const table = prices({ prompt: NANO, completion: NANO, overrides: [{ ...over, prompt: 5n * NANO }] });
    expect(priceCall(tokens(100, 1), table, 0)).toBe(101n);
    expect(priceCall(tokens(101, 1), table, 0)).toBe(506n);
  });

  it('take of several overrides the last that holds, per price', () => {
    const table = prices({
      prompt: NANO,
      completion: NANO,
      overrides: [
        { ...over, minPromptTokens: 10, prompt: 2n * NANO, completion: 3n * NANO },
        { ...over, minPromptTokens: 20, prompt: 4n * NANO, cacheRead: NANO },
      ],
    });
    expect(priceCall(tokens(11, 1), table, 0)).toBe(25n);
    expect(priceCall(tokens(21, 1, 1), table, 0)).toBe(84n);
  });

  it('leave out prices under conditions that nobody can know', () => {
    const table = prices({
      prompt: NANO,
      completion: 0n,
      overrides: [{ ...over, minPromptTokens: null, prompt: 9n * NANO }],
    });
    expect(priceCall(tokens(1_000, 0), table, 0)).toBe(1_000n);
  });
});

describe('the usage of a whole answer', () => {
  const ofAnswer = (text: string) => {
    const read = readJsonObject(Buffer.from(text));
    if (typeof read === 'string') throw new Error(read);
    return usageOfAnswer(read.object, chatCounts);
  };
  const first = '{"prompt_tokens":3,"completion_tokens":2,"cost":0.5}';
  const other = '{"prompt_tokens":9,"completion_tokens":9,"cost":9}';

  it('is what it is alone', () => {
    expect(ofAnswer(`{"id":"a","usage":${first}}`)).toEqual(readUsage(Buffer.from(first), chatCounts));
  });

  it('is the first one where it stands twice, whatever a parser would show', () => {
    expect(ofAnswer(`{"usage":${first},"usage":${other}}`)?.usage).toEqual(
      readUsage(Buffer.from(first), chatCounts)?.usage,
    );
  });

  it.each(['{"id":"a"}', '{"usage":null}', '{"usage":[]}', '{"usage":5}'])('is none in %s', (text) => {
    expect(ofAnswer(text)).toBeNull();
  });
});
