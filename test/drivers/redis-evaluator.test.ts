import fc from 'fast-check';
import { Command } from 'ioredis';
import { expect, test } from 'vitest';
import { EvalshaCommand } from '#core/drivers/redis-evaluator.ts';

test('a script is asked for in the bytes in which ioredis would ask for it', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 1_000, maxLength: 1_100 }));
  // Of whole numbers only those that a double tells apart: amounts beyond them go as texts.
  const double = fc.double().filter((number) => !Number.isInteger(number) || Number.isSafeInteger(number));
  const arg = fc.oneof(text, fc.integer(), fc.maxSafeInteger(), double);
  fc.assert(
    fc.property(text, fc.array(text), fc.array(arg), (sha, keys, args) => {
      const asked = new EvalshaCommand(sha, keys, args).toWritable();
      const usual = new Command('evalsha', [sha, keys.length, ...keys, ...args]).toWritable({});
      expect(Buffer.from(asked).equals(Buffer.from(usual))).toBe(true);
    }),
  );
});
