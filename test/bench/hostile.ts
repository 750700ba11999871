import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import { dialects } from '#core/catalog/dialects.ts';
import { systemClock } from '#core/clock.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { planCall, readCall } from '../../api/inference/admit.ts';
import { estimateHold } from '../../api/inference/estimate.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';

import { model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { hostileBodies } from './hostile-bodies.ts';
import { shortNumber } from './report.ts';
import { type Bench, runPart } from './run-part.ts';

/** As one that speaks the caller's format, one that keeps to a list of fields, and those that a call is translated for. */
const providers: ReadonlyMap<string, Partial<Provider>> = new Map([
  ['router', {}],
  ['plain', { kind: 'openai' }],
  ['vllm', { kind: 'openai', dialect: dialects.vllm }],
  ['to chat', { kind: 'openai', formats: ['chat/completions'] }],
  ['to messages', { kind: 'anthropic', formats: ['messages'] }],
]);

/** Of the parse of a body with 20,000 keys: what no gateway can do without. */
const RATIO_MAX = 8;
const ROUNDS = 5;

function measure({ report }: Bench, name: string, reference: number): void {
  let longest = { ms: 0, where: '', parse: 0 };
  for (const format of ['chat/completions', 'responses', 'messages'] as const) {
    const bytes = bodyOf(name, format);
    const parse = parseMs(bytes);
    for (const [kind, given] of providers) {
      const [ms, turn] = longestTurn(format, bytes, given);
      if (ms > longest.ms) longest = { ms, where: `${format}, ${kind}, ${turn}`, parse };
    }
  }
  report.verdict({
    bar: `${name}: longest turn at most ${RATIO_MAX} parses of 20,000 keys`,
    measured:
      `${shortNumber(longest.ms)} ms (${longest.where}), ${shortNumber(longest.ms / reference)} such parses; ` +
      `its own parse ${shortNumber(longest.parse)} ms`,
    met: longest.ms <= RATIO_MAX * reference,
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

const TURNS = ['read', 'plan', 'send'] as const;

function longestTurn(
  format: FormatName,
  bytes: Buffer,
  given: Partial<Provider>,
): [ms: number, turn: string] {
  const sums = TURNS.map(() => 0);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, ms] of runTurns(format, bytes, given).entries()) sums[at] = (sums[at] ?? 0) + ms;
  }
  const most = Math.max(...sums);
  return [most / ROUNDS, TURNS[sums.indexOf(most)] ?? ''];
}

/** As many turns as the body gets: one that is refused gets no further. */
function runTurns(format: FormatName, bytes: Buffer, given: Partial<Provider>): number[] {
  const inputModalities = ['text', 'image', 'file'];
  const catalog = testCatalog({
    models: [model({ contextLength: 10_000_000, inputModalities })],
    providers: [provider(given)],
  });
  const routes = { catalog, health: plainHealth(systemClock), links: noLinkRules };
  const turns: number[] = [];
  let read: ReturnType<typeof readCall> | undefined;
  turns.push(timed(() => (read = readCall(callFormats[format], bytes, 'active', noLinkRules))));
  if (read === undefined || isApiError(read)) return turns;
  const call = read;
  let admitted: ReturnType<typeof planCall> | undefined;
  turns.push(timed(() => (admitted = planCall(call, routes))));
  if (!admitted?.ok) return turns;
  const { plan } = admitted;
  const [candidate] = plan.candidates;
  if (candidate === undefined) return turns;
  turns.push(
    timed(() => {
      estimateHold(plan);
      const asked = candidate.translated === null ? plan : { ...plan, body: candidate.translated };
      return candidate.format.buildBody(asked, candidate, 1);
    }),
  );
  return turns;
}

/**
 * The longest turn of the event loop that a body of four megabytes takes before its provider is asked. A large body is read,
 * planned and sent in three turns (`run-call.ts`).
 */
await runPart('Hostile bodies', { pinned: true }, async (bench) => {
  const self = bench.measureSelf();
  const reference = parseMs(bodyOf('20,000 keys in metadata', 'chat/completions'));
  bench.report.line(`JSON.parse of 20,000 keys: ${shortNumber(reference)} ms`);
  for (const name of hostileBodies.keys()) measure(bench, name, reference);
  self[Symbol.dispose]();
});
