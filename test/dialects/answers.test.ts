import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { formatUsd } from '#core/money.ts';
import { eventsIn, FORMATS, requestIn } from '../formats/requests.ts';
import type { TestAgent } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { type DialectGateway, modelOf, nanoOf, startDialectGateway } from './dialect-gateway.ts';
import { cutStream, wireExamples } from './wire-answers.ts';

let fixture: DialectGateway;
beforeAll(async () => {
  fixture = await startDialectGateway();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const toolIn = (format: FormatName): object => {
  const parameters = { type: 'object', properties: { at: { type: 'integer' } } };
  switch (format) {
    case 'chat':
      return { type: 'function', function: { name: 'look', parameters } };
    case 'responses':
      return { type: 'function', name: 'look', parameters, strict: false };
    case 'messages':
      return { name: 'look', input_schema: parameters };
  }
};

async function call(
  format: FormatName,
  model: string,
  stream: boolean,
): Promise<{ text: string; status: number; agent: TestAgent }> {
  const { gateway } = fixture;
  const agent = await gateway.newAgent();
  const showUsage = format === 'chat' && stream ? { stream_options: { include_usage: true } } : {};
  const body = requestIn(format, model, { stream, tools: [toolIn(format)], ...showUsage });
  const res = await gateway.post(body, { path: pathOf(format), agent });
  return { text: await res.text(), status: res.status, agent };
}

/** Everything that a caller of any format is told of the cost. */
const costsIn = (text: string): string[] =>
  [...text.matchAll(/"cost":([\d.e-]+)/g)].map(([, cost = '']) => cost);

async function expectAnswer(text: string, agent: TestAgent, nanoUsd: bigint): Promise<void> {
  expect((await fixture.gateway.settled(agent)).chargedNanoUsd).toBe(nanoUsd);
  expect(costsIn(text)).toEqual([formatUsd(nanoUsd)]);
  expect(text).toContain('look');
  expect(text).toMatch(/\{\\"at\\":1\}|"input":\{"at":1\}/);
  // Whose server it is, and what it calls the model.
  expect(text).not.toMatch(/x_groq|req_01jbd6|vendor-small|keep-alive/i);
}

describe.each(wireExamples)('$dialect, which $what', ({ dialect, whole, stream, counted }) => {
  describe.each(FORMATS)('by %s', (format) => {
    it('answers in one piece, and is charged as it counts', async () => {
      fixture.wire.answer(whole);
      const { text, status, agent } = await call(format, modelOf(dialect, true), false);
      expect(status, text).toBe(200);
      expect(text).toContain('Hello there');
      await expectAnswer(text, agent, nanoOf(counted));
    });

    it('answers as a stream, and is charged as it counts', async () => {
      fixture.wire.answer(stream);
      const { text, status, agent } = await call(format, modelOf(dialect), true);
      expect(status, text).toBe(200);
      expect(text).toMatch(/Hello/);
      expect(eventsIn(text).length).toBeGreaterThan(4);
      await expectAnswer(text, agent, nanoOf(counted));
    });

    it('streams an answer that is put together here, and is charged as it counts', async () => {
      fixture.wire.answer(stream);
      const { text, status, agent } = await call(format, modelOf(dialect), false);
      expect(status, text).toBe(200);
      expect(text).toContain('Hello there');
      await expectAnswer(text, agent, nanoOf(counted));
    });

    it('has its thought in the caller’s own words', async () => {
      if (!stream.body.includes('I look.')) return;
      fixture.wire.answer(stream);
      const { text } = await call(format, modelOf(dialect), true);
      const field = {
        chat: /"reasoning(_content)?":/,
        responses: /reasoning/,
        messages: /"thinking_delta"/,
      };
      expect(text).toMatch(field[format]);
      expect(text).toContain('I look.');
    });
  });
});

describe.each(FORMATS)('by %s', (format) => {
  it('a stream that is lost in the middle ends with an error, and what was written is charged', async () => {
    fixture.wire.answer(cutStream);
    const { text, agent } = await call(format, modelOf('vllm'), true);
    // A response that failed has one more event behind its error.
    const told = eventsIn(text).findLast(({ error }) => error !== undefined);
    expect(told).toMatchObject({ error: { code: 'provider_error' } });
    const { chargedNanoUsd, holds } = await fixture.gateway.settled(agent);
    expect(holds).toEqual([]);
    expect(chargedNanoUsd).toBeGreaterThan(0n);
    expect(chargedNanoUsd).toBeLessThan(1_000_000n);
  });

  it('a whole answer that is lost in the middle is free', async () => {
    fixture.wire.answer({ body: '{"id":"chatcmpl-1","choices":[', cut: true });
    const { text, status, agent } = await call(format, modelOf('vllm', true), false);
    expect(status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'provider_error' } });
    expect((await fixture.gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });
});
