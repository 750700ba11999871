import { isRecord } from '#core/is-record.ts';
import { sampleJson } from './sample-json.ts';

/*
 * The model of agents does this with a conversation: it calls the tools that its task speaks of, step by step, and answers when their
 * results are there. It knows no language: it looks for words, names of tools, and what stands in quotes.
 */

/** The newest task of a conversation, whichever format it came in, and what was done for it since. */
export interface AgentTask {
  text: string;
  /** How many times tools were called; those that were called side by side count as one. */
  rounds: number;
  results: readonly string[];
}

export interface OfferedFunction {
  name: string;
  parameters: unknown;
}

export interface AgentTurn {
  /** Empty where it calls tools. */
  text: string;
  calls: readonly { name: string; argumentsJson: string }[];
}

/** @param body As the caller sent it. */
export function readAgentTask(body: unknown): AgentTask {
  const { messages, input } = isRecord(body) ? body : {};
  if (typeof input === 'string') return { text: withoutNotes(input), rounds: 0, results: [] };
  let task: AgentTask & { results: string[] } = { text: '', rounds: 0, results: [] };
  let isCalling = false;
  for (const item of listOf(messages ?? input)) {
    const text = item.role === 'user' ? withoutNotes(textOf(item.content)) : '';
    if (text !== '') task = { text, rounds: 0, results: [] };
    const isCall = callsIn(item);
    if (isCall && !isCalling) task.rounds++;
    isCalling = isCall;
    task.results.push(...resultsIn(item));
  }
  return task;
}

const listOf = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(({ type, text }) => (type !== 'tool_result' && typeof text === 'string' ? text : ''))
    .join('\n');
}

/** Without what clients tell a model beside the task, such as `<environment_context>…</environment_context>`. */
function withoutNotes(text: string): string {
  let rest = text;
  for (let notes = 0; notes < NOTES_MAX; notes++) {
    const opening = /<([a-z][\w-]{2,40})>/.exec(rest);
    if (opening === null) break;
    const closing = `</${opening[1]}>`;
    const endsAt = rest.indexOf(closing, opening.index);
    if (endsAt < 0) break;
    rest = rest.slice(0, opening.index) + rest.slice(endsAt + closing.length);
  }
  return rest.trim();
}
const NOTES_MAX = 50;

const callsIn = ({ type, tool_calls: calls, content }: Record<string, unknown>): boolean =>
  type === 'function_call' ||
  type === 'custom_tool_call' ||
  listOf(calls).length > 0 ||
  listOf(content).some((block) => block.type === 'tool_use');

function resultsIn({ role, type, content, output }: Record<string, unknown>): string[] {
  if (role === 'tool') return [textOf(content)];
  if (type === 'function_call_output' || type === 'custom_tool_call_output') return [textOf(output)];
  return listOf(content).flatMap((block) => (block.type === 'tool_result' ? [textOf(block.content)] : []));
}

/** Whether a task asks for what stands on the web. */
export const asksForSearch = ({ text }: AgentTask): boolean => /\b(?:search|look up|news|web)\b/i.test(text);

/** The model says this next. */
export function nextTurn(task: AgentTask, tools: readonly OfferedFunction[]): AgentTurn {
  const steps = task.text
    .split(/\bthen\b|[;\n]/i)
    .map((step) => ({ step, called: toolsFor(step, tools) }))
    .filter(({ called }) => called.length > 0);
  const next = steps.length === 0 ? askedOfOneTool(task, tools) : steps[task.rounds];
  if (next !== undefined) return { text: '', calls: next.called.map((tool) => callOf(tool, next.step)) };
  return { text: answerTo(task), calls: [] };
}

/** A question to somebody who has a single tool is a question for that tool, unless it needs none. */
function askedOfOneTool({ text, rounds }: AgentTask, tools: readonly OfferedFunction[]): Step | undefined {
  const isQuestion = text.split(/\s+/).length > 2 && !SUM.test(text) && !/\bhello\b/i.test(text);
  return tools.length === 1 && rounds === 0 && isQuestion ? { step: text, called: tools } : undefined;
}

interface Step {
  step: string;
  called: readonly OfferedFunction[];
}

/** A call of a tool that the request demands. */
export const callOf = ({ name, parameters }: OfferedFunction, step: string): AgentTurn['calls'][number] => ({
  name,
  argumentsJson: JSON.stringify(argumentsFor(parameters, step)),
});

/** As many as models like to call at once. */
const CALLS_MAX = 4;

/** Words of a task, and the tools that are made for it; the first whose words stand in a step decides. */
const DEEDS: readonly (readonly [asked: RegExp, tool: RegExp])[] = [
  [/\b(?:write|create|save|edit|append|add)\b/i, /write|create|edit|save|insert/i],
  [/\b(?:read|open|show|print|view|look at)\b/i, /read|view|open|cat/i],
  [/\b(?:list|find|grep)\b/i, /list|glob|find|grep|^ls$/i],
  [/\b(?:run|execute|command)\b/i, /shell|bash|exec|command|terminal|run/i],
];
/** A shell can do all of it. */
const SHELL = /shell|bash|exec|command|terminal/i;

