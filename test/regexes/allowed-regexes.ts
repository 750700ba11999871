/** A pattern that may cost more than linear time, or cannot be read, with the reason for which no stranger can make it cost anything. */
export interface AllowedRegex {
  file: string;
  /** The pattern without its flags, or the call that makes one of what cannot be read. */
  pattern: string;
  because: string;
}

/** Rewrite a pattern before you add it here. An entry that no source file needs any more is reported. */
export const allowedRegexes: readonly AllowedRegex[] = [
  {
    file: 'api/core/log.ts',
    pattern:
      'fg_\\w{8,}|\\b(?:Bearer|Basic)\\s+\\S+|\\bg?sk[-_][\\w-]{8,}|\\b(?:hf|fw|xai|pplx|nvapi|r8|tgp)[-_]\\w{8,}|AIza[\\w-]{20,}|(?<=:\\/\\/)[^/\\s@]+@|(?<=X-Amz-Signature=)\\w+|(?<=\\bapi[-_]?key["\']?[=:]\\s?["\']?)[^\\s"\'&]+',
    because: 'A text of a log line is cut at 4,096 characters before the pattern sees it.',
  },
  {
    file: 'api/inference/scrub/scrub-patterns.ts',
    pattern: '\\b[a-z][a-z\\d+.-]{0,19}:\\/\\/[^\\s"\'`<>]*',
    because:
      'It reads at most 2,000 characters of a provider’s words, and its only open repeat ends the pattern.',
  },
  {
    file: 'api/inference/scrub/scrub-words.ts',
    pattern: '=+$',
    because:
      'It reads the base64 of a key from the configuration, which ends in two such characters at most.',
  },
  {
    file: 'api/inference/scrub/hidden-forms.ts',
    pattern:
      "new RegExp([...source.map((each) => each.replaceAll('/', String.raw`\\\\?/`)), ESCAPE].join('|'))",
    because: 'It is a list of words from the configuration, each without a repeat.',
  },
  {
    file: 'api/console/page/lib/usd.js',
    pattern: '\\B(?=(\\d{3})+$)',
    because:
      'It reads an amount of this gateway in the browser of whoever looks at it: thirty characters at most.',
  },
  {
    file: 'api/console/page/lib/decimal.js',
    pattern: '\\B(?=(\\d{3})+$)',
    because:
      'It reads a price or a size of a market in the browser of whoever looks at it: thirty characters at most.',
  },
  {
    file: 'api/console/page/lib/usd.js',
    pattern: '0+$',
    because: 'It reads nine digits, those behind the point of an amount.',
  },
  {
    file: 'api/console/page/views/playground.js',
    pattern: '0+$',
    because:
      'It reads the digits of a listed price in the browser of whoever looks at it: thirty characters at most.',
  },
  {
    file: 'api/media/write-video-order.ts',
    pattern: 'new RegExp(`${mark}\\\\d+`)',
    because:
      'A mark of 24 letters and digits and the digits behind it: each search ends where the mark does.',
  },
  {
    file: 'api/core/catalog/video-sku.ts',
    pattern: 'new RegExp(`^${pattern}$`)',
    because:
      'The patterns are constants of the same file, and read a name from a list of prices of the operator’s own provider.',
  },
  {
    file: 'api/admin/routes/credit.ts',
    pattern: 'new RegExp(`^[\\\\w.:-]{1,${GRANT_ID_CHARS_MAX}}$`)',
    because: 'One class of characters with a bound from the limits, on what an operator sends.',
  },
  {
    file: 'api/core/market/candle-text.ts',
    pattern:
      'new RegExp( `^\\\\["(${intervals.join(\'|\')})",(${COUNT}),${Array(6).fill(DIGITS)},${Array(4).fill(`(${COUNT})`)},\\\\[((?:${COUNT}(?:,${COUNT})*)?)\\\\],(${COUNT})\\\\]$`, )',
    because:
      'Every part of it ends at a character that the part cannot hold, and it reads what the gateway itself has written.',
  },
];
