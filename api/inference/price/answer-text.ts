import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { JsonScan } from '../json/json-scan.ts';
import { REASONING_NAMES, readAnswerPart, reasoningInDetails, reasoningTextOf } from './answer-part.ts';
import { CallArguments, type ComparedText, newComparedText } from './call-arguments.ts';
import { joinedName } from './call-name.ts';
import { shownTextIn } from './shown-text.ts';

/**
 * The text of one answer, as far as an estimate needs it: what the model wrote as text, refusal and reasoning, and the names and
 * arguments of the calls that it made. It is the same whichever format the answer came in, and whether it was streamed.
 */
export class AnswerText {
  #textBytes = 0;
  /** A running sum: some servers send a usage record in every chunk, and each is compared with the text so far. */
  #callBytes = 0;
  readonly #calls = new Map<string, CallText>();
  readonly #compared = newComparedText();

  get bytes(): number {
    return this.#textBytes + this.#callBytes;
  }

  /** Without the calls of tools. */
  get textBytes(): number {
    return this.#textBytes;
  }

  add(text: unknown): void {
    if (typeof text === 'string') this.#textBytes += Buffer.byteLength(text);
  }

  addBytes(bytes: number): void {
    this.#textBytes += bytes;
  }

  /** Counts a text that is the whole of the answer so far, of which some may be counted already. */
  atLeast(bytes: number): void {
    this.#textBytes += Math.max(0, bytes - this.bytes);
  }

  call(key: string): CallText {
    return this.#calls.get(key) ?? this.beginCall(key);
  }

  /** A new call under the key. The call that had the key before still counts: some servers give all calls one number. */
  beginCall(key: string): CallText {
    const call = new CallText((bytes) => {
      this.#callBytes += bytes;
    }, this.#compared);
    this.#calls.set(key, call);
    return call;
  }
}

/** One call of a tool. Its arguments count as compact JSON, because only some formats keep the blanks that a model wrote. */
export class CallText {
  /** Empty: its server has not told one. */
  id = '';
  readonly #addBytes: (bytes: number) => void;
  readonly #streamed: CallArguments;
  /** The bytes of the part of its arguments that waits for the next piece. */
  #waitingBytes = 0;
  #bytes = 0;
  #name = '';
  #nameBytes = 0;
  #jsonBytes = 0;
  readonly #scan = new JsonScan();
  /** The bytes of the text that a call begins with. They count when nothing more comes. */
  #initialBytes = 0;

  /** @param addBytes Learns by how much each change makes the call longer. */
  constructor(addBytes: (bytes: number) => void, compared: ComparedText) {
    this.#addBytes = addBytes;
    this.#streamed = new CallArguments(compared);
  }

  /** Whether a piece under the key of this call begins another: some servers give all calls one number. */
  begins({ id, function: called }: Readonly<Record<string, unknown>>): boolean {
    const isNamed = isRecord(called) && textOf(called.name) !== '';
    return isNamed && this.id !== '' && textOf(id) !== '' && id !== this.id;
  }

