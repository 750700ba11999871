import type { ReasoningPart } from '#core/conversation/conversation.ts';
import { markCallSignature, readCallSignature } from './call-signature.ts';

/*
 * `encrypted_content` of a reasoning item, by which the provider takes the item back in a later call. The gateway adds a mark,
 * because a provider refuses reasoning that another has signed, such as that of a fallback.
 */

const SIGNATURE = 'signature:';
const ENCRYPTED = 'encrypted:';

/** `null`: the provider gave nothing by which it would recognise its reasoning. */
export function signReasoning({ signature, encrypted, callSignature }: ReasoningPart): string | null {
  if (callSignature !== undefined) return markCallSignature(callSignature);
  if (encrypted !== null) return ENCRYPTED + encrypted;
  return signature === null ? null : SIGNATURE + signature;
}

export function readSignedReasoning(
  signed: string,
): Pick<ReasoningPart, 'signature' | 'encrypted' | 'callSignature'> {
  const callSignature = readCallSignature(signed);
  return {
    signature: signed.startsWith(SIGNATURE) ? signed.slice(SIGNATURE.length) : null,
    encrypted: signed.startsWith(ENCRYPTED) ? signed.slice(ENCRYPTED.length) : null,
    ...(callSignature === null ? {} : { callSignature }),
  };
}

/** Whether a mark of ours stands before it: a provider that keeps its own reasoning would not recognise it. */
export const isMarkedReasoning = (signed: string): boolean =>
  signed.startsWith(SIGNATURE) || signed.startsWith(ENCRYPTED) || readCallSignature(signed) !== null;
