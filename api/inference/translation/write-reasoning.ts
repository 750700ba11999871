import type {
  AskedDialect,
  AssistantPart,
  ReasoningIssuer,
  ReasoningPart,
} from '#core/conversation/conversation.ts';
import { isOfRouter, withCallSignature } from '../formats/call-signature.ts';
import { blockOf, ISSUERS, signedPartOf, thinkingPartOf } from '../formats/signed-reasoning.ts';

/** The reasoning of an earlier answer as the members of its message, and as the parts with which its content begins. */
export interface WrittenReasoning {
  members: Readonly<Record<string, unknown>>;
  contentParts: readonly object[];
}

type IssuedPart = ReasoningPart & { issuer: ReasoningIssuer };

/** Writes the text, and what the server has signed of it, in the places in which it passed both on. */
export function writeReasoning(parts: readonly AssistantPart[], dialect: AskedDialect): WrittenReasoning {
  const { reasoningMember, takesReasoningDetails, takesThinkingParts } = dialect;
  const text = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('');
  // Signatures that another server has shown are none of its own.
  const issued = takesReasoningDetails ? parts.filter(isIssued) : [];
  const signedParts = issued.flatMap((part) => signedPartOf(part.issuer.format, part) ?? []);
  const contentParts = takesThinkingParts && text !== '' ? [thinkingPartOf(text)] : signedParts;
  const ownNames = writeOwnNames(issued, text);
  const isInParts = contentParts.length > 0 && issued.some((part) => part.text !== '');
  const isSaid = isInParts || Object.keys(ownNames).length > 0;
  const said = reasoningMember === null || text === '' || isSaid ? {} : { [reasoningMember]: text };
  const lists = writeLists(parts, issued);
  return { contentParts, members: { ...said, ...ownNames, ...lists, ...writeTextSignature(parts, dialect) } };
}

/** The signature of a text returns to the vendor that made it, and to a router that may have passed it on. */
function writeTextSignature(
  parts: readonly AssistantPart[],
  { signsCalls, takesReasoningDetails }: AskedDialect,
): object {
  const signed = parts.filter(isIssued).findLast(({ issuer }) => issuer.format === ISSUERS.text);
  const signature = signed?.encrypted ?? '';
  const isTaken = isOfRouter(signature) ? takesReasoningDetails : signsCalls;
  return signature === '' || !isTaken ? {} : withCallSignature({}, signature);
}

const isIssued = (part: AssistantPart): part is IssuedPart =>
  part.type === 'reasoning' && part.issuer !== undefined;

/** Some servers take a signature back beside the text under their own name of it alone. */
function writeOwnNames(issued: readonly IssuedPart[], text: string): Record<string, unknown> {
  const opaque = issued.findLast(({ issuer }) => issuer.format === ISSUERS.opaque);
  if (opaque !== undefined)
    return { ...(text === '' ? {} : { reasoning_text: text }), reasoning_opaque: opaque.encrypted };
  const signed = issued.findLast(({ issuer }) => issuer.format === ISSUERS.member);
  return signed === undefined ? {} : { thinking: text, signature: signed.signature };
}

function writeLists(parts: readonly AssistantPart[], issued: readonly IssuedPart[]): object {
  const blocks = issued.filter(({ issuer }) => issuer.format === ISSUERS.blocks).map(blockOf);
  const details = issued
    .filter(({ issuer }) => !OWN_PLACES.has(issuer.format))
    .map((part) => writeDetail(part, parts.indexOf(part)));
  return {
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
  };
}

const OWN_PLACES: ReadonlySet<string> = new Set(Object.values(ISSUERS));

function writeDetail({ text, signature, encrypted, issuer }: IssuedPart, index: number): object {
  const named = {
    ...(issuer.format === '' ? {} : { format: issuer.format }),
    ...(issuer.id === null ? {} : { id: issuer.id }),
    index,
  };
  return encrypted === null
    ? { type: 'reasoning.text', text, signature, ...named }
    : { type: 'reasoning.encrypted', data: encrypted, ...named };
}
