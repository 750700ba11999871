import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { parseExact } from '../json/exact-json.ts';
import { eventsOfMessage } from './events-of-message.ts';
import { eventsOfResponse } from './events-of-response.ts';
import { dataEvent } from './stream-text.ts';
import { piecesOf } from './text-pieces.ts';
import { recordOf, records, textOf } from './values.ts';

/**
 * The stream that a whole answer would have been, in the same format: for a caller who waits for events of a server that sends none.
 * `null`: it is no answer.
 */
export function eventsOfAnswer(format: FormatName, bytes: Buffer): Buffer | null {
  const answer = parsed(bytes);
  if (!isRecord(answer)) return null;
  switch (format) {
    case 'chat':
      return eventsOfChat(answer);
    case 'responses':
      return eventsOfResponse(answer);
    case 'messages':
      return eventsOfMessage(answer);
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseExact(bytes.toString('utf8'));
  } catch {
    return null;
  }
}

const data = (value: object): Buffer => dataEvent(Buffer.from(JSON.stringify(value)));

function eventsOfChat({ choices, usage, ...frame }: Record<string, unknown>): Buffer {
  const object = 'chat.completion.chunk';
  const chunks = records(choices).flatMap((choice, index) => chunksOf({ index, ...choice }));
  const last = usage === undefined ? [] : [data({ ...frame, object, choices: [], usage })];
  return Buffer.concat([
    // An answer without choices is one all the same.
    ...(chunks.length === 0 ? [{ choices: [] }] : chunks).map((chunk) =>
      data({ ...frame, object, ...chunk }),
    ),
    ...last,
    dataEvent(Buffer.from('[DONE]')),
  ]);
}

/** The chunks of one choice: its role, its texts in pieces, its calls, and why it ends. */
function chunksOf({ index, message, finish_reason, logprobs, ...rest }: Record<string, unknown>): object[] {
  const { role, tool_calls: calls, ...said } = recordOf(message);
  const texts = Object.entries(said).filter(([name, value]) => isPieced(name) && textOf(value) !== '');
  const names = new Set(texts.map(([name]) => name));
  const whole = Object.entries(said).filter(([name]) => !names.has(name));
  const chunk = (delta: object, more: object = {}): object => ({
    choices: [{ index, delta, finish_reason: null, ...more }],
  });
  const pieces = PIECED.flatMap((name) =>
    piecesOf(names.has(name) ? textOf(said[name]) : '').map((piece) => chunk({ [name]: piece })),
  );
  return [
    chunk({ role: role ?? 'assistant', ...Object.fromEntries(whole) }, rest),
    ...pieces,
    ...records(calls).flatMap((call, number) =>
      chunksOfCall({ index: number, ...call }).map((piece) => chunk({ tool_calls: [piece] })),
    ),
    {
      choices: [
        {
          index,
          delta: {},
          ...(logprobs === undefined ? {} : { logprobs }),
          finish_reason: finish_reason ?? null,
        },
      ],
    },
  ];
}

/** Texts that come in pieces, in the order in which a model writes them. */
const PIECED: readonly string[] = ['reasoning_content', 'reasoning', 'content', 'refusal'];
const isPieced = (name: string): boolean => PIECED.includes(name);

/** A call begins with its name and the first of its arguments; the rest of long ones follows. */
function chunksOfCall(call: Record<string, unknown>): object[] {
  const { function: called } = call;
  const json = textOf(recordOf(called).arguments);
  if (!isRecord(called) || json === '') return [call];
  const [first, ...more] = piecesOf(json);
  return [
    { ...call, function: { ...called, arguments: first } },
    ...more.map((piece) => ({ index: call.index, function: { arguments: piece } })),
  ];
}
