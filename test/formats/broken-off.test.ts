import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, PROVIDER_KINDS, type ProviderKind } from './format-gateway.ts';
import { askedIn, FORMATS, post, requestIn } from './requests.ts';
import { namedEvent, wires } from './wires.ts';

/* Providers that tell no cost and break off: what a caller pays is estimated from what was written until then. */

let provider: RawProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({
    yaml: formatYaml(provider.baseUrl, 'stops_billing', {
      all: 'openai',
      more: 'limits: { callsPerMinute: 60000, burst: 60000 }',
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

const PROMPT_NANO_USD = 123n;
const ANSWER_NANO_USD = 457n;
const TEXT = 'four byte tokens of a text here ';
const TEXT_TOKENS = 8n;
/** Of the small request, by the estimate of its bytes or by the counts that came first. */
const PROMPT_TOKENS_MAX = 40n;

/** Some servers say at times that they are still there. */
const pingIn = (format: FormatName): string => (format === 'messages' ? namedEvent('ping', {}) : '');

async function brokenOff(kind: ProviderKind, format: FormatName, written: string): Promise<BrokenOff> {
  gateway.running.deps.gateway.health.end = () => undefined;
  provider.answers = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(written, () => res.destroy());
  };
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const res = await post(gateway, { kind, format, stream: true, agent });
  const shown = (await res.text()).split(TEXT).length - 1;
  return { shown, chargedNanoUsd: (await gateway.settled(agent)).chargedNanoUsd };
}

interface BrokenOff {
  /** Of the texts; the connection may break before all have come. */
  shown: number;
  chargedNanoUsd: bigint;
}

describe.each(FORMATS)('%s: a stream that breaks off', (format) => {
  describe.each(PROVIDER_KINDS)('of a provider that speaks %s', (kind) => {
    it.each([1, 8, 20])(
      'after %i texts pays these texts, and nothing for what stands around them',
      async (count) => {
        const asked = askedIn(kind, format);
        const wire = wires[asked];
        const texts = Array.from({ length: count }, () => wire.text(TEXT)).join('');
        const written = wire.start() + pingIn(asked) + wire.textStart + texts;
        const { shown, chargedNanoUsd } = await brokenOff(kind, format, written);
        expect(shown).toBeGreaterThan(0);
        const tokens = BigInt(shown) * TEXT_TOKENS;
        expect(chargedNanoUsd).toBeLessThanOrEqual(
          PROMPT_TOKENS_MAX * PROMPT_NANO_USD + (tokens + tokens / 8n + 2n) * ANSWER_NANO_USD,
        );
        // Of a few that are alike nobody can tell the frame from the text.
        if (asked !== format) expect(chargedNanoUsd).toBeGreaterThanOrEqual(tokens * ANSWER_NANO_USD);
        else expect(chargedNanoUsd).toBeGreaterThanOrEqual((BigInt(shown) * ANSWER_NANO_USD) / 4n);
      },
    );
  });
});

it('a stream that breaks off in thought which is not shown pays it as if it were', async () => {
  const wire = wires.messages;
  const thought = Array.from({ length: 20 }, () =>
    namedEvent('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: TEXT } }),
  ).join('');
  const begin = namedEvent('content_block_start', {
    index: 0,
    content_block: { type: 'thinking', thinking: '' },
  });
  provider.answers = (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write(wire.start() + begin + thought, () => res.destroy());
  };
  const charged = async (exclude: boolean): Promise<bigint> => {
    const agent = await gateway.newAgent({ creditUsd: '1' });
    const asked = { stream: true, reasoning: { effort: 'low', exclude } };
    const body = requestIn('chat', modelOf['messages only'], asked);
    const res = await gateway.post(body, { path: '/chat/completions', agent });
    expect(await res.text()).not.toMatch(exclude ? TEXT : /^$/);
    return (await gateway.settled(agent)).chargedNanoUsd;
  };
  const hidden = await charged(true);
  expect(hidden).toBe(await charged(false));
  expect(hidden).toBeGreaterThan(20n * TEXT_TOKENS * ANSWER_NANO_USD);
});
