import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName, ProviderCancel } from '#core/catalog/catalog.ts';
import { FORMATS } from '../formats/requests.ts';
import { wires } from '../formats/wires.ts';
import { type TestAgent, until } from '../support/gateway.ts';
import {
  CHUNK_TOKENS,
  CHUNKS,
  costNanoUsd,
  type HangUpWorld,
  KINDS,
  type Kind,
  keepsRecords,
  PROMPT_TOKENS,
  startHangUpWorld,
} from '../support/hang-up-world.ts';

/* What a call costs whose caller leaves, after every chunk of an answer, in every format, from every kind of provider. */

const EVERY_K = Array.from({ length: CHUNKS }, (_, k) => k);
const WHOLE = costNanoUsd(CHUNKS);
const PROMPT_NANO_USD = 123n;
const ANSWER_NANO_USD = 457n;
/** The small request by the estimate of its bytes, or by the provider's own count. */
const PROMPT_TOKENS_MAX = 40n;

function worldOf(cancel: ProviderCancel): { current: HangUpWorld } {
  const held: { current: HangUpWorld | null } = { current: null };
  beforeAll(async () => {
    held.current = await startHangUpWorld(cancel);
  });
  afterAll(() => held.current?.[Symbol.asyncDispose]());
  return held as { current: HangUpWorld };
}

async function endsAsStopped(world: HangUpWorld, agent: TestAgent, calls: number): Promise<void> {
  const records = await world.gateway.calls(agent);
  expect(records.map(({ outcome }) => outcome)).toEqual(Array(calls).fill('stopped'));
  for (const { chargedNanoUsd, reservedNanoUsd } of records)
    expect(chargedNanoUsd).toBeLessThanOrEqual(reservedNanoUsd);
}

/** The prompt and the tokens of the text that was read, at most an eighth more, and a little for the frames of first events. */
function expectEstimate(charged: bigint, chunks: number): void {
  const tokens = BigInt(chunks * CHUNK_TOKENS);
  expect(charged).toBeGreaterThanOrEqual(tokens * ANSWER_NANO_USD + PROMPT_NANO_USD);
  const most = PROMPT_TOKENS_MAX * PROMPT_NANO_USD + (tokens + tokens / 8n + 8n) * ANSWER_NANO_USD;
  expect(charged).toBeLessThanOrEqual(most);
}

const each = { formats: [...FORMATS], streams: [true, false] };

describe('a provider that stops at a hang-up', () => {
  const held = worldOf('stops_billing');

  describe.each(KINDS)('of kind %s', (kind) => {
    describe.each(each.formats)('by %s', (format) => {
      it.each(each.streams)(
        'is closed after every k of n chunks, and the caller pays what it had written by then (stream: %s)',
        async (stream) => {
          const world = held.current;
          const agent = await world.gateway.newAgent({ creditUsd: '10' });
          let before = 0n;
          for (const k of EVERY_K) {
            const { answer, read, hangUp } = await world.call(kind, format, { stream, agent });
            expect(answer.isStream).toBe(true);
            await answer.writeTo(k);
            await read();
            hangUp();
            // The provider has more to write, and would wait for ever.
            await answer.closed;
            const { chargedNanoUsd } = await world.gateway.settled(agent);
            const charged = chargedNanoUsd - before;
            before = chargedNanoUsd;
            if (keepsRecords(kind)) expect(charged).toBe(costNanoUsd(k));
            else expectEstimate(charged, k);
            expect(charged).toBeLessThan(WHOLE + PROMPT_TOKENS_MAX * PROMPT_NANO_USD);
          }
          await endsAsStopped(world, agent, EVERY_K.length);
          expect(world.gateway.running.deps.gateway.openCalls.usageDrains).toBe(0);
        },
      );

      it.each(each.streams)(
        'is closed before its first byte, and the caller pays the prompt that it was sent (stream: %s)',
        async (stream) => {
          const world = held.current;
          const agent = await world.gateway.newAgent();
          const { answer, hangUp } = await world.call(kind, format, { stream, agent });
          hangUp();
          await answer.closed;
          expectEstimate((await world.gateway.settled(agent)).chargedNanoUsd, 0);
          await endsAsStopped(world, agent, 1);
        },
      );
    });
  });

  it.each(KINDS.filter((kind) => kind !== 'anthropic'))(
    'and that had written its usage, but not yet its end mark, is paid by that usage (%s)',
    async (kind) => {
      const world = held.current;
      for (const stream of each.streams) {
        const agent = await world.gateway.newAgent();
        const { answer, read, hangUp } = await world.call(kind, 'chat', { stream, agent });
        await answer.writeTo(CHUNKS);
        await answer.write(wires.chat.end(answer.usage()).replace('data: [DONE]\n\n', ''));
        await read();
        hangUp();
        await answer.closed;
        expect((await world.gateway.settled(agent)).chargedNanoUsd).toBe(WHOLE);
      }
    },
  );

  const hidden: [string, Kind, FormatName, (index: number) => string][] = [
    [
      'arguments of tools',
      'openai',
      'chat',
      (index) => wires.chat.toolCall(index, `call_${index}`, 'f', TEXT_IN_JSON),
    ],
    [
      'arguments of tools',
      'anthropic',
      'messages',
      (index) => wires.messages.toolCall(index, `t_${index}`, 'f', TEXT_IN_JSON),
    ],
    ['reasoning', 'openai', 'chat', () => reasoningChunk],
    ['reasoning', 'anthropic', 'messages', () => thinkingDelta],
  ];
  it.each(hidden)('is paid for %s that it wrote, though no text came (%s)', async (_, kind, asked, piece) => {
    const world = held.current;
    for (const format of FORMATS) {
      for (const stream of each.streams) {
        const agent = await world.gateway.newAgent();
        const { answer, read, hangUp } = await world.call(kind, format, { stream, agent });
        expect(answer.format).toBe(asked);
        await answer.writeTo(0);
        for (let index = 0; index < 20; index++) await answer.write(piece(index));
        await read();
        hangUp();
        await answer.closed;
        const { chargedNanoUsd } = await world.gateway.settled(agent);
        expect(chargedNanoUsd).toBeGreaterThanOrEqual(20n * 8n * ANSWER_NANO_USD);
        expect(chargedNanoUsd).toBeLessThan(20n * 40n * ANSWER_NANO_USD);
      }
    }
  });

  it('and that counts reasoning which nobody can see is paid by its own running count where that is greater', async () => {
    const world = held.current;
    for (const stream of each.streams) {
      const agent = await world.gateway.newAgent();
      const { answer, read, hangUp } = await world.call('openai', 'chat', { stream, agent });
      await answer.writeTo(1);
      await answer.write(
        wires.chat
          .text('a')
          .replace(/\}\n\n$/, ',"usage":{"prompt_tokens":5,"completion_tokens":500,"total_tokens":505}}\n\n'),
      );
      await read();
      hangUp();
      await answer.closed;
      const { chargedNanoUsd } = await world.gateway.settled(agent);
      expect(chargedNanoUsd).toBe(BigInt(PROMPT_TOKENS) * PROMPT_NANO_USD + 500n * ANSWER_NANO_USD);
    }
  });
});