  /** Some servers repeat it in every piece, and others send it in pieces. */
  name(text: unknown): void {
    if (typeof text !== 'string') return;
    const name = joinedName(this.#name, text, this.#jsonBytes > 0);
    if (name === this.#name) return;
    // The whole name is measured only where it replaces the one before, so a name in pieces takes linear time.
    this.#nameBytes =
      name.length === this.#name.length + text.length
        ? this.#nameBytes + Buffer.byteLength(text)
        : Buffer.byteLength(name);
    this.#name = name;
    this.#count();
  }

  initial(input: unknown): void {
    if (!isRecord(input)) return;
    this.#initialBytes = Buffer.byteLength(JSON.stringify(input));
    this.#count();
  }

  arguments(json: unknown): void {
    if (isStructure(json)) this.#jsonBytes += Buffer.byteLength(JSON.stringify(json));
    else if (typeof json === 'string') this.#jsonBytes += Buffer.byteLength(json) - this.#scan.add(json);
    this.#count();
  }

  /** A piece of arguments of which a server may have sent a part already, so not all of it is shown. */
  argumentsOnce(json: unknown, beginsCall: boolean): void {
    if (isStructure(json)) this.arguments(this.#streamed.add(JSON.stringify(json), beginsCall));
    else if (typeof json === 'string') this.arguments(this.#streamed.add(json, beginsCall));
    this.#waitingBytes = Buffer.byteLength(this.#streamed.rest);
    this.#count();
  }

  #count(): void {
    const written = this.#jsonBytes + this.#waitingBytes;
    const json = written === 0 ? this.#initialBytes : written;
    // Empty arguments are written as nothing, as `{}` or as an empty text.
    const bytes = this.#nameBytes + (json === EMPTY_JSON_BYTES ? 0 : json);
    this.#addBytes(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

/** Some servers write the value in the place of its text. */
const isStructure = (json: unknown): boolean => isRecord(json) || Array.isArray(json);

const EMPTY_JSON_BYTES = '{}'.length;

/** An index or an id. A provider may write anything there, also what cannot be printed. */
export function keyOf(value: unknown, otherwise: string | number): string {
  const key = plainNumber(value);
  return typeof key === 'number' || typeof key === 'string' ? String(key) : String(otherwise);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((each) => isRecord(each)) : [];

/** A chunk of a chat, or a whole one. Some servers repeat the whole message beside its pieces, or behind them. */
export function addChat(text: AnswerText, { choices }: Readonly<Record<string, unknown>>): void {
  let whole: AnswerText | null = null;
  for (const [place, { index, delta, message, text: legacy }] of records(choices).entries()) {
    const key = keyOf(index, place);
    const said = isRecord(delta) ? addChatMessage(text, key, delta) : '';
    // Some servers have the text where completions had it before chats, alone or once more.
    if (legacy !== undefined && legacy !== said) text.add(shownTextIn(legacy));
    if (!isRecord(message)) continue;
    whole ??= new AnswerText();
    addChatMessage(whole, key, message);
  }
  if (whole !== null) text.atLeast(whole.bytes);
}

/** @returns The text of its content. */
function addChatMessage(text: AnswerText, choice: string, message: Record<string, unknown>): string {
  // Some servers say the same thing under several names.
  const reasoning = reasoningTextOf(message) || reasoningInDetails(message) || otherReasoningOf(message);
  const content = contentTextOf(message.content);
  text.add(reasoning);
  text.add(content);
  text.add(shownTextIn(message.refusal));
  for (const name of OTHER_TEXTS) {
    const said = message[name] === undefined ? '' : shownTextIn(message[name]);
    if (said !== reasoning && said !== content) text.add(said);
  }
  // One server sends each piece of a call by itself.
  const calls = isRecord(message.tool_calls) ? [message.tool_calls] : records(message.tool_calls);
  for (const [place, call] of calls.entries()) {
    const key = `${choice} ${keyOf(call.index, keyOf(call.id, place))}`;
    const counted = text.call(key).begins(call) ? text.beginCall(key) : text.call(key);
    counted.id ||= textOf(call.id);
    addFunction(counted, call.function);
    if (!isRecord(call.custom)) continue;
    counted.name(call.custom.name);
    text.add(call.custom.input);
  }
  // Some servers repeat the call in the way that chats had before tools.
  if (calls.length === 0 && isRecord(message.function_call))
    addFunction(text.call(`${choice} function`), message.function_call);
  return content;
}

/** Members of a message in which some servers have text. */
const OTHER_TEXTS = [
  'text',
  'output_text',
  'thought',
  'thoughts',
  'transcript',
  'audio',
  'parts',
  'content_parts',
  'provider_specific_fields',
] as const;

function otherReasoningOf(message: Readonly<Record<string, unknown>>): string {
  for (const name of REASONING_MEMBERS) {
    const text = message[name] === undefined ? '' : shownTextIn(message[name]);
    if (text !== '') return text;
  }
  return '';
}

const REASONING_MEMBERS = [...REASONING_NAMES, 'reasoning_details', 'thinking_blocks'] as const;

function contentTextOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return content.map(contentTextOf).join('');
  return isRecord(content) ? readAnswerPart(content)?.text || shownTextIn(content) : '';
}

function addFunction(call: CallText, value: unknown): void {
  if (!isRecord(value)) return;
  call.name(value.name);
  call.argumentsOnce(value.arguments, textOf(value.name) !== '');
}

/** A whole message, or what the events of one bring. */
export function addMessages(text: AnswerText, event: Readonly<Record<string, unknown>>): void {
  const index = keyOf(event.index, 0);
  const { content_block: begun, delta } = event;
  if (event.type === 'content_block_start' && isRecord(begun)) addBlock(text, index, begun, true);
  else if (event.type === 'content_block_delta' && isRecord(delta)) {
    if (delta.type === 'input_json_delta') text.call(index).arguments(delta.partial_json);
    else text.add(shownTextIn(delta));
  } else if (!Array.isArray(event.content)) text.add(shownTextIn(event.content));
  else for (const [place, block] of records(event.content).entries()) addBlock(text, String(place), block);
}

/** @param begins A block that begins under a number is a call of its own, whichever had the number before. */
function addBlock(text: AnswerText, index: string, block: Record<string, unknown>, begins = false): void {
  const type = textOf(block.type);
  // The model did not write the results of the provider's own tools.
  if (type.endsWith('tool_result')) return;
  if (!type.endsWith('tool_use')) text.add(shownTextIn(block));
  else {
    const call = begins ? text.beginCall(index) : text.call(index);
    call.name(block.name);
    call.initial(block.input);
  }
}

/** The events of a stream of responses, but for the last. */
export function addResponsesEvent(text: AnswerText, event: Readonly<Record<string, unknown>>): void {
  const { type, item, delta } = event;
  const key = keyOf(event.output_index, keyOf(event.item_id, 0));
  if (type === 'response.output_item.added' && isRecord(item)) text.call(key).name(item.name);
  else if (type === 'response.function_call_arguments.delta') text.call(key).arguments(delta);
  else if (textOf(type).endsWith('.delta') && !SOUND_DELTAS.has(type)) text.add(shownTextIn(delta));
}

/** Sound is written as text, too. */
const SOUND_DELTAS: ReadonlySet<unknown> = new Set(['response.audio.delta', 'response.output_audio.delta']);

/** The items of a whole response. */
export function addResponses(text: AnswerText, output: unknown): void {
  if (typeof output === 'string') text.add(output);
  const items = isRecord(output) ? [output] : records(output);
  for (const [place, item] of items.entries()) addItem(text, String(place), item);
}

export function addItem(text: AnswerText, key: string, item: Readonly<Record<string, unknown>>): void {
  const { summary, content, text: said, code } = item;
  for (const value of [summary, content, said, code]) text.add(shownTextIn(value));
  const written = OWN_CALLS.get(item.type)?.(item);
  if (written !== undefined) text.call(key).arguments(written);
  if (!CALLS.has(item.type)) return;
  const call = text.call(key);
  call.name(item.name);
  // The text of a custom tool is no JSON.
  if (item.type === 'custom_tool_call') text.add(item.input);
  else call.arguments(item.arguments);
}

const CALLS: ReadonlySet<unknown> = new Set([
  'function_call',
  'custom_tool_call',
  'tool_search_call',
  'mcp_call',
]);
type WrittenIn = (item: Readonly<Record<string, unknown>>) => unknown;

/** Calls that have items of their own, and what of each the model wrote. */
const OWN_CALLS: ReadonlyMap<unknown, WrittenIn> = new Map<unknown, WrittenIn>([
  ['shell_call', ({ action }) => action],
  ['local_shell_call', ({ action }) => action],
  // One action, or a list of them.
  ['computer_call', ({ action, actions }) => actions ?? action],
  ['apply_patch_call', ({ operation }) => operation],
  ['web_search_call', ({ action }) => (isRecord(action) ? searchIn(action) : undefined)],
  ['file_search_call', ({ queries }) => queries],
]);

/** A search without the pages that it found. Some vendors write its words twice, as one query and as a list of them. */
function searchIn({ sources: _, queries, ...written }: Readonly<Record<string, unknown>>): unknown {
  return written.query === undefined && queries !== undefined ? { ...written, queries } : written;
}
