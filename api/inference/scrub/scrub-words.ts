import type { Endpoint, Model, Provider } from '#core/catalog/catalog.ts';
import { addressesOf, isWordKey, LONG_LITERAL_CHARS, modelLiterals, namesIn } from './hidden-literals.ts';
import { removeByPattern } from './scrub-patterns.ts';
import { REMOVED } from './scrub-traces.ts';

/** Everything of a provider that its own words may repeat and that no caller may read. */
export interface Hidden {
  provider: Pick<Provider, 'id' | 'apiKey' | 'baseUrl'>;
  /** The model's id at the provider, which is shown as `publicModel`. */
  upstreamModel: string;
  publicModel: string;
}

/** The words that no answer of an endpoint may show. It is one object for all its answers, by which others cache what they make of it. */
export function hiddenOf({ provider, endpoint, model }: AnsweredBy): Hidden {
  const cached = hiddenAt.get(endpoint);
  if (cached !== undefined && cached.provider === provider && cached.publicModel === model.id) return cached;
  const hidden = { provider, upstreamModel: endpoint.upstreamModel, publicModel: model.id };
  hiddenAt.set(endpoint, hidden);
  return hidden;
}

interface AnsweredBy {
  provider: Provider;
  endpoint: Endpoint;
  model: Model;
}

const hiddenAt = new WeakMap<Endpoint, Hidden>();

/** The most characters of a text that the scrubber reads. */
export const WORDS_CHARS_READ = 2_000;
const WORDS_CHARS_SHOWN = 300;
/** No word at the end of a text that was cut is longer, so nothing of a key that was cut in half is left. */
const CUT_WORD_CHARS = 512;

/**
 * The one way by which words of a provider reach a caller: one line of at most 300 characters without the provider's key,
 * address, names and model, then without anything that looks like a key, an address, a path or an account. Every step is
 * linear in a text of at most 2,000 characters.
 *
 * @returns `null` where no word is left.
 */
export function scrubWords(words: string, hidden: Hidden): string | null {
  const { provider, upstreamModel, publicModel } = hidden;
  let text = decode(firstChars(words).replace(PRIVATE_USE, ''));
  if (provider.apiKey !== null) text = removeKey(text, provider.apiKey);
  text = replaceAll(text, addressesOf(provider), REMOVED);
  text = replaceAll(text, modelLiterals(upstreamModel, publicModel), MODEL);
  text = removeByPattern(text);
  text = replaceAll(text, namesIn(provider), 'the provider');
  const shown = text
    .replaceAll(MODEL, publicModel)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, WORDS_CHARS_SHOWN);
  return HAS_WORDS.test(shown) ? shown : null;
}

/** Whether an id of a provider repeats its key or its address. Asked for every answer, so the literals are made once. */
export function repeatsHidden(id: string, provider: Hidden['provider']): boolean {
  let literals = literalsOf.get(provider);
  if (literals === undefined) {
    const { apiKey } = provider;
    literals = [...(apiKey === null ? [] : [apiKey]), ...addressesOf(provider)].map((each) =>
      each.toLowerCase(),
    );
    literalsOf.set(provider, literals);
  }
  const lower = id.toLowerCase();
  return literals.some((literal) =>
    literal.length < LONG_LITERAL_CHARS ? containsWord(lower, lower, literal) : lower.includes(literal),
  );
}

const literalsOf = new WeakMap<Hidden['provider'], readonly string[]>();

const HAS_WORDS = /[\p{L}\p{N}]/u;

/** Stands for the public id of the model, so that no later step takes it for a name of a vendor. */
const MODEL = '\uE000';
const PRIVATE_USE = /[\uE000-\uF8FF]/g;

function firstChars(words: string): string {
  if (words.length <= WORDS_CHARS_READ) return words;
  const read = words.slice(0, WORDS_CHARS_READ);
  const lastBlankAt = read.lastIndexOf(' ');
  return read.slice(0, Math.max(lastBlankAt, WORDS_CHARS_READ - CUT_WORD_CHARS));
}

