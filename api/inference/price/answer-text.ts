import { isRecord } from '#core/is-record.ts';
import { MESSAGE_BLOCKS_MAX } from '#core/limits.ts';
import { plainNumber } from '../json/exact-json.ts';
import { REASONING_NAMES, readAnswerPart, reasoningInDetails } from './answer-part.ts';
import { newComparedText } from './call-arguments.ts';
import { CallText } from './call-text.ts';
import { shownTextIn } from './shown-text.ts';
import { writtenBytes } from './written-bytes.ts';

/**
 * The text of one answer, as far as an estimate needs it: what the model wrote as text, refusal and reasoning, and the names and
 * arguments of the calls that it made. It is the same whichever format the answer came in, and whether it was streamed.
 */
export class AnswerText {
  #textBytes = 0;
  /** A running sum: some servers send a usage record in every chunk, and each is compared with the text so far. */
  #callBytes = 0;
  #comparedPieces = 0;
  readonly #calls = new Map<string, CallText>();
  /** The calls of each choice. */
  readonly #choices = new Map<string, CallsOfChoice>();
  /** The bytes at the beginning of each block that has not ended. */
  readonly #blocks = new Map<string, number>();
  #lastBlockEndedAt = 0;
  readonly #compared = newComparedText();

  get bytes(): number {
    return this.#textBytes + this.#callBytes;
  }

  /** Without the calls of tools. */
  get textBytes(): number {
    return this.#textBytes;
  }

  /**
   * Changes with each piece that does not count by its own length alone: pieces of calls, and texts that may repeat others. Another
   * event with the same bytes around its text may count otherwise, so an event with such a piece must be parsed.
   */
  get comparedPieces(): number {
    return this.#comparedPieces;
  }

  add(text: unknown): void {
    if (typeof text === 'string') this.#textBytes += writtenBytes(text);
  }

  /** Counts a text unless it is one of those that were counted in other places, of which servers write some twice. */
  addUnlessIn(known: readonly string[], text: string): void {
    if (text === '') return;
    if (known.includes(text)) this.#comparedPieces++;
    else this.add(text);
  }

  addBytes(bytes: number): void {
    this.#textBytes += bytes;
  }

  /** Counts a text that is the whole of the answer so far, of which some may be counted already. */
  atLeast(bytes: number): void {
    this.#comparedPieces++;
    this.#textBytes += Math.max(0, bytes - this.bytes);
  }

  /** The longest of some texts that may all be the same one. */
  longestOf(texts: readonly string[]): string {
    const [first = '', ...others] = texts.filter((text) => text !== '');
    if (others.length > 0) this.#comparedPieces++;
    return others.reduce((longest, text) => (text.length > longest.length ? text : longest), first);
  }