const TEXT_IN_JSON = '{"text":"four byte tokens of a text here, and more"}';
const reasoningChunk = wires.chat
  .text('')
  .replace('"content":""', '"reasoning_content":"four byte tokens of a text here, and more of them"');
const thinkingDelta = wires.messages
  .text('')
  .replace(
    '"type":"text_delta","text":""',
    '"type":"thinking_delta","thinking":"four byte tokens of a text here, and more of them"',
  );

describe('a provider that bills to the end', () => {
  const held = worldOf('bills_full');

  describe.each(KINDS)('of kind %s', (kind) => {
    describe.each(each.formats)('by %s', (format) => {
      it.each(each.streams)(
        'is read on after every k of n chunks as no running call, and the caller pays the whole (stream: %s)',
        async (stream) => {
          const world = held.current;
          const agent = await world.gateway.newAgent({ creditUsd: '10' });
          const { openCalls, capacity } = world.gateway.running.deps.gateway;
          // A whole answer comes in one piece: there is only before it.
          const everyK = stream ? EVERY_K : [0];
          let before = 0n;
          for (const k of everyK) {
            const { answer, read, hangUp } = await world.call(kind, format, { stream, agent });
            expect(answer.isStream).toBe(stream);
            if (stream) {
              await answer.writeTo(k);
              await read();
            }
            expect((await world.gateway.view(agent)).runningCalls).toBe(1);
            hangUp();
            await until(() => openCalls.usageDrains === 1);
            await until(async () => (await world.gateway.view(agent)).runningCalls === 0);
            expect([capacity.runningCalls, (await world.gateway.view(agent)).holds.length]).toEqual([0, 1]);
            expect(answer.closedAtMs).toBeNull();
            await answer.finish();
            const { chargedNanoUsd } = await world.gateway.settled(agent);
            expect(chargedNanoUsd - before).toBe(WHOLE);
            before = chargedNanoUsd;
          }
          await endsAsStopped(world, agent, everyK.length);
        },
      );
    });
  });

  it('leaves the slots of its agent: eight hang-ups, and eight calls run beside them', async () => {
    const world = held.current;
    const agent = await world.gateway.newAgent({ creditUsd: '10' });
    const start = () => world.call('openai', 'chat', { stream: true, agent });
    const left = [];
    for (let call = 0; call < 8; call++) left.push(await start());
    for (const { hangUp } of left) hangUp();
    await until(async () => (await world.gateway.view(agent)).runningCalls === 0);
    const running = [];
    for (let call = 0; call < 8; call++) running.push(await start());
    expect((await world.gateway.view(agent)).runningCalls).toBe(8);
    expect((await world.gateway.view(agent)).holds).toHaveLength(16);
    for (const { answer } of [...left, ...running]) await answer.finish();
    expect((await world.gateway.settled(agent)).chargedNanoUsd).toBe(16n * WHOLE);
  });
});
