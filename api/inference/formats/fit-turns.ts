import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import { records, textOf } from './values.ts';

/*
 * The messages of a chat in the order and the roles that one server takes. Each rule answers a refusal of the whole call: an unknown
 * role (BerriAI/litellm-docs#1210), instructions that do not come first (vllm-project/vllm#41114, ggml-org/llama.cpp#27367), roles that do not take
 * turns (suitenumerique/conversations#197), a user behind a result (BerriAI/litellm#17761), an answer at the end
 * (anomalyco/opencode#19115). The same message is always written in the same
 * way, whatever comes later, so that a provider's cache of the conversation stays good.
 */

type Message = Readonly<Record<string, unknown>>;

type TurnDialect = Pick<Dialect, 'turns' | 'reasoningMember'>;

/** Whichever server runs these, their own source checks the order of messages, and their templates do. */
const MISTRAL = /(?:mi[sx]tr|ministr|devstr|codestr|magistr|pixtr)al/i;

/** The same dialect with the order of messages that this model takes at every server (NousResearch/hermes-agent#20154). */
export const withTurnsOf = (upstreamModel: string, dialect: Dialect): Dialect =>
  dialect.turns.userAfterResult && MISTRAL.test(upstreamModel)
    ? { ...dialect, turns: { ...dialect.turns, userAfterResult: false } }
    : dialect;

/** @returns The same list where the server takes it as it is. */
export function fitTurns(messages: readonly unknown[], dialect: TurnDialect): readonly unknown[] {
  if (areFit(messages, dialect)) return messages;
  const groups: Group[] = [];
  for (const message of records(messages)) addTo(groups, message, dialect);
  const fitted: unknown[] = [];
  let isBehindResult = false;
  for (const group of groups) {
    if (isBehindResult && group.role === 'user' && !dialect.turns.userAfterResult) fitted.push(BRIDGE);
    fitted.push(joined(group));
    isBehindResult = group.role === 'tool';
  }
  return withPrefill(fitted, dialect);
}

/** Whether the last message is an answer that goes on, and does not say so as the server wants it. */
function lacksPrefill(messages: readonly unknown[], { turns: { prefill } }: TurnDialect): boolean {
  const last = prefill === null ? undefined : messages.at(-1);
  if (prefill === null || !isRecord(last) || last.role !== 'assistant') return false;
  const says = typeof last.content === 'string' ? last.content !== '' : records(last.content).length > 0;
  return says && records(last.tool_calls).length === 0 && last[prefill] !== true;
}

function withPrefill(messages: readonly unknown[], dialect: TurnDialect): readonly unknown[] {
  if (!lacksPrefill(messages, dialect)) return messages;
  const { prefill } = dialect.turns;
  if (prefill === null || prefill === 'asked') return [...messages, GO_ON];
  const last = messages.at(-1);
  return [...messages.slice(0, -1), { ...(isRecord(last) && last), [prefill]: true }];
}

const GO_ON: Message = { role: 'user', content: 'Continue.' };

/** Stands between a result and the user. */
const BRIDGE: Message = { role: 'assistant', content: 'OK.' };

/** Stands in the place of reasoning that nobody has, as that of another vendor's answer. The server refuses an empty text. */
const NO_REASONING = '(not shown)';

/**
 * Bytes, and so tokens at most, by which the messages that were fitted say more than those before.
 *
 * @param before The messages before `fitTurns`, and `after` what it returned.
 */
export function bytesAdded(
  before: readonly unknown[],
  after: readonly unknown[],
  dialect: TurnDialect,
): number {
  if (before === after) return 0;
  const prefillBytes = lacksPrefill(before, dialect) ? PREFILL_BYTES : 0;
  let bytes = after.filter((message) => message === BRIDGE).length * BRIDGE_BYTES + prefillBytes;
  for (const message of before) {
    const role = roleOf(message);
    if (role === 'assistant' && lacksReasoning(message, dialect)) bytes += NO_REASONING_BYTES;
    if (isInstruction(role) && dialect.turns.systemFirst === true) bytes += WRAP_BYTES;
  }
  return bytes;
}

