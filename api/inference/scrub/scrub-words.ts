import { domainToUnicode } from 'node:url';
import type { Endpoint, Model, Provider } from '#core/catalog/catalog.ts';
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
    literal.length < LONG_LITERAL_CHARS
      ? replaceWord(lower, lower, literal, REMOVED) !== lower
      : lower.includes(literal),
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

/** From this length on a literal is looked for inside words, in any case, and across quotes that were put between. */
const LONG_LITERAL_CHARS = 8;

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
  // `EMPTY` and its like are words, too: they are removed only as they were configured.
  const isWord = key.length < 4 || (key.length < LONG_LITERAL_CHARS && /^[a-z]*$/i.test(key));
  if (isWord) return replaceWord(text, text, key, REMOVED);
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

/** Every form in which a provider's address may stand in a sentence, the longest first. */
function addressesOf({ baseUrl }: Hidden['provider']): string[] {
  const url = URL.parse(baseUrl);
  if (url === null) return [baseUrl];
  const { hostname, host, origin, port, protocol, pathname, username, password } = url;
  const bare = hostname.replace(/^\[|\]$/g, '');
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  const labels = labelsOf(bare);
  const parents = labels.slice(1, -1).map((_, at) => labels.slice(at + 1).join('.'));
  const secrets = [username, password].map(decodeURIComponentOrSame);
  const withPort = [hostname, bare].map((name) => `${name}:${usedPort}`);
  return [baseUrl, origin + pathname, origin, host, ...withPort, hostname, bare, domainToUnicode(bare)]
    .concat(parents, secrets)
    .filter((literal) => literal.length > 1)
    .sort((a, b) => b.length - a.length);
}

const labelsOf = (host: string): string[] =>
  /[a-z]/i.test(host) && !host.includes(':') ? host.split('.') : [];

/** What else names a provider: the operator's id of it, labels of its host, and parts of its path such as an account. */
function namesIn({ id, baseUrl }: Hidden['provider']): string[] {
  const { hostname = '', pathname = '' } = URL.parse(baseUrl) ?? {};
  const parts = [...labelsOf(hostname), ...pathname.split('/')].map(decodeURIComponentOrSame);
  const names = parts.filter((part) => part.length >= 4 && !/^v\d/.test(part));
  return [id, ...names].filter((name) => name.length > 1 && !EVERYDAY.has(name.toLowerCase()));
}

function decodeURIComponentOrSame(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Forms of both ids, the longest first: one may be a part of the other. */
function modelLiterals(upstreamModel: string, publicModel: string): string[] {
  if (upstreamModel === publicModel) return [publicModel];
  const last = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1);
  const untagged = last.split(':')[0] ?? '';
  const forms = [upstreamModel, upstreamModel.replaceAll('/', '--'), last, untagged];
  const telling = forms.filter((form) => form.length >= 3 && !EVERYDAY.has(form.toLowerCase()));
  // As a sentence names it: `Llama 3.1 70B Instruct`. Without a digit that may be any two words.
  const spoken = telling
    .filter((form) => /\d/.test(form))
    .flatMap((form) => [form.replaceAll(/[-_]/g, ' '), form.replaceAll('-', '_'), form.replaceAll('_', '-')]);
  return [...new Set([publicModel, ...telling, ...spoken])].sort((a, b) => b.length - a.length);
}

/** Words that tell nobody who answers, although an id, a label of a host or a model may be one of them. */
const EVERYDAY: ReadonlySet<string> = new Set(
  `accounts ai api apis app backend backup base beta bot chat cheap client cloud cluster code com compat completion
  completions compute default demo deployment deployments dev docker endpoint endpoints fast fallback file files first
  free gateway global gpu host http https image images inference input internal json language large latest llm local
  locations main media message messages mini model models name net node openapi org organizations output platform port
  pool primary prod production projects prompt provider providers proxy public private region replicate response
  responses root route router runtime second secondary serve server service services serving simulator small staging
  stream svc system test text text-model token tokens together tool tools user users vision www zone`.split(
    /\s+/,
  ),
);
