import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { errorStatus } from '../../api/contract/error-body.ts';
import { errorTable } from '../../api/contract/errors.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import { eventsIn, FORMATS, requestIn } from '../formats/requests.ts';
import { pathOf } from '../support/path-of.ts';
import { plainHealth } from '../support/plain-health.ts';
import { sse } from '../support/wire-provider.ts';
import { type DialectGateway, modelOf, startDialectGateway } from './dialect-gateway.ts';
import { wireExamples } from './wire-answers.ts';
import { streamErrors, wireErrors } from './wire-errors.ts';

let fixture: DialectGateway;
beforeAll(async () => {
  fixture = await startDialectGateway();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => {
  // What one test made fail must not rest in the next.
  fixture.gateway.running.deps.gateway.health = plainHealth();
});

async function call(format: FormatName, model: string, stream: boolean) {
  const { gateway } = fixture;
  const agent = await gateway.newAgent();
  const res = await gateway.post(requestIn(format, model, { stream }), { path: pathOf(format), agent });
  return { res, text: await res.text(), agent };
}

/** Of any vendor, of our account there, of our keys. */
const OURS =
  /openai|anthropic|google|groq|together|fireworks|deepseek|vllm|sglang|ollama|cloudflare|sk-|org[-_]|req_|job_id|123456789012|https?:/i;

describe.each(FORMATS)('by %s', (format) => {
  describe.each(wireErrors)(
    '$dialect refuses with $what',
    ({ dialect, status, headers, body, ...expected }) => {
      it.each([true, false])(
        'and the caller learns what concerns it, for nothing (stream: %s)',
        async (stream) => {
          fixture.wire.answer({ status, headers: { 'content-type': 'application/json', ...headers }, body });
          const { res, text, agent } = await call(format, modelOf(dialect), stream);
          const { error } = JSON.parse(text);
          expect(error.code).toBe(expected.code);
          expect(res.status).toBe(errorStatus(expected.code, shapeOfPath(pathOf(format))));
          expect([401, 402]).not.toContain(res.status);
          if (expected.told === undefined) expect(error.message).toBe(errorTable[expected.code].message);
          else expect(error.message).toContain(expected.told);
          expect(text).not.toMatch(OURS);
          if (expected.waitMs !== undefined)
            expect(res.headers.get('retry-after-ms')).toBe(String(expected.waitMs));
          const { chargedNanoUsd, holds } = await fixture.gateway.settled(agent);
          expect({ chargedNanoUsd, holds }).toEqual({ chargedNanoUsd: 0n, holds: [] });
        },
      );
    },
  );

  it.each(streamErrors)(
    '$dialect ends a stream with $what, and what was written is charged',
    async (each) => {
      const { dialect, body, code } = each;
      const example = wireExamples.find(
        (known) => known.dialect === dialect && known.what !== 'counts in every chunk',
      );
      const begun = String(example?.stream.body ?? '')
        .split('\n\n')
        .slice(0, dialect === 'anthropic' ? 3 : 4);
      const failed = dialect === 'anthropic' ? `event: error\ndata: ${body}` : `data: ${body}`;
      fixture.wire.answer({ ...sse(), body: [...begun, failed, ''].join('\n\n') });
      const { res, text, agent } = await call(format, modelOf(dialect), true);
      expect(res.status).toBe(200);
      // A response that failed has one more event behind its error.
      const told = eventsIn(text).findLast(({ error }) => error !== undefined);
      expect(told).toMatchObject({ error: { code, message: errorTable[code].message } });
      expect((await fixture.gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(0n);
    },
  );
});
