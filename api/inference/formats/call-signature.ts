import { isRecord } from '#core/is-record.ts';
import { type JsonObject, type MemberChanges, memberText } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { recordOf, records, textOf } from './values.ts';

/*
 * Some models sign each tool call and refuse a conversation in which a call comes back without its signature. A chat
 * carries it beside the call. The other formats have reasoning alone that comes back as it was shown, so there it is
 * encrypted reasoning, with a mark by which it is told from reasoning that another provider has encrypted.
 */

const MARK = 'call_signature:';

/** The signature that a chat has beside a call; empty: there is none. */
export const callSignatureOf = (call: Readonly<Record<string, unknown>>): string =>
  textOf(recordOf(recordOf(call.extra_content).google).thought_signature);

export const writeCallSignature = (signature: string): object => ({
  extra_content: { google: { thought_signature: signature } },
});

export const markCallSignature = (signature: string): string => MARK + signature;

/** `null`: it is no signature of a call. */
export const readCallSignature = (encrypted: string): string | null =>
  encrypted.startsWith(MARK) ? encrypted.slice(MARK.length) : null;

/**
 * Stands in the place of the signature of a call that another model has made. Its vendor documents the word for conversations that
 * begin elsewhere (ai.google.dev/gemini-api/docs/thought-signatures).
 */
const MADE_ELSEWHERE = 'skip_thought_signature_validator';

/** The first models of the family sign nothing, and their servers take nothing in the place of a signature. */
const SIGNS = /gemini-(?![12](?:\D|$))/i;

/** The calls of one answer as their vendor takes them back: it signs the first of parallel calls alone, and wants that signature. */
function signForeignCalls(
  calls: readonly Readonly<Record<string, unknown>>[],
  upstreamModel: string,
): readonly object[] {
  const [first, ...rest] = calls;
  if (first === undefined || !SIGNS.test(upstreamModel) || callSignatureOf(first) !== '') return calls;
  return [{ ...first, ...writeCallSignature(MADE_ELSEWHERE) }, ...rest];
}

/** The same for the whole conversation of a chat that passes as its caller wrote it. */
export function signForeignCallsIn(body: JsonObject, upstreamModel: string, changes: MemberChanges): void {
  const changed = changes.values[changes.placeOf('messages')];
  const text = changed?.toString() ?? memberText(body, 'messages') ?? '';
  if (!SIGNS.test(upstreamModel) || !text.includes('"tool_calls"')) return;
  const marks = new NumberMarks();
  const bytes = Buffer.from(text);
  const messages: unknown = marks.parse(bytes)?.value ?? JSON.parse(text);
  if (!Array.isArray(messages)) return;
  let isChanged = false;
  const signed = messages.map((message: unknown) => {
    const calls = isRecord(message) ? records(message.tool_calls) : [];
    const all = signForeignCalls(calls, upstreamModel);
    if (all === calls) return message;
    isChanged = true;
    return { ...recordOf(message), tool_calls: all };
  });
  if (isChanged) changes.set('messages', marks.print(signed));
}
