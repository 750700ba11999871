import type { ReasoningPart } from '#core/conversation/conversation.ts';

/*
 * `encrypted_content` of a reasoning item, by which the provider takes the item back in a later call. The gateway adds a mark,
 * because a provider refuses reasoning that another has signed, such as that of a fallback.
 */

const SIGNATURE = 'signature:';
const ENCRYPTED = 'encrypted:';

/** `null`: the provider gave nothing by which it would recognise its reasoning. */
export function signReasoning({ signature, encrypted }: ReasoningPart): string | null {
  if (encrypted !== null) return ENCRYPTED + encrypted;
  return signature === null ? null : SIGNATURE + signature;
}

export const readSignedReasoning = (signed: string): Pick<ReasoningPart, 'signature' | 'encrypted'> => ({
  signature: signed.startsWith(SIGNATURE) ? signed.slice(SIGNATURE.length) : null,
  encrypted: signed.startsWith(ENCRYPTED) ? signed.slice(ENCRYPTED.length) : null,
});
