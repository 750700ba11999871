import type { ReasoningPart } from '#core/conversation/conversation.ts';

/*
 * `encrypted_content` of an item of thought, with which the provider takes it back in a later call. It has a mark of ours:
 * a provider refuses thought that another has signed, as that of a fallback may be.
 */

const SIGNATURE = 'signature:';
const ENCRYPTED = 'encrypted:';

/** `null`: the provider gave nothing by which it would know its thought. */
export function signReasoning({ signature, encrypted }: ReasoningPart): string | null {
  if (encrypted !== null) return ENCRYPTED + encrypted;
  return signature === null ? null : SIGNATURE + signature;
}

export const readSignedReasoning = (kept: string): Pick<ReasoningPart, 'signature' | 'encrypted'> => ({
  signature: kept.startsWith(SIGNATURE) ? kept.slice(SIGNATURE.length) : null,
  encrypted: kept.startsWith(ENCRYPTED) ? kept.slice(ENCRYPTED.length) : null,
});
