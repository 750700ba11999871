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

/*
 * By how much a prompt may be longer than the bytes of the caller's body: servers print numbers, tools and schemas again
 * in their own way, and describe tools in words of their own.
 */

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
export function layoutTokens(body: Readonly<Record<string, unknown>>): number {
  let tokens = 0;
  for (const member of PRINTED) tokens += linesOf(body[member], 0);
  return tokens;
}

const PRINTED = ['tools', 'functions', 'response_format', 'text', 'output_config'] as const;

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
export function toolPromptTokens({ tools }: Readonly<Record<string, unknown>>): number {
  if (!Array.isArray(tools) || tools.length === 0) return 0;
  return tools.reduce((sum: number, tool) => sum + ownPromptTokens(tool), TOOL_USE_PROMPT_TOKENS);
}

function ownPromptTokens(tool: unknown): number {
  const type = isRecord(tool) && typeof tool.type === 'string' ? tool.type : 'custom';
  if (type === 'namespace' && isRecord(tool) && Array.isArray(tool.tools))
    return tool.tools.length * JOINED_NAME_TOKENS;
  const isText = isRecord(tool) && tool.type === 'custom' && tool.input_schema === undefined;
  if (isText) return CUSTOM_TOOL_TOKENS;
  if (DESCRIBED_BY_CALLER.has(type)) return 0;
  return type.includes('toolset') ? TOOLSET_PROMPT_TOKENS : SERVER_TOOL_PROMPT_TOKENS;
}

const DESCRIBED_BY_CALLER: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);
