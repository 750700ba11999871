import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import {
  openSink,
  openSource,
  type ShownParts,
  writeAnswer,
} from '../../api/inference/translation/translate-answer.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import { asAsked } from './asked-dialect.ts';

/** The answer of a provider, once as it streams it and once whole. */
export interface Answer {
  /** JSON of each event. */
  events: object[];
  whole: object;
}

export const identity = { id: 'call-1', createdAtS: 1, nowS: 2, model: 'acme/small' };
export const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };

/** As a caller of this format sees it, who waits for it whole, of a provider that sends it whole. */
export function shownWhole(
  from: FormatName,
  to: FormatName,
  { whole }: Answer,
  shown: ShownParts = asAsked,
): Record<string, unknown> {
  const text = JSON.stringify(whole);
  const answer = WholeAnswer.of(openSource(from).readWhole(Buffer.from(text), JSON.parse(text)));
  return JSON.parse(writeAnswer(to, answer, identity, shown).bytes.toString());
}

/** The same of a provider that streams it. */
export function shownCollected(
  from: FormatName,
  to: FormatName,
  { events }: Answer,
  shown: ShownParts = asAsked,
): Record<string, unknown> {
  const collector = new AnswerCollector(openSource(from));
  for (const event of events) collector.read(Buffer.from(JSON.stringify(event)), '');
  return JSON.parse(writeAnswer(to, collector.finish(), identity, shown).bytes.toString());
}

/** The events that a caller of this format sees. */
export function shownEvents(
  from: FormatName,
  to: FormatName,
  { events }: Answer,
  shown: ShownParts = asAsked,
): string[] {
  const stream = new TranslatedStream(openSource(from), openSink(to, identity, shown));
  const written = events.map((event) => {
    const read = stream.read(Buffer.from(JSON.stringify(event)), '');
    return read.kind === 'changed' ? read.events.toString() : '';
  });
  const text = written.join('') + stream.end({ identity, shown: 1n, tokens }).toString();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '');
}

/** The streamed answer, as a client puts it together. */
export function shownStream(
  from: FormatName,
  to: FormatName,
  answer: Answer,
  shown: ShownParts = asAsked,
): Record<string, unknown> {
  const assembly = callFormats[to].openAssembly();
  for (const data of shownEvents(from, to, answer, shown)) assembly.read(Buffer.from(data), '');
  return JSON.parse(assembly.answer()?.toString() ?? '{}');
}
