import type { ReasoningIssuer, ReasoningPart } from '#core/conversation/conversation.ts';
import { markCallSignature, readCallSignature } from './call-signature.ts';
import { recordOf, records } from './values.ts';

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
 * Names the issuer of reasoning that LiteLLM passes on from several vendors, none of which it names: it takes the blocks back in the
 * member of this name, and no other server does (docs.litellm.ai/docs/reasoning_content).
 */
export const THINKING_BLOCKS = 'thinking_blocks';

/** The reasoning of a chat's answer as its server signed it, in the words of `reasoning_details`. */
export function reasoningDetailsOf(message: Readonly<Record<string, unknown>>): Record<string, unknown>[] {
  const details = records(message.reasoning_details);
  if (details.length > 0) return details;
  const blocks = records(
    message.thinking_blocks ?? recordOf(message.provider_specific_fields).thinking_blocks,
  );
  return blocks.map(({ type, thinking, signature, data }) =>
    type === 'redacted_thinking'
      ? { type: 'reasoning.encrypted', data, format: THINKING_BLOCKS }
      : { type: 'reasoning.text', text: thinking, signature, format: THINKING_BLOCKS },
  );
}

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
