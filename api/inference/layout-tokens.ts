/**
 * What tools and schemas may grow by where a chat template prints them with a line for every value, as Llama's do:
 * blanks and line ends are no bytes of the body.
 */
export function layoutTokens(body: Readonly<Record<string, unknown>>): number {
  let tokens = 0;
  for (const member of PRINTED) tokens += linesOf(body[member], 0);
  return tokens;
}

const PRINTED = ['tools', 'functions', 'response_format', 'text', 'output_config'] as const;

/** The line's end, its indent, and the blank after a colon; of a list or an object, what closes it. */
const LINE_TOKENS = 3;
/** Four blanks each: tokenizers have one token for as many. */
const LEVELS_PER_TOKEN = 7;

/** No deeper than parsing has checked. */
function linesOf(value: unknown, depth: number): number {
  if (value === undefined) return 0;
  // Deep ones are indented by more than one token, where they open and where they close.
  let tokens = LINE_TOKENS + 2 * Math.floor(depth / LEVELS_PER_TOKEN);
  if (typeof value !== 'object' || value === null) return tokens;
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    tokens += linesOf(inner, depth + 1);
  return tokens;
}
