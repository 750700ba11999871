import { isRecord } from '#core/is-record.ts';
import { SERVER_TOOL_PROMPT_TOKENS } from '#core/limits.ts';
import type { JsonObject } from '../json/json-object.ts';

/** What a provider tells the model about a set of its own tools, which the body names only as a set. */
export const TOOLSET_PROMPT_TOKENS = 20_000;
/** The longest name of a function, which a tool in a namespace is given at some providers, and its schema where it takes a text. */
export const JOINED_NAME_TOKENS = 256;
/** The schema and the words with which a tool that takes a text becomes a function at some providers. */
export const CUSTOM_TOOL_TOKENS = 192;
/** What a provider tells the model about the use of tools: up to 530 tokens for the oldest Claude models. */
export const TOOL_USE_PROMPT_TOKENS = 1_000;

/** Chat templates add markers around the messages that the body's bytes do not hold. */
const TEMPLATE_TOKENS = 512;

/**
 * Byte-level tokenizers never make more tokens than bytes. The caps are left out, so that a cap that the gateway named as
 * fitting fits when it is sent.
 */
export function promptBytes({ members }: JsonObject, capFields: ReadonlySet<string>): number {
  let bytes = 0;
  for (const { key, startsAt, endsAt } of members) if (!capFields.has(key)) bytes += endsAt - startsAt;
  return bytes;
}

/**
 * By how much a prompt may be longer than the bytes of a body and the numbers that grow in it: servers print tools and schemas in their
 * own way, describe tools in words of their own, and put marks around messages.
 */
export function tokensBesideText(body: Readonly<Record<string, unknown>>): number {
  const brought = broughtTools(body);
  return layoutTokens(body, brought) + toolPromptTokens(body, brought) + TEMPLATE_TOKENS;
}

/** No prompt that a provider makes of a translation is longer. Its numbers may be marked in `body`. */
export function translatedTokensMax(object: JsonObject, body: object): number {
  const members = isRecord(body) ? body : {};
  const numbers = object.hasExponent ? printedNumberBytes(object, parsed(object)) : 0;
  const { effort } = isRecord(members.output_config) ? members.output_config : {};
  const effortBytes = typeof effort === 'string' ? effort.length : 0;
  return promptBytes(object, NEXT_TO_PROMPT) - effortBytes + numbers + tokensBesideText(members);
}

const parsed = ({ bytes }: JsonObject): Readonly<Record<string, unknown>> =>
  JSON.parse(bytes.toString('utf8'));

/** Members of a translation that are in no prompt. Some are shares of the cap, and so is the effort in `output_config`. */
const NEXT_TO_PROMPT: ReadonlySet<string> = new Set(['max_tokens', 'thinking', 'reasoning_effort']);

/**
 * What numbers may grow to where a server prints them anew into the prompt, as those of tools and schemas: `1e20` has
 * four bytes and 21 digits. Those beside the messages, caps among them, are in no prompt.
 */
export function printedNumberBytes(
  { hasExponent }: JsonObject,
  body: Readonly<Record<string, unknown>>,
): number {
  if (!hasExponent) return 0;
  let length = 0;
  for (const member of Object.values(body)) if (typeof member !== 'number') length += printedIn(member);
  return length;
}

/** Some print a whole number as a fraction. */
const FRACTION_BYTES = '.0'.length;

function printedIn(value: unknown): number {
  if (typeof value === 'number') return String(value).length + FRACTION_BYTES;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) length += printedIn(inner);
  return length;
}

/**
 * What tools and schemas may grow by where a chat template prints them with a line for every value, as Llama's do:
 * blanks and line ends are no bytes of the body.
 */
export function layoutTokens(body: Readonly<Record<string, unknown>>, brought = broughtTools(body)): number {
  let tokens = 0;
  for (const member of PRINTED) tokens += linesOf(body[member], 0);
  for (const tools of brought) tokens += linesOf(tools, 0);
  return tokens;
}

const PRINTED = ['tools', 'functions', 'response_format', 'text', 'output_config', 'output_format'] as const;

/** The line's end, its indent, and the blank after a colon; of a list or an object, what closes it. */
const LINE_TOKENS = 3;
/** Four blanks each: tokenizers have one token for as many. */
const LEVELS_PER_TOKEN = 7;

/** No deeper than parsing has checked. */
function linesOf(value: unknown, depth: number): number {
  if (value === undefined) return 0;
  // Deep ones are indented by more than one token, where they open and where they close.
  let tokens = LINE_TOKENS + 2 * Math.floor(depth / LEVELS_PER_TOKEN);
  if (typeof value !== 'object' || value === null) return tokens;
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    tokens += linesOf(inner, depth + 1);
  return tokens;
}

/**
 * What a provider tells the model of tools beyond the bytes of the body: how tools are used, and what tools of its own are,
 * of which the body has a type alone. Those that it runs itself are counted beside this, with their results.
 */
export function toolPromptTokens(
  body: Readonly<Record<string, unknown>>,
  brought = broughtTools(body),
): number {
  const lists = [body.tools, memberOf(body, 'functions'), ...brought];
  if (!lists.some((list) => Array.isArray(list) && list.length > 0)) return 0;
  return ownPromptTokensOf([body.tools, ...brought].flat(), TOOL_USE_PROMPT_TOKENS);
}

/** @param more What is told of all of them together. */
const ownPromptTokensOf = (tools: readonly unknown[], more: number): number =>
  tools.reduce((sum: number, tool) => sum + ownPromptTokens(tool), more);

function ownPromptTokens(tool: unknown): number {
  if (!isRecord(tool)) return 0;
  const type = typeof tool.type === 'string' ? tool.type : 'custom';
  if (type === 'namespace')
    return Array.isArray(tool.tools)
      ? ownPromptTokensOf(tool.tools, tool.tools.length * JOINED_NAME_TOKENS)
      : 0;
  if (tool.type === 'custom' && tool.input_schema === undefined) return CUSTOM_TOOL_TOKENS;
  if (DESCRIBED_BY_CALLER.has(type)) return 0;
  return type.includes('toolset') ? TOOLSET_PROMPT_TOKENS : SERVER_TOOL_PROMPT_TOKENS;
}

const DESCRIBED_BY_CALLER: ReadonlySet<string> = new Set(['function', 'custom']);

/** The lists of tools that stand among the messages: items of one format bring whole lists, blocks of another single tools. */
export function broughtTools(body: Readonly<Record<string, unknown>>): readonly (readonly unknown[])[] {
  const found: (readonly unknown[])[] = [];
  for (const item of listOf(memberOf(body, 'input')))
    if (isRecord(item) && Array.isArray(item.tools)) found.push(item.tools);
  for (const message of listOf(memberOf(body, 'messages')))
    if (isRecord(message)) addDefinitions(message.content, found);
  return found;
}

/** A member that not every format has: it is not asked for where it is not. */
const memberOf = (body: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(body, name) ? body[name] : undefined;

function addDefinitions(blocks: unknown, found: (readonly unknown[])[]): void {
  for (const block of listOf(blocks)) {
    if (!isRecord(block)) continue;
    if (block.type === 'compaction') addDefinitions(block.tool_changes, found);
    if (block.type === 'tool_addition' && isRecord(block.tool) && isRecord(block.tool.definition))
      found.push([block.tool.definition]);
  }
}

const NONE: readonly unknown[] = [];
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : NONE);
