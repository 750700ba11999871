import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { errorStatus, errorType } from '../../api/contract/error-body.ts';
import { type ErrorCode, errorTable } from '../../api/contract/errors.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import type { TestGateway } from '../support/gateway.ts';
import { chargedUsd } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { failing, freeFailures } from '../support/provider-failures.ts';
import { PROVIDER_KINDS, startFormatGateway } from './format-gateway.ts';
import { eventsIn, FORMATS, post, ruleFor } from './requests.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startFormatGateway();
});
afterAll(() => gateway.stop());
afterEach(() => gateway.provider.reset());

const isCode = (text: string): text is ErrorCode => text in errorTable;

function expectError(format: FormatName, body: Record<string, unknown>, code: string): void {
  if (!isCode(code)) throw new Error(`${code} is no code`);
  const shape = shapeOfPath(pathOf(format));
  const error = { type: errorType(code, shape), message: expect.any(String), code };
  expect(body).toEqual(
    shape === 'messages' ? { type: 'error', error } : { error: { ...error, param: null } },
  );
  expect(JSON.stringify(body)).not.toMatch(/SimCloud|openrouter|req_011sim/i);
}

/** The event that tells the error. One of responses has the response that failed behind it, for clients that wait for its end. */
function errorIn(text: string, format: FormatName): Record<string, unknown> {
  const events = eventsIn(text);
  if (format !== 'responses') return events.at(-1) ?? {};
  expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } });
  return events.at(-2) ?? {};
}

describe.each(FORMATS)('by %s', (format) => {
  describe.each(PROVIDER_KINDS)('when a provider that speaks %s', (kind) => {
    describe.each([false, true])('(stream: %s)', (stream) => {
      it.each(freeFailures)(
        '%s, the caller learns it by our code and pays nothing',
        async (_, rule, _status, code) => {
          if (rule.error?.at === 'choice') return;
          const agent = await gateway.newAgent();
          const free = { lookupMisses: 'always', billUsd: '0', usageFields: { cost: '0' } } as const;
          gateway.provider.next(ruleFor(kind, format, { ...rule, ...free }));
          const res = await post(gateway, { kind, format, stream, agent });
          const body = JSON.parse(await res.text());
          expectError(format, body, code);
          if (isCode(code)) expect(res.status).toBe(errorStatus(code, shapeOfPath(pathOf(format))));
          const { chargedNanoUsd, holds } = await gateway.view(agent);
          expect(chargedNanoUsd).toBe(0n);
          for (const hold of holds) expect(hold.pending).not.toBeNull();
        },
      );
    });

    it('fails in the middle of a stream, the error comes as an event and what was written is charged', async () => {
      const agent = await gateway.newAgent();
      const rule = {
        chunks: 30,
        ...failing(502, { at: 'stream', afterChunks: 12, type: 'provider_unavailable' }),
        status: 200,
      } as const;
      gateway.provider.next(ruleFor(kind, format, rule));
      const res = await post(gateway, { kind, format, stream: true, agent });
      expect(res.status).toBe(200);
      const text = await res.text();
      const last = errorIn(text, format);
      expect(last.error).toMatchObject({ code: 'provider_error', type: expect.any(String) });
      expect(text.match(/"code":"provider_error"/g)).toHaveLength(format === 'responses' ? 3 : 1);
      if (format === 'messages') expect(text).toMatch(/\nevent: error\ndata: [^\n]*\n\n$/);
      if (format === 'responses')
        expect(last).toMatchObject({ type: 'error', code: 'provider_error', param: null });
      if (format === 'chat') {
        expect(last.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'error' }]);
        expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      }
      expect(JSON.stringify(last)).not.toMatch(/SimCloud|openrouter|told to fail/i);
      const view = await gateway.settled(agent);
      expect(Number(chargedUsd(view))).toBeGreaterThan(0);
    });

    it('sends half of a stream and then nothing, the error comes as an event and the hold is freed', async () => {
      const agent = await gateway.newAgent();
      gateway.provider.next(ruleFor(kind, format, { chunks: 30, cutAt: 2_000 }));
      const text = await (await post(gateway, { kind, format, stream: true, agent })).text();
      expect(errorIn(text, format)).toMatchObject({ error: { code: 'provider_error' } });
      expect((await gateway.settled(agent)).holds).toEqual([]);
    });
  });
});
