import { describe, expect, it } from 'vitest';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { AnswerWords } from '../../api/inference/scrub/answer-words.ts';
import { scrubAnswer, scrubEvents } from '../../api/inference/scrub/scrub-answer.ts';
import { eventOf } from './passed-events.ts';
import { piecesOf, relayStream } from './relay-stream.ts';
import { identity, tokens } from './shown-answers.ts';

/* Each text of an error passes the scrubber, which takes 70 µs or more. A provider decides how many an answer has. */

const HOST = 'llm7.corp.internal';
const hidden = {
  provider: { id: 'p1', apiKey: 'sk-prov-Zx81kQpLm29vTT07', baseUrl: `http://${HOST}:8000/v1` },
  upstreamModel: 'm',
  publicModel: 'm',
};
const TEXTS_MAX = 50;
const CHARS_MAX = 20_000;

const errors = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `No ${from + at}: http://${HOST}/x.`);
const chunkOf = (xerror: unknown): string =>
  JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'Rain', xerror } }] });
const errorsIn = (chunk: string): string[] => JSON.parse(chunk).choices[0].delta.xerror;
const scrubbed = (texts: readonly string[]): string[] => texts.filter((text) => text.includes('No '));

describe('an answer with more error texts than any answer needs', () => {
  it('shows the first of them scrubbed, and nothing of the others', () => {
    const shown = scrubAnswer(Buffer.from(chunkOf(errors(5_000))), hidden).toString();
    expect(shown).not.toContain(HOST);
    expect(scrubbed(errorsIn(shown))).toEqual(errors(TEXTS_MAX).map((text) => text.replace(/http.*/, '…')));
    expect(errorsIn(shown).slice(TEXTS_MAX)).toEqual(Array(5_000 - TEXTS_MAX).fill('…'));
  });

  it('shows no more of long ones than may be scrubbed', () => {
    const long = errors(500).map((text) => `${text} ${'rain '.repeat(200)}`);
    const shown = errorsIn(scrubAnswer(Buffer.from(chunkOf(long)), hidden).toString());
    expect(scrubbed(shown).length).toBeLessThanOrEqual(CHARS_MAX / 1_000);
    expect(shown.join()).not.toContain(HOST);
  });

  it('shows a text that is repeated each time', () => {
    const same = Array(1_000).fill('Bad field x.');
    expect(errorsIn(scrubAnswer(Buffer.from(chunkOf([...same, '1 b'])), hidden).toString())).toEqual([
      ...same,
      '1 b',
    ]);
  });

  it('shows codes and the text of the model whatever comes before them', () => {
    const chunk = chunkOf([...errors(100), 'rate_limit']);
    const shown = scrubAnswer(Buffer.from(chunk), hidden).toString();
    expect(errorsIn(shown).at(-1)).toBe('rate_limit');
    expect(shown).toContain('"content":"Rain"');
  });
});

it('all events of one stream show no more error texts than one answer', () => {
  const words = new AnswerWords(hidden);
  const shown = Array.from({ length: 100 }, (_, at) =>
    scrubEvents(Buffer.from(`data: ${chunkOf(errors(3, 3 * at))}\n\n`), words).toString(),
  );
  const texts = shown.flatMap((event) => errorsIn(event.slice('data: '.length)));
  expect(scrubbed(texts)).toHaveLength(TEXTS_MAX);
  expect(texts.join()).not.toContain(HOST);
});

it('a message that gives its reason a thousand times shows only the first reasons', async () => {
  const reader = messagesFormat.openStream({
    ...{ upstreamModel: 'm', publicModel: 'm', showUsage: true, hidden, ownId: 'gen-1', createdAtS: 1 },
  });
  const message = { id: 'a', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } };
  const deltas = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ type: 'message_delta', delta: { stop_reason: `Stop ${at}` }, usage: { output_tokens: 2 } },
  }));
  const events = [{ type: 'message_start', message }, ...deltas, { type: 'message_stop' }];
  const { text } = await relayStream(reader, piecesOf(events.map(eventOf).join(''), 1e6));
  const shown = text + reader.end({ identity, shown: null, tokens }).toString();
  expect(shown.match(/"Stop \d+"/g)).toHaveLength(TEXTS_MAX);
  expect(shown.match(/"stop_reason":null/g)?.length).toBeGreaterThanOrEqual(1_000 - TEXTS_MAX);
});
