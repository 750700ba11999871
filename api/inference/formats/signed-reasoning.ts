import type { ReasoningIssuer, ReasoningPart } from '#core/conversation/conversation.ts';
import { readAnswerPart, thinkingBlocksOf } from '../price/answer-part.ts';
import { markCallSignature, readCallSignature } from './call-signature.ts';
import { records, textOf } from './values.ts';

/*
 * `encrypted_content` of a reasoning item, by which the provider takes the item back in a later call. The gateway adds a mark,
 * because a provider refuses reasoning that another has signed, such as that of a fallback. Of what a chat server passed on the mark
 * names the issuer, in every format that has no place of its own for it.
 */

const SIGNATURE = 'signature:';
const ENCRYPTED = 'encrypted:';
const ISSUER = 'issuer:';

/** The kept text, marked with its issuer; as it is where a server of the messages format has signed it. */
export function markIssuer(kept: string, issuer: ReasoningIssuer | undefined): string {
  if (issuer === undefined) return kept;
  const names = [issuer.format, issuer.id ?? ''].map((name) => encodeURIComponent(name.toWellFormed()));
  return `${ISSUER}${names.join(':')}:${kept}`;
}

/** The kept text byte for byte as it was issued, and its issuer. */
export function readIssuer(marked: string): { kept: string; issuer?: ReasoningIssuer } {
  const names = marked.startsWith(ISSUER) ? marked.split(':', NAMES).slice(1) : [];
  const [format, id] = names.map(decoded);
  if (format === undefined || id === undefined) return { kept: marked };
  const kept = marked.slice(ISSUER.length + names.join(':').length + 1);
  return { kept, issuer: { format, id: id === '' ? null : id } };
}

/** The mark has its own word and two names before the kept text. */
const NAMES = 3;

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

/**
 * Issuers that servers do not name. Each has a place of its own for reasoning that it has signed, in which it takes the reasoning back,
 * and which no other server knows.
 */
export const ISSUERS = {
  /** LiteLLM, from several vendors (docs.litellm.ai/docs/reasoning_content). */
  blocks: 'thinking_blocks',
  /** GitHub Copilot, beside `reasoning_text` (github.com/microsoft/vscode-copilot-chat). */
  opaque: 'reasoning_opaque',
  /** Claude behind GitHub Copilot, and behind servers that write the members of its blocks into a message. */
  member: 'thinking',
  /** Databricks, in a part of the content (docs.databricks.com, query reasoning models). */
  summaryPart: 'content.reasoning',
  /** Claude behind servers that pass on its blocks in the content. */
  thinkingPart: 'content.thinking',
  /** Gemini, beside a text as beside a call (ai.google.dev/gemini-api/docs/thought-signatures). */
  text: 'extra_content',
} as const;

/** The reasoning of a chat's answer as its server signed it, in the words of `reasoning_details`. */
export function reasoningDetailsOf(message: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const details = records(message.reasoning_details);
  if (details.length > 0) return details;
  const blocks = thinkingBlocksOf(message);
  if (blocks.length > 0) return blocks.map((block) => detailOfBlock(block, ISSUERS.blocks));
  const { reasoning_opaque: data, signature } = message;
  if (textOf(data) !== '') return [{ type: ENCRYPTED_TYPE, data, format: ISSUERS.opaque }];
  return textOf(signature) === '' ? [] : [{ type: TEXT_TYPE, signature, format: ISSUERS.member }];
}

/** The same of one part of its content; none where the server has not signed it. */
export function detailsOfPart(part: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const { type, signature, data, summary } = part;
  if (type === 'redacted_thinking' && textOf(data) !== '') return [detailOfBlock(part, ISSUERS.thinkingPart)];
  if (type === 'thinking' && textOf(signature) !== '')
    return [{ type: TEXT_TYPE, text: readAnswerPart(part)?.text, signature, format: ISSUERS.thinkingPart }];
  const texts = type === 'reasoning' ? records(summary) : [];
  if (texts.every((each) => textOf(each.signature) === '')) return [];
  return texts.map(({ text, signature: signed }) => ({
    type: 'reasoning.summary',
    summary: text,
    signature: signed,
    format: ISSUERS.summaryPart,
  }));
}

/** A part of the content as its server has signed it; `null`: a server of this format has no such parts. */
export function signedPartOf(format: unknown, { text, signature, encrypted }: SignedText): object | null {
  if (format === ISSUERS.summaryPart)
    return { type: 'reasoning', summary: [{ type: 'summary_text', text, signature }] };
  return format === ISSUERS.thinkingPart ? blockOf({ text, signature, encrypted }) : null;
}

/** A block of LiteLLM, or of Claude. */
export const blockOf = ({ text, signature, encrypted }: SignedText): object =>
  encrypted === null
    ? { type: 'thinking', thinking: text, signature }
    : { type: 'redacted_thinking', data: encrypted };

/** A part that nobody signs, as Mistral writes it and takes it back. */
export const thinkingPartOf = (text: string): object => ({
  type: 'thinking',
  thinking: [{ type: 'text', text }],
  closed: true,
});

type SignedText = Pick<ReasoningPart, 'text' | 'signature' | 'encrypted'>;

const TEXT_TYPE = 'reasoning.text';
const ENCRYPTED_TYPE = 'reasoning.encrypted';

const detailOfBlock = (
  { type, thinking, signature, data }: Readonly<Record<string, unknown>>,
  format: string,
): Record<string, unknown> =>
  type === 'redacted_thinking'
    ? { type: ENCRYPTED_TYPE, data, format }
    : { type: TEXT_TYPE, text: thinking, signature, format };

/** `null`: the provider gave nothing by which it would recognise its reasoning. */
export function signReasoning({ signature, encrypted, issuer, callSignature }: ReasoningPart): string | null {
  if (callSignature !== undefined) return markCallSignature(callSignature);
  if (encrypted !== null) return markIssuer(ENCRYPTED + encrypted, issuer);
  return signature === null ? null : markIssuer(SIGNATURE + signature, issuer);
}

export function readSignedReasoning(
  signed: string,
): Pick<ReasoningPart, 'signature' | 'encrypted' | 'issuer' | 'callSignature'> {
  const callSignature = readCallSignature(signed);
  const { kept, issuer } = readIssuer(signed);
  return {
    signature: kept.startsWith(SIGNATURE) ? kept.slice(SIGNATURE.length) : null,
    encrypted: kept.startsWith(ENCRYPTED) ? kept.slice(ENCRYPTED.length) : null,
    ...(issuer === undefined ? {} : { issuer }),
    ...(callSignature === null ? {} : { callSignature }),
  };
}

/** Whether a mark of ours stands before it: a provider that keeps its own reasoning would not recognise it. */
export const isMarkedReasoning = (signed: string): boolean =>
  [SIGNATURE, ENCRYPTED, ISSUER].some((mark) => signed.startsWith(mark)) ||
  readCallSignature(signed) !== null;
