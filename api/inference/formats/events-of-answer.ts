import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { parseExact } from '../json/exact-json.ts';
import { REASONING_NAMES } from '../price/answer-part.ts';
import { eventsOfMessage } from './events-of-message.ts';
import { eventsOfResponse } from './events-of-response.ts';
import { dataEvent } from './stream-text.ts';
import { piecesOf } from './text-pieces.ts';
import { recordOf, records, textOf } from './values.ts';
import { saysNothing } from './whole-message.ts';

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
  const repeated = repeatedIn(frame);
  const last = usage === undefined ? [] : [data({ ...repeated, object, choices: [], usage })];
  return Buffer.concat([
    // An answer without choices is one all the same.
    ...(chunks.length === 0 ? [{ choices: [] }] : chunks).map((chunk, at) =>
      data({ ...(at === 0 ? frame : repeated), object, ...chunk }),
    ),
    ...last,
    dataEvent(Buffer.from('[DONE]')),
  ]);
}

/** Members that every chunk has. Others stand in the first one alone: they may be as long as the answer. */
const repeatedIn = (frame: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(frame).filter(
      ([name, value]) => REPEATED.has(name) && String(value).length <= UPSTREAM_TEXT_CHARS_MAX,
    ),
  );

const REPEATED: ReadonlySet<string> = new Set([
  'id',
  'created',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
]);

/** The chunks of one choice in the order in which a model writes: its role, its texts in pieces, its calls, and why it ends. */
function chunksOf({ index, message, finish_reason, logprobs, ...rest }: Record<string, unknown>): object[] {
  const { role, tool_calls: calls, ...said } = recordOf(message);
  const chunk = (delta: object, more: object = {}): object => ({
    choices: [{ index, delta, finish_reason: null, ...more }],
  });
  const atOnce = Object.entries(said).filter(([name, value]) =>
    WRITTEN.has(name) ? Array.isArray(value) && value.length === 0 : value !== null,
  );
  const { content, refusal, annotations } = said;
  const deltas = [
    ...reasoningDeltas(said),
    ...deltasOf('content', content),
    ...deltasOf('refusal', refusal),
    // Clients find a citation's place in the text that has come before it.
    ...(saysNothing(annotations) ? [] : [{ annotations }]),
    ...records(calls).flatMap((call, number) =>
      chunksOfCall({ index: number, ...call }).map((piece) => ({ tool_calls: [piece] })),
    ),
  ];
  const begun = {
    role: role ?? 'assistant',
    ...Object.fromEntries(atOnce),
    ...(saysNothing(content) ? { content: typeof content === 'string' ? content : null } : {}),
  };
  return [
    chunk(begun, rest),
    ...deltas.map((delta) => chunk(delta)),
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

/** Members in which servers repeat the reasoning, or sign it. */
const REASONING_RECORDS = [
  'reasoning_details',
  'thinking_blocks',
  'provider_specific_fields',
  'reasoning_opaque',
  'signature',
];

/** Members that a model writes bit by bit, each in chunks of its own. */
const WRITTEN: ReadonlySet<string> = new Set([
  ...REASONING_NAMES,
  ...REASONING_RECORDS,
  'content',
  'refusal',
  'annotations',
]);

/** A list of parts is not cut. */
const deltasOf = (name: string, value: unknown): object[] =>
  typeof value === 'string'
    ? piecesOf(value).map((piece) => ({ [name]: piece }))
    : saysNothing(value)
      ? []
      : [{ [name]: value }];

/** Servers write the same reasoning under several names. In one delta it is read once. */
function reasoningDeltas(message: Record<string, unknown>): object[] {
  const deltas: Record<string, unknown>[] = [];
  for (const name of REASONING_NAMES) {
    for (const [at, delta] of deltasOf(name, message[name]).entries())
      deltas[at] = { ...deltas[at], ...delta };
  }
  // A signature stands behind all that it is for.
  const last = Math.max(0, deltas.length - 1);
  for (const name of REASONING_RECORDS)
    if (!saysNothing(message[name])) deltas[last] = { ...deltas[last], [name]: message[name] };
  return deltas;
}

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
