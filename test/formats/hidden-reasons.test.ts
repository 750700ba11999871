import { describe, expect, it } from 'vitest';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { answerBounds, readJsonObject } from '../../api/inference/json/json-object.ts';
import { candidate, provider } from '../inference/support.ts';
import { eventOf } from './passed-events.ts';
import { piecesOf, relayStream } from './relay-stream.ts';
import { identity, tokens } from './shown-answers.ts';

/* The reason of an end is a name, and an explanation passes the scrubber. */

const KEY = 'sk-prov-Zx81kQpLm29vTT07';
const WORDS = `cannot reach http://10.1.2.3:8443 with ${KEY}, see /srv/llm/run.py`;
const asked = candidate({ provider: provider({ apiKey: KEY }) });
const charge = { identity, shown: null, tokens };

function shownWhole(format: typeof messagesFormat, body: object): string {
  const read = readJsonObject(Buffer.from(JSON.stringify(body)), answerBounds);
  if (typeof read === 'string') throw new Error(read);
  const answer = format.readAnswer(read.object, read.value);
  if (answer.kind !== 'answer') throw new Error(answer.kind);
  return format.showAnswer(answer, charge, asked).toString();
}

async function shownMessage(end: object, ping: object = {}): Promise<string> {
  const hidden = { provider: asked.provider, upstreamModel: 'm', publicModel: 'm' };
  const reader = messagesFormat.openStream({
    ...{ upstreamModel: 'm', publicModel: 'm', showUsage: true, hidden, ownId: 'gen-1', createdAtS: 1 },
  });
  const message = { id: 'a', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } };
  const events = [
    { type: 'message_start', message: { ...message, ...end } },
    { type: 'ping', ...ping },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Rain' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: end, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  const { text } = await relayStream(reader, piecesOf(events.map(eventOf).join(''), 1e6));
  return text + reader.end(charge).toString();
}

const expectNothing = (shown: string): void => {
  for (const secret of [KEY, '10.1.2.3', '/srv/llm']) expect(shown).not.toContain(secret);
};

describe('a message', () => {
  const ends = { stop_reason: WORDS, stop_sequence: WORDS, stop_details: { explanation: WORDS } };
  const whole = { id: 'a', content: [{ type: 'text', text: 'Rain' }], usage: { input_tokens: 1 } };

  it('tells nothing of its provider in the reason of its end', async () => {
    expectNothing(await shownMessage(ends));
    expectNothing(shownWhole(messagesFormat, { ...whole, ...ends }));
  });

  it.each(['\n\nHuman:', '###', 'END', 'a stop word'])('keeps the stop sequence %j', async (sequence) => {
    const end = { stop_reason: 'stop_sequence', stop_sequence: sequence };
    expect(await shownMessage(end)).toContain(JSON.stringify(sequence));
    expect(JSON.parse(shownWhole(messagesFormat, { ...whole, ...end }))).toMatchObject(end);
  });

  it('has pings without words', async () => {
    const shown = await shownMessage({ stop_reason: 'end_turn' }, { detail: WORDS });
    expectNothing(shown);
    expect(shown).toContain('data: {"type":"ping"}\n\n');
  });
});

it('a response has a status that is a name', () => {
  const body = { id: 'r', object: 'response', output: [], usage: { input_tokens: 1, output_tokens: 1 } };
  const shown = shownWhole(responsesFormat, { ...body, status: WORDS });
  expectNothing(shown);
  expect(JSON.parse(shown)).toMatchObject({ status: 'completed' });
  expect(shownWhole(responsesFormat, { ...body, status: 'incomplete' })).toContain('"status":"incomplete"');
});