  beginBlock(key: string): void {
    if (this.#blocks.size < MESSAGE_BLOCKS_MAX) this.#blocks.set(key, this.bytes);
  }

  /** @param bytes The whole block as its end repeats it; zero: it is not repeated. Only what did not come before counts. */
  endBlock(key: string, bytes: number): void {
    const from = this.#blocks.get(key) ?? this.#lastBlockEndedAt;
    this.#blocks.delete(key);
    if (bytes > 0) this.atLeast(from + bytes);
    this.#lastBlockEndedAt = this.bytes;
  }

  /** @param choice The choice that has the call; only a chat has several. */
  call(key: string, choice = ''): CallText {
    this.#comparedPieces++;
    return this.#calls.get(key) ?? this.beginCall(key, choice);
  }

  /** A new call under the key. The call that had the key before still counts: some servers give all calls one number. */
  beginCall(key: string, choice = ''): CallText {
    return this.#begin(key, choice, 'tools');
  }

  /**
   * The call of a choice in the way that chats had before tools. Some servers repeat a call of a tool in this way, so it counts only as
   * far as it is longer than those.
   */
  legacyCall(choice: string): CallText {
    this.#comparedPieces++;
    const key = `${choice} function`;
    return this.#calls.get(key) ?? this.#begin(key, choice, 'legacy');
  }

  #begin(key: string, choice: string, kind: keyof CallsOfChoice): CallText {
    const known = this.#choices.get(choice) ?? { tools: 0, legacy: 0 };
    this.#choices.set(choice, known);
    const call = new CallText((bytes) => {
      const before = Math.max(known.tools, known.legacy);
      known[kind] += bytes;
      this.#callBytes += Math.max(known.tools, known.legacy) - before;
    }, this.#compared);
    this.#calls.set(key, call);
    return call;
  }
}

/** The bytes of the calls of one choice, by the way in which they are written. */
interface CallsOfChoice {
  tools: number;
  legacy: number;
}

/** An index or an id. A provider may write anything there, also what cannot be printed. */
export function keyOf(value: unknown, otherwise: string | number): string {
  const key = plainNumber(value);
  return typeof key === 'number' || typeof key === 'string' ? String(key) : String(otherwise);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((each) => isRecord(each)) : [];

/** A chunk of a chat, or a whole one. Some servers repeat the whole message beside its pieces, or behind them. */
export function addChat(text: AnswerText, answer: Readonly<Record<string, unknown>>): void {
  const { choices } = answer;
  const list = Array.isArray(choices) ? choices : [];
  let whole: AnswerText | null = null;
  const all: string[] = [];
  for (const [place, choice] of list.entries()) {
    if (typeof choice === 'string') text.add(choice);
    if (!isRecord(choice)) continue;
    const { index, delta, message } = choice;
    const key = keyOf(index, place);
    const said: string[] = [];
    if (isRecord(delta)) addChatMessage(text, key, delta, said);
    if (isRecord(message)) {
      whole ??= new AnswerText();
      // Pieces may be parts of the message, so they are not compared with it.
      said.push(...saidIn(whole, key, message));
    }
    // Some servers have the text where completions had it before chats, or no message around it, alone or once more.
    if (hasOwnMembers(choice))
      addChatMessage(isRecord(message) && whole !== null ? whole : text, key, choice, said);
    all.push(...said);
  }
  if (whole !== null) text.atLeast(whole.bytes);
  for (const name of BESIDE_CHOICES)
    if (answer[name] !== undefined) text.addUnlessIn(all, shownTextIn(answer[name]));
}

/** Members in which some servers have the text beside the choices. */
const BESIDE_CHOICES = ['content', 'text', 'output_text'] as const;

function saidIn(text: AnswerText, choice: string, message: Record<string, unknown>): string[] {
  const said: string[] = [];
  addChatMessage(text, choice, message, said);
  return said;
}

/** Whether a choice has members beside those that every choice has. */
function hasOwnMembers(choice: Record<string, unknown>): boolean {
  for (const name in choice) if (!CHOICE_MEMBERS.has(name)) return true;
  return false;
}

const CHOICE_MEMBERS: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'native_finish_reason',
  'logprobs',
]);

/** @param said The texts of the choice that were counted already. Those of the message are added. */
function addChatMessage(
  text: AnswerText,
  choice: string,
  message: Record<string, unknown>,
  said: string[],
): void {
  const earlier = [...said];
  const content = contentTextOf(message.content);
  const reasoning = text.longestOf(reasoningTextsOf(message));
  const refusal = shownTextIn(message.refusal);
  for (const each of [content, reasoning, refusal]) text.addUnlessIn(earlier, each);
  said.push(content, reasoning, refusal);
  for (const name of OTHER_TEXTS) {
    if (message[name] === undefined) continue;
    const other = shownTextIn(message[name]);
    text.addUnlessIn(said, other);
    said.push(other);
  }
  // One server sends each piece of a call by itself.
  const calls = isRecord(message.tool_calls) ? [message.tool_calls] : records(message.tool_calls);
  for (const [place, call] of calls.entries())
    addToolCall(text, choice, `${choice} ${keyOf(call.index, keyOf(call.id, place))}`, call);
  if (isRecord(message.function_call)) addFunction(text.legacyCall(choice), message.function_call);
}

