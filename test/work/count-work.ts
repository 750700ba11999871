import { Session } from 'node:inspector';
import type { FormatName } from '#core/catalog/catalog.ts';

/*
 * Counts the work that hostile bodies cause, and prints one line of JSON for each of them. V8 counts how often each block of the
 * gateway's code runs. Parsers, patterns and copies, which run inside of V8 and Node, are counted by the size of the text
 * that they are given. Both counts are the same on every machine, however busy it is.
 */

let nativeBytes = 0;

/** Counts what a function is given, by `sizeOf`. */
function count(
  owner: object,
  name: string | symbol,
  sizeOf: (self: unknown, args: unknown[], result: unknown) => number,
) {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== 'function') throw new Error(`There is no ${String(name)} to count.`);
  Reflect.defineProperty(owner, name, {
    configurable: true,
    writable: true,
    value: function counted(this: unknown, ...args: unknown[]): unknown {
      const result: unknown = Reflect.apply(original, this, args);
      nativeBytes += sizeOf(this, args, result);
      return result;
    },
  });
}

const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;

function countNatives(): void {
  count(JSON, 'parse', (_, [text]) => lengthOf(text));
  count(JSON, 'stringify', (_, __, text) => lengthOf(text));
  count(Buffer, 'from', (_, __, bytes) => lengthOf(bytes));
  count(Buffer, 'concat', (_, __, bytes) => lengthOf(bytes));
  count(Buffer, 'byteLength', (_, [text]) => lengthOf(text));
  count(Buffer.prototype, 'toString', (_, __, text) => lengthOf(text));
  count(Buffer.prototype, 'copy', (_, __, copied) => Number(copied));
  for (const name of [
    'exec',
    'test',
    Symbol.replace,
    Symbol.match,
    Symbol.matchAll,
    Symbol.search,
    Symbol.split,
  ])
    count(RegExp.prototype, name, (_, [text]) => lengthOf(text));
  for (const name of ['trim', 'toLowerCase', 'normalize', 'replaceAll', 'includes', 'split', 'at'])
    count(String.prototype, name, (self) => (name === 'at' ? 1 : lengthOf(String(self))));
}

const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

// Only code that is compiled from here on is counted block by block.
const { hostileBodies } = await import('../bench/hostile-bodies.ts');
const { formats, measureTurns, targets } = await import('../bench/hostile-turns.ts');

/**
 * How often blocks of the project's own code ran since the last call: in the last turn, because nothing else of the project runs
 * in between. A session in the same thread answers at once.
 */
function takeBlocks(): number {
  let blocks = 0;
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error;
    for (const { url, functions } of result) {
      if (!COUNTED.test(url)) continue;
      for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
    }
  });
  return blocks;
}

/** The schemas of bodies are read by the library. */
const COUNTED = /\/api\/|\/node_modules\/zod\//;

function countWork(work: () => unknown): number {
  nativeBytes = 0;
  work();
  return nativeBytes + takeBlocks();
}

interface Work {
  /** The most passes over the body that one turn of the event loop makes, and where. */
  turn: { passes: number; where: string };
  /** The most that one call makes in all its turns. */
  total: { passes: number; where: string };
}

function countBody(make: (format: FormatName) => string): Work {
  const none = { passes: 0, where: '' };
  const work: Work = { turn: none, total: none };
  for (const format of formats) {
    const bytes = Buffer.from(make(format));
    for (const [kind, target] of targets) {
      // Their calls do the work of the others', and each count takes the time of many turns.
      if (kind === 'openai' || kind === 'to google') continue;
      let passes = 0;
      for (const { turn, cost } of measureTurns(format, bytes, target, countWork)) {
        const each = cost / bytes.length;
        passes += each;
        if (each > work.turn.passes) work.turn = { passes: each, where: `${format}, ${kind}, ${turn}` };
      }
      if (passes > work.total.passes) work.total = { passes, where: `${format}, ${kind}` };
    }
  }
  return work;
}

countNatives();
takeBlocks();
const only = process.argv.slice(2);
for (const [body, make] of hostileBodies)
  if (only.length === 0 || only.includes(body)) console.log(JSON.stringify({ body, ...countBody(make) }));
