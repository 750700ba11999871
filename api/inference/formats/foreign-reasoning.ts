import { isRecord } from '#core/is-record.ts';
import { readCallSignature } from './call-signature.ts';
import { isOwnReasoning } from '../../providers/signed-reasoning.ts';
import { isMarkedReasoning, readIssuer } from './signed-reasoning.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { memberBytes } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { textOf } from './values.ts';

/*
 * Reasoning in a conversation that another provider has written. A provider that keeps its reasoning signed refuses a call with
 * reasoning that it has not signed, so such reasoning is left out where the caller's own format passes.
 */

/** Stands in every part that may be foreign: our marks, and the empty signature of a server that signs nothing. */
const NEEDLES = ['call_signature:', '"signature":""', '"signature": ""', '"signature:', '"encrypted:', '"issuer:'].map(
  (text) => Buffer.from(text),
);

/** @param upstreamModel Only the models of one vendor refuse reasoning without a signature. */
export function leaveOutForeignReasoning(
  body: JsonObject,
  member: 'messages' | 'input',
  upstreamModel: string,
  changes: MemberChanges,
): void {
  const bytes = memberBytes(body, member);
  if (bytes === undefined || !NEEDLES.some((needle) => bytes.includes(needle))) return;
  const marks = new NumberMarks();
  const value: unknown = marks.parse(bytes)?.value ?? JSON.parse(bytes.toString('utf8'));
  if (!Array.isArray(value)) return;
  const kept = member === 'input' ? value.filter((item) => !isForeignItem(item)) : value.map((message) => withoutForeign(message, /claude/i.test(upstreamModel)));
  changes.set(member, marks.print(kept).toString());
}

const isForeignItem = (item: unknown): boolean =>
  isRecord(item) && item.type === 'reasoning' && isMarkedReasoning(textOf(item.encrypted_content));

function withoutForeign(message: unknown, isSigned: boolean): unknown {
  if (!isRecord(message) || !Array.isArray(message.content)) return message;
  const content = message.content.map(withoutMark).filter((block) => !isForeignBlock(block, isSigned));
  return { ...message, content };
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
    return (isSigned && textOf(block.signature) === '') || readIssuer(textOf(block.signature)).issuer !== undefined;
  if (block.type !== 'redacted_thinking') return false;
  const data = textOf(block.data);
  return readCallSignature(data) !== null || readIssuer(data).issuer !== undefined;
}
