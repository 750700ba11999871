import { parseJson } from '#core/parse-json.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { mapRecords, recordOf, records, textOf } from './values.ts';

/*
 * Some models sign each tool call and refuse a conversation in which a call comes back without its signature. A chat
 * carries it beside the call. The other formats have reasoning alone that comes back as it was shown, so there it is
 * encrypted reasoning, with a mark by which it is told from reasoning that another provider has encrypted.
 */

const MARK = 'call_signature:';
const SIGNATURE = 'thought_signature';
const OWN_PLACE = ['extra_content', 'google', SIGNATURE];

/**
 * The places beside a call in which servers of the vendor and routers to it have the signature, each with the word that stands before
 * the signature where it is kept elsewhere. The vendor's own server needs none, and no signature begins with one, for it is base64.
 */
const PLACES: readonly SignaturePlace[] = [
  { word: '', path: OWN_PLACE },
  // Vertex AI (github.com/earendil-works/pi/issues/6733).
  { word: 'vertex:', path: ['extra_content', 'vertex', SIGNATURE] },
  // LiteLLM (docs.litellm.ai/blog/gemini_3), in the call or in its function.
  { word: 'fields:', path: ['provider_specific_fields', SIGNATURE] },
  { word: 'function:', path: ['function', 'provider_specific_fields', SIGNATURE] },
  // The same beside a text, as a list, of which LiteLLM takes the first back as the one of the text.
  { word: 'list:', path: ['provider_specific_fields', 'thought_signatures'], isList: true },
  // Higress (github.com/higress-group/higress/pull/3973).
  { word: 'call:', path: [SIGNATURE] },
];

interface SignaturePlace {
  word: string;
  path: readonly string[];
  /** A list stands there, of which the JSON text is kept. */
  isList?: true;
}

const ROUTER_WORDS = ['fields:', 'function:', 'list:', 'call:'];

type Members = Readonly<Record<string, unknown>>;

/** The signature that a chat has beside a call or a text, behind the word for its place; empty: there is none. */
export function callSignatureOf(call: Members): string {
  for (const { word, path, isList } of PLACES) {
    const value = path.reduce<unknown>((holder, name) => recordOf(holder)[name], call);
    const signature = isList === true ? listText(value) : textOf(value);
    if (signature !== '') return word + signature;
  }
  return '';
}

const listText = (value: unknown): string =>
  Array.isArray(value) && value.some((each) => textOf(each) !== '') ? JSON.stringify(value) : '';

const OF_CALL = 'of:';

/** A signature that is shown behind its call, and so must name it. The id is written in letters that no mark has. */
export const signatureOfCall = (signature: string, callId: string): string =>
  `${OF_CALL}${Buffer.from(callId).toString('base64url')}:${signature}`;

/** `null`: the signature is the next call's. */
export function readSignatureOfCall(signature: string): { callId: string; signature: string } | null {
  if (!signature.startsWith(OF_CALL)) return null;
  const end = signature.indexOf(':', OF_CALL.length);
  if (end < 0) return null;
  const callId = Buffer.from(signature.slice(OF_CALL.length, end), 'base64url').toString();
  return { callId, signature: signature.slice(end + 1) };
}

/** Whether a router has shown the signature, in a place that its vendor's own server does not know. */
export const isOfRouter = (signature: string): boolean =>
  ROUTER_WORDS.some((word) => signature.startsWith(word));

/** The same call or message with its signature in the place in which its issuer has it. */
export function withCallSignature<T extends object>(call: T, signature: string): T {
  const place = PLACES.find(({ word }) => word !== '' && signature.startsWith(word));
  const { word, path, isList } = place ?? { word: '', path: OWN_PLACE, isList: false };
  const kept = signature.slice(word.length);
  return setAt(call, path, isList === true ? parseJson(kept) : kept);
}

function setAt<T extends object>(value: T, path: readonly string[], kept: unknown): T {
  const [name = '', ...rest] = path;
  const inner = (value as Members)[name];
  return { ...value, [name]: rest.length === 0 ? kept : setAt(recordOf(inner), rest, kept) };
}

export const markCallSignature = (signature: string): string => MARK + signature;

/** `null`: it is no signature of a call. */
export const readCallSignature = (encrypted: string): string | null =>
  encrypted.startsWith(MARK) ? encrypted.slice(MARK.length) : null;

/**
 * Stands in the place of the signature of a call that another model has made. Its vendor documents the word for conversations that
 * begin elsewhere (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const MADE_ELSEWHERE = 'skip_thought_signature_validator';

/** Whether the vendor that signs calls has made the model, whichever server passes its answers on. */
export const isOfSigner = (upstreamModel: string): boolean => /gemini/i.test(upstreamModel);

/** The first models of the family sign nothing, and their servers take nothing in the place of a signature. */
const SIGNS = /gemini-(?![12](?:\D|$))/i;

/** The calls of one answer as their vendor takes them back: it signs the first of parallel calls alone, and wants that signature. */
function signForeignCalls(calls: readonly Members[], upstreamModel: string): readonly object[] {
  const [first, ...rest] = calls;
  if (first === undefined || !SIGNS.test(upstreamModel) || callSignatureOf(first) !== '') return calls;
  return [withCallSignature(first, MADE_ELSEWHERE), ...rest];
}

/** The same for the whole conversation of a chat that passes as its caller wrote it. */
export function signForeignCallsIn(body: JsonObject, upstreamModel: string, changes: MemberChanges): void {
  if (!SIGNS.test(upstreamModel) || sentBytes(body, 'messages', changes)?.includes('"tool_calls"') !== true)
    return;
  const signCallsOf = (message: Members): Members => {
    const calls = records(message.tool_calls);
    const signed = signForeignCalls(calls, upstreamModel);
    return signed === calls ? message : { ...message, tool_calls: signed };
  };
  const sign = (messages: unknown): unknown =>
    Array.isArray(messages) ? mapRecords(messages, signCallsOf) : messages;
  editMember(body, 'messages', sign, changes);
}
