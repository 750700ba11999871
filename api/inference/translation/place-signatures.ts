import type { AssistantPart, Turn } from '#core/conversation/conversation.ts';
import { readSignatureOfCall } from '../formats/call-signature.ts';
import { isAsked } from './order-results.ts';

/**
 * Puts each signature that names its call before that call, where all other signatures stand: some servers sign a call after it has
 * been shown. A signature whose call is not there is left out.
 */
export function placeSignatures(turns: readonly Turn[]): readonly Turn[] {
  if (turns.every(isAsked)) return turns;
  const signatures = new Map<AssistantPart, string>();
  const calls = new Map<string, AssistantPart>();
  let isAny = false;
  for (const part of turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))) {
    if (part.type === 'tool_call') calls.set(part.id, part);
    const read = ofCall(part);
    if (read === null) continue;
    isAny = true;
    const call = calls.get(read.callId);
    if (call !== undefined) signatures.set(call, read.signature);
  }
  if (!isAny) return turns;
  return turns.map((turn) =>
    turn.role === 'assistant'
      ? { ...turn, parts: turn.parts.flatMap((part) => placed(part, signatures)) }
      : turn,
  );
}

/** The same for the parts of one answer. */
export function placeSignaturesIn(parts: readonly AssistantPart[]): readonly AssistantPart[] {
  const [turn] = placeSignatures([{ role: 'assistant', parts: [...parts] }]);
  return turn?.role === 'assistant' ? turn.parts : parts;
}

function placed(part: AssistantPart, signatures: ReadonlyMap<AssistantPart, string>): AssistantPart[] {
  if (ofCall(part) !== null) return [];
  const callSignature = signatures.get(part);
  if (callSignature === undefined) return [part];
  return [{ type: 'reasoning', text: '', signature: null, encrypted: null, callSignature }, part];
}

const ofCall = (part: AssistantPart): ReturnType<typeof readSignatureOfCall> =>
  part.type === 'reasoning' && part.callSignature !== undefined
    ? readSignatureOfCall(part.callSignature)
    : null;
