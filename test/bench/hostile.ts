import type { FormatName } from '#core/catalog/catalog.ts';
import { hostileBodies } from './hostile-bodies.ts';
import { formats, type HostileTarget, measureTurns, targets } from './hostile-turns.ts';
import { shortNumber } from './report.ts';
import { type Bench, runPart } from './run-part.ts';

/** No call of another caller waits longer for a turn of the event loop. */
const TURN_MS_MAX = 50;
const ROUNDS = 5;

function measure({ report }: Bench, name: string, reference: number): void {
  let longest = { ms: 0, where: '', parse: 0 };
  for (const format of formats) {
    const bytes = bodyOf(name, format);
    const parse = parseMs(bytes);
    for (const [kind, target] of targets) {
      const [ms, turn] = longestTurn(format, bytes, target);
      if (ms > longest.ms) longest = { ms, where: `${format}, ${kind}, ${turn}`, parse };
    }
  }
  report.verdict({
    bar: `${name}: longest turn at most ${TURN_MS_MAX} ms`,
    measured:
      `${shortNumber(longest.ms)} ms (${longest.where}), ${shortNumber(longest.ms / reference)} such parses; ` +
      `its own parse ${shortNumber(longest.parse)} ms`,
    met: longest.ms <= TURN_MS_MAX,
  });
}

const bodyOf = (name: string, format: FormatName): Buffer =>
  Buffer.from(hostileBodies.get(name)?.(format) ?? '');

function parseMs(bytes: Buffer): number {
  let ms = 0;
  for (let round = 0; round < ROUNDS; round++) ms += timed(() => tryParse(bytes.toString()));
  return ms / ROUNDS;
}

function tryParse(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    // Some bodies are no JSON, and are read to the place where that shows.
  }
}

/** CPU of this thread, so that what else the machine does counts little. The system tells it in steps of some milliseconds. */
function timed(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** The mean of some rounds; of the first alone where that came to less than half of what is allowed. */
function longestTurn(format: FormatName, bytes: Buffer, target: HostileTarget): [ms: number, turn: string] {
  const sums = new Map<string, number>();
  const addRound = () => {
    for (const { turn, cost } of measureTurns(format, bytes, target, timed))
      sums.set(turn, (sums.get(turn) ?? 0) + cost);
  };
  const longest = () => [...sums].reduce((most, each) => (each[1] > most[1] ? each : most));
  addRound();
  const [turn, ms] = longest();
  if (ms < TURN_MS_MAX / 2) return [ms, turn];
  for (let round = 1; round < ROUNDS; round++) addRound();
  const [slowest, sum] = longest();
  return [sum / ROUNDS, slowest];
}

/** The longest turn of the event loop that a body of four megabytes takes before its provider is asked (`measureTurns`). */
await runPart('Hostile bodies', { pinned: true }, async (bench) => {
  const self = bench.measureSelf();
  const reference = parseMs(bodyOf('many keys in metadata', 'chat'));
  bench.report.line(`JSON.parse of four megabytes of keys: ${shortNumber(reference)} ms`);
  const only = process.env.HOSTILE_BODIES?.split(',');
  for (const name of hostileBodies.keys())
    if (only === undefined || only.includes(name)) measure(bench, name, reference);
  self[Symbol.dispose]();
});