/** Servers quote each other's answers, so one text may be escaped several times over. */
const ESCAPE_ROUNDS = 3;
const ESCAPES =
  /%[2-7][0-9a-f]|\\u[0-9a-f]{4}|\\["'/\\]|&(?:quot|apos|amp|lt|gt|#\d{1,5}|#x[0-9a-f]{1,4});/gi;

/** Percent signs, escapes of JSON and entities of HTML, as the characters that they stand for. */
function decode(text: string): string {
  let decoded = text;
  for (let round = 0; round < ESCAPE_ROUNDS; round++) {
    const next = decoded.replace(ESCAPES, decodeOne);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

function decodeOne(sequence: string): string {
  if (sequence.startsWith('%')) return charOf(Number.parseInt(sequence.slice(1), 16));
  if (/^\\u/i.test(sequence)) return charOf(Number.parseInt(sequence.slice(2), 16));
  if (sequence.startsWith('\\')) return sequence.slice(1);
  const name = sequence.slice(1, -1).toLowerCase();
  if (name.startsWith('#x')) return charOf(Number.parseInt(name.slice(2), 16));
  if (name.startsWith('#')) return charOf(Number(name.slice(1)));
  return ENTITIES.get(name) ?? ' ';
}

const charOf = (code: number): string =>
  code > 0xffff ? ' ' : String.fromCharCode(code).replace(PRIVATE_USE, '');

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['quot', '"'],
  ['apos', "'"],
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
]);

/** Replaces each literal, in their order. */
function replaceAll(text: string, literals: readonly string[], by: string): string {
  let shown = text;
  let folded = fold(shown);
  for (const literal of literals) {
    const before = shown;
    if (literal.length < LONG_LITERAL_CHARS)
      shown = replaceWord(shown.toLowerCase(), shown, literal.toLowerCase(), by);
    else shown = replaceFolded(shown, folded, literal, by);
    if (shown !== before) folded = fold(shown);
  }
  return shown;
}

/** Whether a word stands in the text by itself. `searched` is the text in the case of `word`. */
export function containsWord(searched: string, text: string, word: string): boolean {
  if (searched.length !== text.length) return false;
  for (let at = searched.indexOf(word); at >= 0; at = searched.indexOf(word, at + word.length))
    if (!isWordPart(text[at - 1]) && !isWordPart(text[at + word.length])) return true;
  return false;
}

/** A short literal counts only where it stands as a word of its own. `searched` is the text in the case of `word`. */
function replaceWord(searched: string, text: string, word: string, by: string): string {
  // A few letters change their length with their case.
  if (searched.length !== text.length) return text;
  let shown = '';
  let from = 0;
  for (let at = searched.indexOf(word); at >= 0; at = searched.indexOf(word, at + word.length)) {
    if (isWordPart(text[at - 1]) || isWordPart(text[at + word.length])) continue;
    shown += text.slice(from, at) + by;
    from = at + word.length;
  }
  return shown + text.slice(from);
}

const isWordPart = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}]/u.test(char);

function replaceFolded(text: string, { text: folded, places }: Folded, literal: string, by: string): string {
  const { text: wanted } = fold(literal);
  if (wanted === '') return text;
  let shown = '';
  let from = 0;
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, at + wanted.length)) {
    shown += text.slice(from, places[at]) + by;
    from = (places[at + wanted.length - 1] ?? 0) + 1;
  }
  return shown + text.slice(from);
}

interface Folded {
  /** The text in lower case without quotes, blanks and the like. */
  text: string;
  /** Where each of its characters stood before. */
  places: number[];
}

function fold(text: string): Folded {
  const lower = text.toLowerCase();
  // A few letters change their length with their case.
  const source = lower.length === text.length ? lower : text;
  const places: number[] = [];
  let folded = '';
  for (let at = 0; at < source.length; at++) {
    const char = source.charAt(at);
    if (BETWEEN.has(char)) continue;
    folded += char;
    places.push(at);
  }
  return { text: folded, places };
}

/** Characters that a quotation may put into the middle of a literal. */
const BETWEEN: ReadonlySet<string> = new Set(
  ' \t\n\v\f\r\u00a0"\'`\\+\u00ad\u200b\u200c\u200d\u200e\u200f\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2060\ufeff',
);

function removeKey(text: string, key: string): string {
  if (isWordKey(key)) return replaceWord(text, text, key, REMOVED);
  const encoded = Buffer.from(key).toString('base64').replace(/=+$/, '');
  const removed = replaceFolded(text, fold(text), key, REMOVED);
  const withoutBoth = replaceFolded(removed, fold(removed), encoded, REMOVED);
  return withoutBoth.replace(EXCERPT_WORDS, (word) => (isExcerpt(word, key) ? REMOVED : word));
}

const EXCERPT_WORDS = /[^\s"'`()<>{}[\],;|=:]+/g;
const MASK = /\*{3}|•{3}|\.{3}|…|[xX]{4}|#{3}/;
const KEY_PREFIX = /^(?:sk|pk|rk|gsk|hf|key|token|xai|nvapi)[-_]/i;

/** A part of the key as servers show it: `sk-...abcd`, `****abcd`, or its last characters alone. */
function isExcerpt(word: string, key: string): boolean {
  const lowerKey = key.toLowerCase();
  const at = word.search(MASK);
  if (at >= 0) {
    const prefix = word.slice(0, at).toLowerCase();
    const suffix = word
      .slice(at)
      .replace(/^[*•.…xX#]+/, '')
      .replace(/\.$/, '')
      .toLowerCase();
    if (/[*•#]/.test(word.charAt(at))) return prefix !== '' || suffix !== '';
    return (
      KEY_PREFIX.test(prefix) ||
      (prefix.length >= 2 && lowerKey.startsWith(prefix)) ||
      (suffix.length >= 2 && lowerKey.endsWith(suffix))
    );
  }
  const part = word.replace(/[.!?]$/, '');
  if (part.length < 4 || key.length < 8 || !key.includes(part)) return false;
  const isMixed = /\d/.test(part);
  if (key.endsWith(part)) return isMixed || key.length >= 12;
  return isMixed ? part.length >= 6 : key.startsWith(part) && part.length >= 8;
}
