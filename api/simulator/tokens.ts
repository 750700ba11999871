/** The simulator's tokenizer: four bytes of UTF-8 are a token, a started one counts whole. */
export const textTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

export const BYTES_PER_TOKEN = 4;
/** Real chat templates wrap every message and open the answer, so a one-letter prompt is never one token. */
export const MESSAGE_TOKENS = 3;
export const ANSWER_OPENING_TOKENS = 3;
export const IMAGE_TOKENS = 765;

/** The longest beginning of `text` that has at most `tokensMax` tokens, cut between characters. */
export function firstTokens(text: string, tokensMax: number): string {
  const bytesMax = tokensMax * BYTES_PER_TOKEN;
  if (Buffer.byteLength(text) <= bytesMax) return text;
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    kept += character;
  }
  return kept;
}
