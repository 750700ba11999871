import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';
import { CHUNK_TOKENS, costNanoUsd, startHangUpWorld } from '../support/hang-up-world.ts';
import { passTime } from '../support/pass-time.ts';
import { FORMATS } from './requests.ts';
import { wires } from './wires.ts';

describe.each(FORMATS)('%s: the record of an answer that a hang-up ended', (format) => {
  it.each([true, false])(
    'is asked for, and where the router does not know it for ten minutes what was read is the price (stream: %s)',
    async (stream) => {
      const clock = createFakeClock();
      await using world = await startHangUpWorld('stops_billing', clock);
      world.provider.keepsRecords = false;
      const { gateway } = world;
      const { answer, read, hangUp } = await world.call('openrouter', format, {
        stream,
        agent: gateway.agent,
      });
      await answer.writeTo(6);
      await read();
      hangUp();
      await answer.closed;
      await until(async () => (await gateway.view()).holds.some(({ pending }) => pending !== null));
      const [hold] = (await gateway.view()).holds;
      expect(hold?.pending?.pending.generationId).toBe(answer.id);
      expect((await gateway.view()).runningCalls).toBe(0);
      for (let minute = 0; minute < 9; minute++) await passTime(gateway, clock, MINUTE_MS);
      expect((await gateway.view()).holds).toHaveLength(1);
      await until(async () => {
        await passTime(gateway, clock, 10 * SECOND_MS);
        return (await gateway.view()).holds.length === 0;
      });
      const { chargedNanoUsd } = await gateway.view();
      expect(chargedNanoUsd).toBeGreaterThanOrEqual(BigInt(6 * CHUNK_TOKENS) * 457n);
      expect(chargedNanoUsd).toBeLessThan(costNanoUsd(10));
      expect((await gateway.calls())[0]?.outcome).toBe('stopped');
    },
  );
});

it('a running count of the router is the price where it knows no record, if it is greater than what was read', async () => {
  const clock = createFakeClock();
  await using world = await startHangUpWorld('stops_billing', clock);
  world.provider.keepsRecords = false;
  const { gateway } = world;
  const { answer, read, hangUp } = await world.call('openrouter', 'chat', {
    stream: true,
    agent: gateway.agent,
  });
  await answer.writeTo(1);
  const counted =
    ',"usage":{"prompt_tokens":5,"completion_tokens":900,"total_tokens":905,"cost":0.000001}}\n\n';
  await answer.write(wires.chat.text('a').replace(/\}\n\n$/, counted));
  await read();
  hangUp();
  await answer.closed;
  await until(async () => {
    await passTime(gateway, clock, 30 * SECOND_MS);
    return (await gateway.view()).holds.length === 0;
  });
  // Its cost so far was not final.
  expect((await gateway.view()).chargedNanoUsd).toBe(5n * 123n + 900n * 457n);
});
