import { isRecord } from '#core/is-record.ts';
import { typedEvent } from './stream-text.ts';
import { piecesOf } from './text-pieces.ts';
import { records, textOf } from './values.ts';

/** Writes one event with the next number. */
export type WriteEvent = (type: string, members: object) => Buffer;

/** The stream that a whole response would have been: every item and part is added empty, and done with all its content. */
export function eventsOfResponse(response: Record<string, unknown>): Buffer {
  let sequence = 0;
  const write: WriteEvent = (type, members) => typedEvent(type, { sequence_number: sequence++, ...members });
  const { output_text: _, ...members } = response;
  // Events name the item that they belong to, so each has an id.
  const items = records(response.output).map((item, index) =>
    textOf(item.id) === '' ? { ...item, id: `item_${index}` } : item,
  );
  const begun = {
    ...members,
    status: 'in_progress',
    output: [],
    usage: null,
    ...('completed_at' in response ? { completed_at: null } : {}),
    ...('incomplete_details' in response ? { incomplete_details: null } : {}),
  };
  const type = response.status === 'incomplete' ? 'response.incomplete' : 'response.completed';
  return Buffer.concat([
    write('response.created', { response: begun }),
    write('response.in_progress', { response: begun }),
    ...items.flatMap((item, output_index) => eventsOfItem(item, output_index, write)),
    write(type, { response: { ...response, output: items } }),
  ]);
}

function eventsOfItem(item: Record<string, unknown>, output_index: number, write: WriteEvent): Buffer[] {
  return [
    ...eventsBeforeEnd(item, output_index, write),
    write('response.output_item.done', { output_index, item }),
  ];
}

/** An item that has an id, from its beginning up to the event that ends it. */
export function eventsBeforeEnd(
  item: Record<string, unknown>,
  output_index: number,
  write: WriteEvent,
): Buffer[] {
  return [
    write('response.output_item.added', { output_index, item: begunItem(item) }),
    ...eventsInItem(item, { item_id: item.id, output_index }, write),
  ];
}

/** An item as it begins: with its names, and with nothing yet of what it says. */
export function begunItem(item: Record<string, unknown>): object {
  const begun: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(item)) {
    if (name === 'action' && isRun(item)) begun.action = withEmptyLists(value);
    if (NOT_YET.has(name)) continue;
    begun[name] = WRITTEN.has(name) ? nothingOf(value) : RESULTS.has(name) ? null : value;
  }
  return 'status' in item ? { ...begun, status: 'in_progress' } : begun;
}

/** Clients read the commands of a shell's call from its beginning on, and fail where it has no place for them. */
const isRun = ({ type }: Record<string, unknown>): boolean =>
  type === 'shell_call' || type === 'local_shell_call';

const withEmptyLists = (action: unknown): unknown =>
  isRecord(action)
    ? Object.fromEntries(
        Object.entries(action).map(([name, value]) => [name, Array.isArray(value) ? [] : value]),
      )
    : action;

/** The arguments of some calls are a record. */
function nothingOf(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return [];
  return isRecord(value) ? {} : value;
}

/** Members that the model writes into an item bit by bit. */
const WRITTEN: ReadonlySet<string> = new Set(['content', 'summary', 'arguments', 'input', 'code', 'tools']);
/** Members that an item has once it is done. */
const RESULTS: ReadonlySet<string> = new Set(['output', 'outputs', 'result', 'results', 'error']);
const NOT_YET: ReadonlySet<string> = new Set(['encrypted_content', 'action']);

/** The events that bring what an item says. */
export function eventsInItem(item: Record<string, unknown>, at: object, write: WriteEvent): Buffer[] {
  switch (item.type) {
    case 'message':
      return records(item.content).flatMap((part, content_index) =>
        eventsOfPart(part, { ...at, content_index }, write),
      );
    case 'reasoning':
      return [
        ...records(item.summary).flatMap((part, summary_index) =>
          eventsOfSummary(part, { ...at, summary_index }, write),
        ),
        ...records(item.content).flatMap((part, content_index) =>
          eventsOfPart(part, { ...at, content_index }, write),
        ),
      ];
    case 'function_call':
      return pieced('response.function_call_arguments', 'arguments', item, { at, name: item.name }, write);
    case 'mcp_call':
      return pieced('response.mcp_call_arguments', 'arguments', item, { at }, write);
    case 'custom_tool_call':
      return pieced('response.custom_tool_call_input', 'input', item, { at }, write);
    case 'code_interpreter_call':
      return pieced('response.code_interpreter_call_code', 'code', item, { at }, write);
    default:
      return [];
  }
}

/** A text of an item in pieces, then once more as a whole. */
function pieced(
  type: string,
  member: string,
  item: Record<string, unknown>,
  { at, name }: { at: object; name?: unknown },
  write: WriteEvent,
): Buffer[] {
  const text = textOf(item[member]);
  return [
    ...piecesOf(text).map((delta) => write(`${type}.delta`, { ...at, delta })),
    write(`${type}.done`, { ...at, ...(name === undefined ? {} : { name }), [member]: text }),
  ];
}

function eventsOfPart(part: Record<string, unknown>, at: object, write: WriteEvent): Buffer[] {
  const begun = write('response.content_part.added', { ...at, part: begunPart(part) });
  const done = write.bind(null, 'response.content_part.done', { ...at, part });
  const said = ((): Buffer[] => {
    switch (part.type) {
      case 'output_text':
        return eventsOfText(part, at, write);
      case 'refusal': {
        const refusal = textOf(part.refusal);
        return [
          ...piecesOf(refusal).map((delta) => write('response.refusal.delta', { ...at, delta })),
          write('response.refusal.done', { ...at, refusal }),
        ];
      }
      case 'reasoning_text': {
        const text = textOf(part.text);
        return [
          ...piecesOf(text).map((delta) => write('response.reasoning_text.delta', { ...at, delta })),
          write('response.reasoning_text.done', { ...at, text }),
        ];
      }
      default:
        return [];
    }
  })();
  return [begun, ...said, done()];
}

function begunPart(part: Record<string, unknown>): object {
  switch (part.type) {
    case 'output_text':
      return { ...part, text: '', annotations: [], ...('logprobs' in part ? { logprobs: [] } : {}) };
    case 'reasoning_text':
      return { ...part, text: '' };
    case 'refusal':
      return { ...part, refusal: '' };
    default:
      return part;
  }
}

function eventsOfText(part: Record<string, unknown>, at: object, write: WriteEvent): Buffer[] {
  const text = textOf(part.text);
  const logprobs = Array.isArray(part.logprobs) ? part.logprobs : [];
  const pieces = piecesOf(text);
  const last = pieces.length - 1;
  return [
    // The probabilities belong to tokens, of which the pieces know nothing, so they come with the last.
    ...pieces.map((delta, index) =>
      write('response.output_text.delta', { ...at, delta, logprobs: index === last ? logprobs : [] }),
    ),
    ...records(part.annotations).map((annotation, annotation_index) =>
      write('response.output_text.annotation.added', { ...at, annotation_index, annotation }),
    ),
    write('response.output_text.done', { ...at, text, logprobs }),
  ];
}

function eventsOfSummary(part: Record<string, unknown>, at: object, write: WriteEvent): Buffer[] {
  const text = textOf(part.text);
  return [
    write('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }),
    ...piecesOf(text).map((delta) => write('response.reasoning_summary_text.delta', { ...at, delta })),
    write('response.reasoning_summary_text.done', { ...at, text }),
    write('response.reasoning_summary_part.done', { ...at, part }),
  ];
}
