import { recordOf, textOf } from './values.ts';

/*
 * Some models sign each tool call and refuse a conversation in which a call comes back without its signature. A chat
 * carries it beside the call. The other formats have reasoning alone that comes back as it was shown, so there it is
 * encrypted reasoning, with a mark by which it is told from reasoning that another provider has encrypted.
 */

const MARK = 'call_signature:';

/** What a chat has beside a call; empty: nothing. */
export const callSignatureOf = (call: Readonly<Record<string, unknown>>): string =>
  textOf(recordOf(recordOf(call.extra_content).google).thought_signature);

export const writeCallSignature = (signature: string): object => ({
  extra_content: { google: { thought_signature: signature } },
});

export const markCallSignature = (signature: string): string => MARK + signature;

/** `null`: it is no signature of a call. */
export const readCallSignature = (encrypted: string): string | null =>
  encrypted.startsWith(MARK) ? encrypted.slice(MARK.length) : null;
