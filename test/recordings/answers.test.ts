import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { recordOf, records, textOf } from '../../api/inference/formats/values.ts';
import { joinedPart, officialAnswer } from './accumulators.ts';
import { corpus } from './corpus.ts';
import { openRouterComplaints, sdkComplaints, strangeMembers } from './official-judges.ts';
import {
  eventsOf,
  formatsFor,
  type Played,
  type Player,
  priceOf,
  startPlayer,
  WAYS,
  type Way,
} from './player.ts';
import { nameOf, type Recording } from './recording.ts';
import { requestOf } from './requests.ts';
import { type Heard, saidBy, saidIn } from './said-in.ts';

/* Whatever vendor answers, and in whichever format and way the caller asked: nothing is lost, and official clients can read it. */

let player: Player;
beforeAll(async () => {
  player = await startPlayer();
});
afterAll(() => player[Symbol.asyncDispose]());

const cases = corpus.flatMap((recording) =>
  formatsFor(recording).map((format) => ({ name: nameOf(recording), recording, format })),
);

/** A stream in its vendor's own format passes as the vendor wrote it; all else is written by the gateway. */
const passes = ({ format }: Recording, to: FormatName): boolean => format === to;

describe.each(cases)('$name, asked in $format', ({ recording, format }) => {
  const played = new Map<Way, Played>();
  const answers = new Map<Way, Record<string, unknown>>();
  const [stream, jsonOfStream, jsonOfJson, streamOfJson] = WAYS as [Way, Way, Way, Way];

  beforeAll(async () => {
    for (const way of WAYS) {
      const answer = await player.play(recording, way, format, requestOf(format));
      played.set(way, answer);
      if (!way.isStreamed && answer.status === 200) answers.set(way, JSON.parse(answer.text));
    }
  });

  const resultOf = (way: Way): Played => {
    const result = played.get(way);
    if (result === undefined) throw new Error('not played');
    expect([result.status, result.text]).toEqual([200, expect.any(String)]);
    return result;
  };
  const answerOf = (way: Way): Record<string, unknown> => {
    resultOf(way);
    const answer = answers.get(way);
    if (answer === undefined) throw new Error('no JSON');
    return answer;
  };

  it.each([jsonOfStream, jsonOfJson])('says all of it: $name', (way) => {
    expectSaid(recording, format, answerOf(way), way);
  });

  it.each([stream, streamOfJson])('says to the official SDK what the JSON says: $name', async (way) => {
    const { text } = resultOf(way);
    const read = await officialAnswer(format, text);
    if (format !== 'chat') expectSaid(recording, format, read, way);
    const json = answerOf(way === stream ? jsonOfStream : jsonOfJson);
    expect(joinedPart(format, read)).toEqual(joinedPart(format, json));
  });

  it.each([stream, streamOfJson])('streams all of its reasoning: $name', (way) => {
    if (format === 'chat')
      expect(reasoningIn(eventsOf(resultOf(way).text))).toBe(recording.said.reasoning ?? '');
  });

  it.each([jsonOfStream, jsonOfJson])(
    'is an answer of the official types, but for what its vendor does otherwise: $name',
    (way) => {
      expectOfficial(recording, format, 'answer', [answerOf(way)], [recording.whole]);
    },
  );

  it.each([stream, streamOfJson])(
    'has events of the official types, but for what its vendor does otherwise: $name',
    (way) => {
      expectOfficial(recording, format, 'event', eventsOf(resultOf(way).text), recording.stream);
    },
  );

  it.each(WAYS)('costs its tokens at their prices: $name', (way) => {
    expect(resultOf(way).chargedNanoUsd).toBe(priceOf(recording.tokens));
  });
});

function expectSaid(
  recording: Recording,
  format: FormatName,
  answer: Record<string, unknown>,
  way: Way,
): void {
  const { calls, ...heard } = saidIn(format, answer);
  const { calls: said, ...expected } = inFormat(format, recording, way);
  expect(heard).toEqual(expected);
  expect(calls).toEqual(
    said.map(({ id, ...call }) => ({ ...call, id: id === '' ? expect.stringMatching(/./) : id })),
  );
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
}

/** The content that a caller of this format can be told of a recording. */
function inFormat(format: FormatName, recording: Recording, way: Way): Heard {
  const said = saidBy(recording);
  if (passes(recording, format)) return { ...said, end: ownEnd(recording, way) ?? said.end };
  if (format !== 'messages') return said;
  const calls = said.calls.map((call, at) => ({
    ...call,
    input: recording.said.calls?.[at]?.wholePart ?? call.input,
  }));
  // The format has no refusal but a text and a reason, and cites pages that its own search has found alone.
  const refused =
    said.refusal === '' ? {} : { text: said.text + said.refusal, refusal: '', end: 'content_filter' };
  return { ...said, ...refused, calls, citations: [] };
}

/** The vendor's own word for the end, which passes if the format has it; `null`: it has not. */
function ownEnd({ format, stream, whole }: Recording, { sendsWhole }: Way): string | null {
  if (format !== 'chat') return null;
  const choices = (sendsWhole ? [whole] : stream).flatMap((chunk) => records(recordOf(chunk).choices));
  const word =
    choices.map(({ finish_reason }) => textOf(finish_reason)).findLast((reason) => reason !== '') ?? '';
  return ENDS.has(word) ? word : null;
}
const ENDS: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter']);

/** The reasoning of all chunks behind each other, under whichever name the vendor has it. */
const reasoningIn = (chunks: readonly Record<string, unknown>[]): string =>
  chunks
    .flatMap(({ choices }) => records(choices))
    .map(({ delta }) => saidIn('chat', { choices: [{ message: delta }] }).reasoning)
    .join('');

const JUDGES = [sdkComplaints, openRouterComplaints] as const;

const complaintsOf = (
  format: FormatName,
  kind: 'answer' | 'event',
  values: readonly unknown[],
): Set<string> =>
  new Set(values.flatMap((value) => JUDGES.flatMap((judge) => [...judge(format, kind, value)])));

/** @param sent What the vendor sent: what passes as its vendor wrote it may have the faults of the vendor's own writing, and no others. */
function expectOfficial(
  recording: Recording,
  format: FormatName,
  kind: 'answer' | 'event',
  shown: readonly unknown[],
  sent: readonly unknown[],
): void {
  const isPassed = passes(recording, format);
  const known = isPassed ? complaintsOf(format, kind, sent) : new Set();
  const complaints = [...complaintsOf(format, kind, shown)].filter((complaint) => !known.has(complaint));
  const strange = isPassed ? [] : shown.flatMap((value) => strangeMembers(format, kind, value));
  expect([...complaints, ...new Set(strange)]).toEqual([]);
}