function toolsFor(step: string, tools: readonly OfferedFunction[]): readonly OfferedFunction[] {
  const named = tools.filter(({ name }) => isNamed(name, step));
  if (named.length > 0) return named.slice(0, CALLS_MAX);
  const deed = DEEDS.find(([asked]) => asked.test(step));
  if (deed === undefined) return [];
  const able = tools.find(({ name }) => deed[1].test(name)) ?? tools.find(({ name }) => SHELL.test(name));
  return able === undefined ? [] : [able];
}

function isNamed(name: string, step: string): boolean {
  const words = name.split(/[_\-.]|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase());
  const said = step.toLowerCase();
  return (
    said.includes(name.toLowerCase()) || (words.length > 1 && words.every((word) => said.includes(word)))
  );
}

/** A text in quotes in a step, and a path, in quotes or not. */
function wordsOf(step: string): { path: string | null; quoted: string | null } {
  const path =
    step
      .split(/[\s`"“”'(),;:]/)
      .map(withoutStop)
      .find(isPath) ?? null;
  return { path, quoted: quotesIn(step).find((text) => text !== path) ?? null };
}

const withoutStop = (word: string): string => (/[.?!]$/.test(word) ? word.slice(0, -1) : word);
const isPath = (word: string): boolean => /^[\w./~-]+$/.test(word) && /[\w~-]\.[a-z]{1,5}$/i.test(word);

/** The texts in quotes, in their order. */
function quotesIn(step: string): string[] {
  const found: { at: number; text: string }[] = [];
  for (const [open, close] of QUOTES) {
    for (let at = step.indexOf(open); at !== -1; at = step.indexOf(open, at + 1)) {
      const endsAt = step.indexOf(close, at + 1);
      if (endsAt === -1) break;
      // Most single quotes are apostrophes, so they count only around whole words.
      const isWhole = open !== "'" || (isBorder(step[at - 1]) && isBorder(step[endsAt + 1]));
      if (isWhole && endsAt > at + 1) found.push({ at, text: step.slice(at + 1, endsAt) });
      if (isWhole) at = endsAt;
    }
  }
  return found.sort((one, other) => one.at - other.at).map(({ text }) => text);
}

const QUOTES = [
  ['`', '`'],
  ['"', '"'],
  ['“', '”'],
  ["'", "'"],
] as const;

const isBorder = (sign: string | undefined): boolean => sign === undefined || /[\s.,;:?!)]/.test(sign);

function commandFor(step: string): string {
  const { path, quoted } = wordsOf(step);
  if (/\b(?:write|create|save)\b/i.test(step) && path !== null)
    return `printf '%s\\n' '${(quoted ?? 'simulated').replaceAll("'", '')}' > ${path}`;
  if (/\b(?:read|show|print|view|open)\b/i.test(step) && path !== null) return `cat ${path}`;
  if (/\blist\b/i.test(step)) return `ls ${path ?? '.'}`;
  return quoted ?? 'ls';
}

/** Arguments that fit a schema, from the words of the step where the name of a property says which. */
function argumentsFor(parameters: unknown, step: string): Record<string, unknown> {
  const sample = sampleJson(parameters);
  const { properties, required } = isRecord(parameters) ? parameters : {};
  if (!isRecord(properties)) return isRecord(sample) ? sample : {};
  const needed =
    Array.isArray(required) && required.length > 0 ? required.map(String) : Object.keys(properties);
  return Object.fromEntries(
    needed.map((name) => [
      name,
      argumentFor(name, properties[name], step) ?? (isRecord(sample) ? sample[name] : null),
    ]),
  );
}

/** `null`: the step does not say. */
function argumentFor(name: string, schema: unknown, step: string): unknown {
  const type = isRecord(schema) ? schema.type : undefined;
  const { path, quoted } = wordsOf(step);
  if (/command|cmd|script/i.test(name))
    return type === 'array' ? ['bash', '-lc', commandFor(step)] : commandFor(step);
  if (type === 'integer' || type === 'number') return numberIn(step);
  const inner = isRecord(schema) && type === 'array' ? schema.items : schema;
  if (isRecord(inner) && isRecord(inner.properties)) {
    const filled = argumentsFor(inner, step);
    return type === 'array' ? [filled] : filled;
  }
  if (type !== 'string' || (isRecord(schema) && (schema.enum !== undefined || schema.const !== undefined)))
    return null;
  return /path|file|dir/i.test(name) ? path : quoted;
}

function numberIn(step: string): number | null {
  const digits = /(?<![\w.])-?\d{1,9}(?!\w|\.\d)/.exec(step)?.[0];
  return digits === undefined ? null : Number(digits);
}

const RESULT_CHARS_SHOWN = 200;
const SUM = /(-?\d{1,9}) ?([-+*×]) ?(\d{1,9})/;

function answerTo({ text, results }: AgentTask): string {
  if (results.length > 0) {
    const shown = results.map((result) => result.trim().slice(0, RESULT_CHARS_SHOWN)).join('; ');
    return `Done. The tools answered: ${shown}`;
  }
  const sum = SUM.exec(text);
  if (sum === null) return 'There is nothing to call a tool for.';
  const [, left, sign, right] = sum;
  const [a, b] = [Number(left), Number(right)];
  return `${left} ${sign} ${right} = ${sign === '+' ? a + b : sign === '-' ? a - b : a * b}`;
}
