import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { records } from '../../api/inference/formats/values.ts';
import { officialAnswer } from './accumulators.ts';
import { corpus } from './corpus.ts';
import { formatsFor, type Played, type Player, startPlayer, WAYS, type Way } from './player.ts';
import { nameOf, type Recording } from './recording.ts';
import { requestOf } from './requests.ts';
import { messageOf } from './said-in.ts';

/* Whatever a caller was shown it may send back in its next turn, to the same provider and to any other. */

let player: Player;
beforeAll(async () => {
  player = await startPlayer();
});
afterAll(() => player[Symbol.asyncDispose]());

const [STREAM, JSON_OF_STREAM, JSON_OF_JSON] = WAYS as [Way, Way, Way, Way];

/** Providers that the next turn may go to: one of each kind. */
const others = [
  corpus.find(({ vendor }) => vendor === 'OpenAI'),
  corpus.find(({ vendor }) => vendor === 'Anthropic'),
  corpus.find(({ vendor }) => vendor === 'Gemini'),
  corpus.find(({ vendor }) => vendor === 'Groq'),
  corpus.find(({ vendor }) => vendor === 'vLLM'),
].filter((recording) => recording !== undefined);

const cases = corpus.flatMap((recording) =>
  formatsFor(recording).map((format) => ({ name: nameOf(recording), recording, format })),
);

describe.each(cases)('$name, shown in $format', ({ recording, format }) => {
  const shown: Shown[] = [];

  beforeAll(async () => {
    for (const way of [JSON_OF_STREAM, JSON_OF_JSON, STREAM]) {
      const { status, text } = await player.play(recording, way, format, requestOf(format));
      if (status !== 200) throw new Error(`${way.name}: ${status} ${text}`);
      const answer = way.isStreamed ? await officialAnswer(format, text) : JSON.parse(text);
      if (hasNothing(answer)) continue;
      if (!shown.some((known) => isAlike(known.answer, answer))) shown.push({ name: way.name, answer });
    }
  });

  const sendBack = (to: Recording, answer: Record<string, unknown>): Promise<Played> =>
    player.play(to, JSON_OF_STREAM, format, requestOf(format, nextTurn(format, answer)));

  it('is taken back whole by its own provider, with every signature as it was', async () => {
    const { signatures = [], text: said = '', calls = [] } = recording.said;
    for (const { name, answer } of shown) {
      const { status, text, ignoredFields, sent } = await sendBack(recording, answer);
      expect([name, status, text]).toEqual([name, 200, expect.any(String)]);
      expect([name, namedIn(ignoredFields)]).toEqual([name, []]);
      const body = sent[0] ?? '';
      expect([name, textsIn(JSON.parse(body))]).toEqual([name, expect.stringContaining(said)]);
      for (const { id = '', name: called } of calls) {
        expect([name, called, timesIn(body, called) > 1]).toEqual([name, called, true]);
        // The id stands in the call and in its result.
        expect([name, id, id === '' || timesIn(body, id) > 1]).toEqual([name, id, true]);
      }
      // The SDK keeps the last piece alone of members that it does not know.
      if (name === STREAM.name && format === 'chat') continue;
      // One vendor writes its own twice, and all that its own format says passes as it came.
      for (const signature of signatures)
        expect([name, signature, timesIn(body, signature)]).toEqual([
          name,
          signature,
          Math.max(1, format === recording.format ? timesIn(JSON.stringify(answer), signature) : 1),
        ]);
    }
  });

  it('is taken back by other providers, which see no signature of it', async () => {
    for (const to of others) {
      if (to.vendor === recording.vendor || !formatsFor(to).includes(format)) continue;
      for (const { name, answer } of shown) {
        const way = `${name}, to ${to.vendor}`;
        const { status, text, ignoredFields, sent } = await sendBack(to, answer);
        expect([way, status, text]).toEqual([way, 200, expect.any(String)]);
        expect([way, namedIn(ignoredFields)]).toEqual([way, []]);
        if (to.vendor === recording.said.signedBy) continue;
        for (const signature of recording.said.signatures ?? [])
          expect([way, signature, timesIn(sent[0] ?? '', signature)]).toEqual([way, signature, 0]);
      }
    }
  });
});

/** The names of what was left out, but for a hint that stands beside the conversation in every request of these tests. */
const namedIn = (ignoredFields: string | null): string[] =>
  (ignoredFields ?? '').split(/, */).filter((name) => name !== '' && name !== 'include');

interface Shown {
  name: string;
  answer: Record<string, unknown>;
}

/** But for what differs from answer to answer. */
const isAlike = (one: object, other: object): boolean => withoutIds(one) === withoutIds(other);
const withoutIds = (answer: object): string =>
  JSON.stringify(answer, (name, value) =>
    ['id', 'created', 'created_at', 'completed_at'].includes(name) ? undefined : value,
  );

/** A whole answer of a choice without a message, which leaves its client nothing to send back. */
const hasNothing = (answer: Record<string, unknown>): boolean =>
  records(answer.choices).some(({ message }) => message === undefined);

/** All texts of a body behind each other, because an answer may have its text in several parts. */
const textsIn = (value: unknown, name = ''): string => {
  if (typeof value === 'string')
    return name === 'text' || name === 'content' || name === 'input' ? value : '';
  if (Array.isArray(value)) return value.map((each) => textsIn(each)).join('');
  return isRecord(value)
    ? Object.entries(value)
        .map(([key, each]) => textsIn(each, key))
        .join('')
    : '';
};

const timesIn = (body: string, text: string): number =>
  text === '' ? 0 : body.split(JSON.stringify(text)).length - 1;

/** The turns that clients send behind an answer: the answer as it was shown, and a result for each call. */
function nextTurn(format: FormatName, answer: Record<string, unknown>): object[] {
  const user = { role: 'user', content: 'And tomorrow?' };
  switch (format) {
    case 'chat': {
      const message = messageOf(answer);
      const results = records(message.tool_calls).map(({ id }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'rain',
      }));
      return [message, ...(results.length > 0 ? results : [user])];
    }
    case 'responses': {
      const output = records(answer.output);
      const results = output.flatMap(({ type, call_id }) =>
        type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'rain' }] : [],
      );
      return [...output, ...(results.length > 0 ? results : [user])];
    }
    case 'messages': {
      const content = records(answer.content);
      const results = content.flatMap(({ type, id }) =>
        type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'rain' }] : [],
      );
      return [{ role: 'assistant', content }, results.length > 0 ? { role: 'user', content: results } : user];
    }
  }
}