const PREFILL_BYTES = JSON.stringify(GO_ON).length + 1;
const BRIDGE_BYTES = JSON.stringify(BRIDGE).length + 1;
const NO_REASONING_BYTES = JSON.stringify({ reasoning_content: NO_REASONING }).length;
const SEPARATOR = '\n\n';
const WRAP_BYTES = Buffer.byteLength(wrap('')) + SEPARATOR.length;

const roleOf = (message: unknown): string => (isRecord(message) ? textOf(message.role) : '');

const isInstruction = (role: string): boolean => role === 'system' || role === 'developer';

function areFit(messages: readonly unknown[], dialect: TurnDialect): boolean {
  const { hasDeveloper, systemFirst, userAfterResult, mayLackReasoning } = dialect.turns;
  if (lacksPrefill(messages, dialect)) return false;
  if (hasDeveloper && systemFirst !== true && userAfterResult && mayLackReasoning) return true;
  let last = '';
  return messages.every((message, index) => {
    const role = roleOf(message);
    const isFit =
      (hasDeveloper || role !== 'developer') &&
      (systemFirst !== true || index === 0 || !isInstruction(role)) &&
      (userAfterResult || last !== 'tool' || role !== 'user') &&
      (role !== 'assistant' || !lacksReasoning(message, dialect));
    last = role;
    return isFit;
  });
}

const lacksReasoning = (message: unknown, { turns, reasoningMember }: TurnDialect): boolean =>
  !turns.mayLackReasoning &&
  reasoningMember !== null &&
  isRecord(message) &&
  textOf(message[reasoningMember]) === '';

/** Messages that become one. */
interface Group {
  role: string;
  messages: Message[];
  /** Its last message is an instruction in words of the user, so the user's own words go on in it. */
  endsInWrap: boolean;
}

function addTo(groups: Group[], message: Message, dialect: TurnDialect): void {
  const { hasDeveloper, systemFirst } = dialect.turns;
  const last = groups.at(-1);
  const role = textOf(message.role);
  if (isInstruction(role) && (systemFirst === true || !hasDeveloper)) {
    if (systemFirst !== true || last === undefined) {
      groups.push({ role: 'system', messages: [{ ...message, role: 'system' }], endsInWrap: false });
    } else if (last.role === 'system') last.messages.push(message);
    else if (message.content !== '') addWrapped(groups, message);
    return;
  }
  if (role === 'user' && last?.endsInWrap === true && !isNamed(message)) {
    last.messages.push(message);
    last.endsInWrap = false;
    return;
  }
  const own =
    role === 'assistant' && lacksReasoning(message, dialect)
      ? { ...message, [dialect.reasoningMember ?? '']: NO_REASONING }
      : message;
  groups.push({ role, messages: [own], endsInWrap: false });
}

/** Two messages of the user in a row are refused by some templates, so an instruction joins the user's own words. */
function addWrapped(groups: Group[], message: Message): void {
  const last = groups.at(-1);
  const others = records(message.content).filter(({ type }) => type !== 'text');
  const text = wrap(textIn(message.content));
  const content = others.length === 0 ? text : [{ type: 'text', text }, ...others];
  const wrapped: Message = { role: 'user', content };
  // Whatever was joined before has no name, so the first message tells of all.
  if (last?.role === 'user' && last.messages.slice(0, 1).every((first) => !isNamed(first))) {
    last.messages.push(wrapped);
    last.endsInWrap = true;
  } else groups.push({ role: 'user', messages: [wrapped], endsInWrap: true });
}

const isNamed = ({ name }: Message): boolean => (name ?? null) !== null;

/** The only words for an instruction in mid-conversation that every model takes. */
function wrap(text: string): string {
  return `<system>\n${text}\n</system>`;
}

const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : records(content)
        .flatMap(({ type, text }) => (type === 'text' ? [textOf(text)] : []))
        .join(SEPARATOR);

function joined({ messages }: Group): Message {
  const [first = {}, ...others] = messages;
  if (others.length === 0) return first;
  const contents = messages.map(({ content }) => content);
  if (contents.every((content) => typeof content === 'string'))
    return { ...first, content: contents.filter((content) => content !== '').join(SEPARATOR) };
  return { ...first, content: contents.flatMap(partsOf) };
}

const partsOf = (content: unknown): readonly unknown[] => {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
};