function addToolCall(text: AnswerText, choice: string, key: string, call: Record<string, unknown>): void {
  const known = text.call(key, choice);
  const counted = known.begins(call) ? text.beginCall(key, choice) : known;
  counted.id ||= textOf(call.id);
  addFunction(counted, call.function);
  if (isRecord(call.custom)) {
    counted.name(call.custom.name);
    text.add(call.custom.input);
  }
  // Some servers write a call without a record around its name and arguments, alone or once more.
  const inner = isRecord(call.function) ? call.function : isRecord(call.custom) ? call.custom : null;
  const json = call.arguments ?? call.input ?? null;
  if (json === null || json === inner?.arguments || json === inner?.input) return;
  const own = inner === null ? counted : text.call(`${key} flat`, choice);
  addFunction(own, { name: call.name, arguments: json });
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

/** The reasoning of a message under each name that it has. Some servers say the same under several, as a text and in parts. */
function reasoningTextsOf(message: Readonly<Record<string, unknown>>): string[] {
  const texts: string[] = [];
  for (const name of REASONING_MEMBERS)
    if (message[name] !== undefined) texts.push(shownTextIn(message[name]));
  if (isRecord(message.provider_specific_fields)) texts.push(reasoningInDetails(message));
  return texts;
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

/** An event of a stream of a message. */
export function addMessages(text: AnswerText, event: Readonly<Record<string, unknown>>): void {
  const index = keyOf(event.index, 0);
  const { content_block: block, delta, message } = event;
  switch (event.type) {
    case 'content_block_start':
      text.beginBlock(index);
      if (isRecord(block)) addBlock(text, index, block, true);
      return;
    case 'content_block_delta':
      if (!isRecord(delta)) return;
      if (delta.type === 'input_json_delta') text.call(index).arguments(delta.partial_json);
      text.add(shownTextIn(delta));
      return;
    case 'content_block_stop':
      text.endBlock(index, isRecord(block) ? messageBytes({ content: [block] }) : 0);
      return;
    case 'message_start':
      // Its blocks are not shown, because clients put those that follow behind them.
      if (isRecord(message)) addMessage(text, { ...message, content: undefined });
      return;
    case 'ping':
      return;
    default:
      addMessage(text, event);
      if (isRecord(delta)) addMessage(text, delta);
      // Some servers repeat the whole message at its end.
      if (isRecord(message)) text.atLeast(messageBytes(message));
  }
}

function messageBytes(message: Readonly<Record<string, unknown>>): number {
  const text = new AnswerText();
  addMessage(text, message);
  return text.bytes;
}

/** A whole message: its blocks, and texts beside them. */
export function addMessage(text: AnswerText, message: Readonly<Record<string, unknown>>): void {
  if (!Array.isArray(message.content)) text.add(shownTextIn(message));
  else {
    for (const [place, block] of message.content.entries()) {
      if (isRecord(block)) addBlock(text, String(place), block);
      else text.add(block);
    }
    text.add(shownTextIn({ ...message, content: undefined }));
  }
}

/** @param begins A block that begins under a number is a call of its own, whichever had the number before. */
function addBlock(text: AnswerText, index: string, block: Record<string, unknown>, begins = false): void {
  const type = textOf(block.type);
  // The model did not write the results of the provider's own tools.
  if (type.endsWith('tool_result')) return;
  text.add(shownTextIn(block));
  if (!type.endsWith('tool_use')) return;
  const known = text.call(index);
  const call = begins ? text.beginCall(index) : known;
  call.name(block.name);
  call.initial(block.input);
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

/** The items of a whole response, and their text together, which some servers write alone. */
export function addResponses(
  text: AnswerText,
  { output, output_text: joined }: Readonly<Record<string, unknown>>,
): void {
  if (typeof output === 'string') text.add(output);
  let inMessages = text.bytes;
  const items = isRecord(output) ? [output] : records(output);
  for (const [place, item] of items.entries()) {
    const before = text.bytes;
    addItem(text, String(place), item);
    if (item.type === 'message') inMessages += text.bytes - before;
  }
  text.addBytes(Math.max(0, Buffer.byteLength(shownTextIn(joined)) - inMessages));
}

export function addItem(text: AnswerText, key: string, item: Readonly<Record<string, unknown>>): void {
  const { summary, content, code, revised_prompt, ...others } = item;
  // The model writes the prompt of an image again.
  for (const value of [summary, content, code, revised_prompt, others]) text.add(shownTextIn(value));
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
  'mcp_approval_request',
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
