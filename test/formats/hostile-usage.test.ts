import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { formatUsd } from '#core/money.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { type TestGateway, until, usd } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { pathOf } from '../support/path-of.ts';
import { PROVIDER_KINDS, startFormatGateway } from './format-gateway.ts';
import { askedIn, eventsIn, FORMATS, post, ruleFor } from './requests.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startFormatGateway();
});
afterAll(() => gateway.stop());
afterEach(() => gateway.provider.reset());

/** The same record in the words of each format. */
const counted = (format: FormatName, prompt: string, completion: string, more = ''): string => {
  const [read, written] =
    format === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
  return `{"${read}":${prompt},"${written}":${completion}${more}}`;
};

const HUGE = '9'.repeat(400);
const odd: [string, (format: FormatName) => string][] = [
  ['counts below zero', (format) => counted(format, '-5', '-7')],
  ['counts in fractions', (format) => counted(format, '5.5', '7.25')],
  ['a count of 1e308', (format) => counted(format, '1e308', '7')],
  ['a count of 2^63', (format) => counted(format, '9223372036854775808', '7')],
  ['a count beyond all numbers', (format) => counted(format, '1e999', '7')],
  ['counts in quotes', (format) => counted(format, '"5"', '"7"')],
  ['null for its counts', (format) => counted(format, 'null', 'null')],
  ['lists for its counts', (format) => counted(format, '[5]', '{}')],
  ['a total below its parts', (format) => counted(format, '5', '7', ',"total_tokens":-1')],
  ['a cost below zero', (format) => counted(format, '5', '7', ',"cost":-0.5')],
  ['a cost of 1e308', (format) => counted(format, '5', '7', ',"cost":1e308')],
  ['a cost with an exponent', (format) => counted(format, '5', '7', ',"cost":2.5E-6')],
  ['a cost of 400 digits', (format) => counted(format, '5', '7', `,"cost":${HUGE}`)],
  [
    'a cost of 400 digits behind its point',
    (format) => counted(format, '5', '7', `,"cost":0.${'0'.repeat(399)}1`),
  ],
  ['a cost with an exponent of 400 digits', (format) => counted(format, '5', '7', `,"cost":1e-${HUGE}`)],
  ['a cost in quotes', (format) => counted(format, '5', '7', ',"cost":"NaN"')],
  ['null for its cost', (format) => counted(format, '5', '7', ',"cost":null')],
  ['two costs', (format) => counted(format, '5', '7', ',"cost":0,"cost":0.5')],
  [
    'more read from a cache than there was',
    (format) =>
      counted(
        format,
        '5',
        '7',
        ',"prompt_tokens_details":{"cached_tokens":500},"cache_read_input_tokens":-3',
      ),
  ],
  [
    'keys of every object',
    (format) => counted(format, '5', '7', ',"__proto__":{"cost":5},"constructor":{"cost":5}'),
  ],
  ['nothing', () => '{}'],
  ['null', () => 'null'],
  ['a list', () => '[1,2]'],
  ['a text', () => '"free"'],
];

/** The last that was shown; `null`: none. */
function shownCost(text: string, stream: boolean): number | null {
  const bodies = stream ? eventsIn(text) : [JSON.parse(text)];
  const costs = bodies.flatMap(({ usage, response }) => {
    const cost = Reflect.get(Object(usage ?? Reflect.get(Object(response), 'usage')), 'cost');
    return typeof cost === 'number' ? [cost] : [];
  });
  expect(costs.length).toBeLessThanOrEqual(1);
  return costs[0] ?? null;
}

describe.each(FORMATS)('by %s', (format) => {
  describe.each(PROVIDER_KINDS)('from a provider that speaks %s', (kind) => {
    it.each(odd.flatMap(([name, usageText]) => [false, true].map((stream) => ({ name, usageText, stream }))))(
      'usage of $name (stream: $stream) charges what is shown, and never above the hold',
      async ({ usageText, stream }) => {
        const agent = await gateway.newAgent();
        gateway.provider.next(
          ruleFor(kind, format, {
            chunks: 5,
            usageText: usageText(askedIn(kind, format)),
            billUsd: '0.00000123',
          }),
        );
        const res = await post(gateway, { kind, format, stream, agent });
        const text = await res.text();
        expect(res.status).toBe(200);
        expect(text).not.toMatch(/"(is_byok|cost_details)"/);
        const { chargedNanoUsd } = await gateway.settled(agent);
        const shown = shownCost(text, stream);
        if (shown !== null) expect(formatUsd(chargedNanoUsd)).toBe(formatUsd(usd(shown.toFixed(9))));
        expect(chargedNanoUsd).toBeGreaterThanOrEqual(0n);
        expect(chargedNanoUsd).toBeLessThanOrEqual(usd(res.headers.get('x-hold-usd') ?? ''));
        const [call] = await gateway.calls(agent);
        for (const count of [call?.tokens.prompt, call?.tokens.completion]) {
          expect(count).toBeGreaterThanOrEqual(0);
          expect(count).toBeLessThanOrEqual(1_000_000_000);
        }
      },
    );
  });
});

describe.each(FORMATS)('by %s: a provider that sends nothing but comments', (format) => {
  it.each([
    [false, 13],
    [true, 30],
  ])('(stream: %s) is left after %i minutes, at no cost', async (stream, minutes) => {
    const clock = createFakeClock();
    await using slow = await startFormatGateway('stops_billing', {}, { clock });
    slow.provider.next({ path: pathOf(format), comments: 'forever', gapMs: 1, billUsd: '0' });
    const call = post(slow, { kind: 'all formats', format, stream });
    await until(() => slow.running.deps.gateway.openCalls.size === 1);
    await until(() => slow.provider.requests().some(({ path }) => path.endsWith(pathOf(format))));
    await passTime(slow, clock, minutes * MINUTE_MS - 5 * SECOND_MS);
    expect(slow.running.deps.gateway.openCalls.size).toBe(1);
    await passTime(slow, clock, 6 * SECOND_MS);
    const res = await call;
    // A stream has a head by then, so the error is an event in it.
    expect(res.status).toBe(stream ? 200 : 504);
    expect(await res.text()).toContain('"code":"upstream_timeout"');
    await until(async () => {
      await passTime(slow, clock, 10 * SECOND_MS);
      return (await slow.view()).holds.length === 0;
    });
    expect((await slow.view()).chargedNanoUsd).toBe(0n);
  });
});
