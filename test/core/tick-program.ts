import { keepTicksFast } from '#core/keep-ticks-fast.ts';

/*
 * `node --expose-gc tick-program.ts kept 8`: runs ticks, collects all that is over while none waits, and so on, that many times.
 */
const [how, collections] = process.argv.slice(2);
if (how === 'kept') keepTicksFast();
await runTicks();
for (let i = 0; i < Number(collections); i++) {
  globalThis.gc?.();
  await runTicks();
}

/** Of some, V8 learns how their records are made. */
function runTicks(left = 100): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(() => resolve(left > 0 ? runTicks(left - 1) : undefined));
  });
}
