/** Tokens of one image at its largest. */
export interface ImageTokens {
  /** By size tier or quality; `''`: any. */
  output: ReadonlyMap<string, number>;
  /** Of one that is read; `null`: it reads none. */
  input: number | null;
}

/**
 * What no list says and a hold needs. As the vendors document it or live answers showed it, with a tenth for the words
 * that some write beside an image, which are billed, too, and stand in no price list. A model that bills by the token
 * and is not here is not served, unless the configuration says how many.
 */
const KNOWN: readonly { pattern: RegExp; tokens: ImageTokens }[] = [
  {
    pattern: /^google\/gemini-3-pro-image(-preview)?$/,
    tokens: {
      output: new Map([
        ['1k', 1_232],
        ['2k', 1_232],
        ['4k', 2_200],
      ]),
      input: 560,
    },
  },
  {
    pattern: /^google\/gemini-2\.5-flash-image(-preview)?$/,
    tokens: { output: new Map([['', 1_419]]), input: 1_290 },
  },
  {
    pattern: /^openai\/gpt-image-1(-mini)?$/,
    tokens: {
      output: new Map([
        ['low', 408],
        ['medium', 1_584],
        ['high', 6_240],
      ]),
      input: 7_500,
    },
  },
  { pattern: /^faregate-sim\/sketch$/, tokens: { output: new Map([['', 1_120]]), input: 560 } },
];

export const knownImageTokens = (modelId: string): ImageTokens | null =>
  KNOWN.find(({ pattern }) => pattern.test(modelId))?.tokens ?? null;
