import { isRecord } from '#core/is-record.ts';
import { isOwnReasoning } from '../../providers/signed-reasoning.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { readCallSignature } from './call-signature.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { encryptsReasoning } from './reasoning-words.ts';
import { isMarkedReasoning, readIssuer } from './signed-reasoning.ts';
import { records, textOf } from './values.ts';

/*
 * Reasoning in a conversation that its provider cannot read. A provider that keeps its reasoning signed refuses a call with reasoning
 * that it has not signed, and OpenAI looks for reasoning without its encrypted form among items that nobody has stored. Such reasoning
 * is left out where the caller's own format passes.
 */

/** Stands in every part that may be foreign: our marks, and the empty signature of a server that signs nothing. */
const NEEDLES = [
  ...['call_signature:', '"signature:', '"encrypted:', '"issuer:'],
  ...['"signature":""', '"signature": ""', '"signature":null', '"signature": null'],
].map((text) => Buffer.from(text));
const THINKING = Buffer.from('"thinking":');
const SIGNATURE = Buffer.from('"signature":');
const REASONING = Buffer.from('"reasoning"');
/** The type of every part that may be foreign ends so. Most conversations have none, and are searched for this alone. */
const TYPE = { messages: Buffer.from('thinking"'), input: REASONING };
/** Escapes may hide a type. */
const ESCAPED = Buffer.from('\\u00');
/** It ends the types of other items that are encrypted. */
const COMPACTION = Buffer.from('compaction"');
const ENCRYPTED = Buffer.from('"encrypted_content"');
/** No encrypted form, as clients print it. */
const NOT_ENCRYPTED = ['null', ' null', '""', ' ""'].map((text) =>
  Buffer.from(`"encrypted_content":${text}`),
);

/** @param upstreamModel Only the models of two vendors refuse reasoning that is not signed or encrypted. */
export function leaveOutForeignReasoning(
  body: JsonObject,
  member: 'messages' | 'input',
  upstreamModel: string,
  changes: MemberChanges,
): void {
  const bytes = sentBytes(body, member, changes);
  if (bytes === null || !(bytes.includes(TYPE[member]) || bytes.includes(ESCAPED))) return;
  const isSigned = member === 'messages' && /claude/i.test(upstreamModel);
  const mayBeForeign =
    NEEDLES.some((needle) => bytes.includes(needle)) ||
    (isSigned && lacksSignature(bytes)) ||
    (member === 'input' && mayLackEncrypted(bytes));
  if (!mayBeForeign) return;
  const edit = (value: unknown): unknown => {
    if (!Array.isArray(value)) return value;
    return member === 'input'
      ? withoutItems(value, encryptsReasoning(upstreamModel))
      : withoutBlocks(value, isSigned);
  };
  editMember(body, member, edit, changes);
}

/** Some clients print a thinking block without the member. */
const lacksSignature = (bytes: Buffer): boolean => countOf(bytes, THINKING) > countOf(bytes, SIGNATURE);

/** Clients that ask for the encrypted form send it with every item, and their bodies are not parsed. */
const mayLackEncrypted = (bytes: Buffer): boolean =>
  NOT_ENCRYPTED.some((needle) => bytes.includes(needle)) ||
  countOf(bytes, REASONING) + countOf(bytes, COMPACTION) > countOf(bytes, ENCRYPTED);

function countOf(bytes: Buffer, needle: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) count++;
  return count;
}

function withoutItems(items: readonly unknown[], isEncrypted: boolean): readonly unknown[] {
  const own = items.filter((item) => !isForeignItem(item, isEncrypted));
  return own.length === items.length ? items : own;
}

/** Other servers read reasoning in plain text. An item with neither that nor an encrypted form has its id alone. */
function isForeignItem(item: unknown, isEncrypted: boolean): boolean {
  if (!isRecord(item) || item.type !== 'reasoning') return false;
  const encrypted = textOf(item.encrypted_content);
  if (encrypted !== '') return isMarkedReasoning(encrypted);
  return isEncrypted || saysNothing(item);
}

/** A member that is not known may hold its text. */
function saysNothing(item: Record<string, unknown>): boolean {
  const hasMore = Object.keys(item).some(
    (name) => !REASONING_ITEM.has(name) && (item[name] ?? null) !== null,
  );
  const hasText = (list: unknown): boolean =>
    textOf(list) !== '' || records(list).some(({ text }) => textOf(text) !== '');
  return !hasMore && !hasText(item.content) && !hasText(item.summary);
}

const REASONING_ITEM = new Set(['type', 'id', 'status', 'summary', 'content', 'encrypted_content']);

/** A message of which nothing is left is left out, and its neighbours become one, because the roles take turns. */
function withoutBlocks(messages: readonly unknown[], isSigned: boolean): readonly unknown[] {
  const kept: unknown[] = [];
  /** The blocks of messages that are joined already, which grow: to copy them for each would take quadratic time. */
  const joined = new WeakMap<object, unknown[]>();
  let isBehindGap = false;
  let isChanged = false;
  for (const message of messages) {
    const own = withoutForeign(message, isSigned);
    isChanged ||= own !== message;
    if (own === null) {
      isBehindGap = true;
      continue;
    }
    const last = kept.at(-1);
    if (isBehindGap && isRecord(last) && isRecord(own) && last.role === own.role) {
      const blocks = joined.get(last) ?? [...blocksOf(last.content)];
      blocks.push(...blocksOf(own.content));
      const whole = { ...last, content: blocks };
      joined.set(whole, blocks);
      kept[kept.length - 1] = whole;
    } else kept.push(own);
    isBehindGap = false;
  }
  return isChanged ? kept : messages;
}

/** `null`: nothing is left of it. */
function withoutForeign(message: unknown, isSigned: boolean): unknown {
  if (!isRecord(message) || !Array.isArray(message.content)) return message;
  const blocks: readonly unknown[] = message.content;
  const unmarked = blocks.map(withoutMark);
  const content = unmarked.filter((block) => !isForeignBlock(block, isSigned));
  const isSame = content.length === blocks.length && content.every((block, at) => block === blocks[at]);
  if (isSame) return message;
  return content.length === 0 ? null : { ...message, content };
}

/** Reasoning that a chat server has passed on from a vendor whose servers take it back as the vendor wrote it. */
function withoutMark(block: unknown): unknown {
  if (!isRecord(block)) return block;
  const member = block.type === 'thinking' ? 'signature' : 'data';
  const { kept, issuer } = readIssuer(textOf(block[member]));
  return issuer !== undefined && isOwnReasoning(issuer.format) ? { ...block, [member]: kept } : block;
}

function isForeignBlock(block: unknown, isSigned: boolean): boolean {
  if (!isRecord(block)) return false;
  if (block.type === 'thinking')
    return (
      (isSigned && textOf(block.signature) === '') || readIssuer(textOf(block.signature)).issuer !== undefined
    );
  if (block.type !== 'redacted_thinking') return false;
  const data = textOf(block.data);
  return readCallSignature(data) !== null || readIssuer(data).issuer !== undefined;
}

function blocksOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return content === '' ? [] : [{ type: 'text', text: content }];
}
