import { addressesOf, isWordKey, LONG_LITERAL_CHARS, modelLiterals } from './hidden-literals.ts';
import { containsWord, type Hidden } from './scrub-words.ts';

/** Something that no answer may show, in small letters. */
interface Form {
  text: string;
  /** It counts only where it stands as a word of its own. */
  isWord: boolean;
}

interface Forms {
  /** Finds bytes of an answer, in small letters, in which one of the forms may stand. */
  search: RegExp;
  /** The longest match of the search. */
  searchChars: number;
  /** A key such as `EMPTY`, which counts only in the letters of the configuration; `null`: the key is no word. */
  wordKey: string | null;
  /** The key, and addresses that name the provider alone. */
  own: readonly Form[];
  /** Parents of the host, such as `corp.internal`. */
  parents: readonly Form[];
  /** Names of the model that count anywhere in a value. */
  modelParts: readonly string[];
  /** Names of the model that count only as a whole value, as JSON. */
  modelValues: readonly string[];
}

const SLICE_BYTES = 65_536;

/**
 * Whether one of the forms stands in these bytes, in the answer's own text perhaps. Each new event of a stream is asked about, so this is
 * one search, in less than a microsecond.
 */
export function mayTellHidden(bytes: Buffer, hidden: Hidden): boolean {
  const { search, searchChars, wordKey } = formsOf(hidden);
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    const text = bytes.toString('latin1', from, Math.min(bytes.length, from + SLICE_BYTES + searchChars));
    if (search.test(text.toLowerCase()) || (wordKey !== null && text.includes(wordKey))) return true;
  }
  return false;
}

/** Whether a member, as JSON, repeats the provider's key, its address or its name of the model. */
export function tellsHidden(json: string, hidden: Hidden): boolean {
  const { parents, modelParts } = formsOf(hidden);
  const lower = json.toLowerCase();
  return (
    tellsFound(json, hidden, lower) ||
    contains(lower, parents) ||
    modelParts.some((part) => lower.includes(part))
  );
}

/** The same of pages that were found: they may write about the model, and lie at an address of the provider's company. */
export function tellsFound(json: string, hidden: Hidden, lower = json.toLowerCase()): boolean {
  return tellsOwn(json, hidden, lower) || formsOf(hidden).modelValues.some((value) => lower.includes(value));
}

/** The same of words of the caller, who may name any model. */
export function tellsOwn(json: string, hidden: Hidden, lower = json.toLowerCase()): boolean {
  const { own, wordKey } = formsOf(hidden);
  if (wordKey !== null && containsWord(json, json, wordKey)) return true;
  return contains(lower, own);
}

const contains = (lower: string, forms: readonly Form[]): boolean =>
  forms.some(({ text, isWord }) => (isWord ? containsWord(lower, lower, text) : lower.includes(text)));

const formsAt = new WeakMap<Hidden, Forms>();

function formsOf(hidden: Hidden): Forms {
  const cached = formsAt.get(hidden);
  if (cached !== undefined) return cached;
  const key = hidden.provider.apiKey ?? '';
  const wordKey = key.length > 1 && isWordKey(key) ? key : null;
  const keys = wordKey === null && key !== '' ? [key, ...base64Forms(key)] : [];
  const { own, parents, host } = addressForms(hidden.provider);
  const { modelParts, modelValues } = modelForms(hidden);
  const needles = [...keys.map((each) => each.toLowerCase()), ...host, ...modelParts, ...modelValues];
  const forms = {
    ...searchOf(needles),
    wordKey,
    own: [...keys.map((each) => ({ text: each.toLowerCase(), isWord: false })), ...own],
    parents,
    modelParts,
    modelValues: [...modelValues, ...modelParts.map((part) => JSON.stringify(part))],
  };
  formsAt.set(hidden, forms);
  return forms;
}

/** The key inside base64, behind any number of other bytes, as in `base64("user:" + key)`. */
function base64Forms(key: string): string[] {
  if (key.length < LONG_LITERAL_CHARS) return [];
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]);
    // Characters that hold bits of other bytes differ.
    const whole = bytes
      .toString('base64')
      .slice(Math.ceil((before * 8) / BASE64_BITS), Math.floor((bytes.length * 8) / BASE64_BITS));
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const BASE64_BITS = 6;

interface AddressForms {
  own: Form[];
  parents: Form[];
  /** Texts of which one stands in every form. */
  host: string[];
}

function addressForms(provider: Hidden['provider']): AddressForms {
  const { hostname = '', username = '', password = '' } = URL.parse(provider.baseUrl) ?? {};
  const bare = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const all = addressesOf(provider).map((each) => each.toLowerCase());
  const isParent = (each: string): boolean => bare.endsWith(`.${each}`) || !/[.:]/.test(each);
  const secrets = new Set([username.toLowerCase(), password.toLowerCase()]);
  const formOf = (text: string): Form => ({ text, isWord: text.length < LONG_LITERAL_CHARS });
  // Every form has the last two labels of its host in it.
  const host = /[a-z]/.test(bare) && !bare.includes(':') ? bare.split('.').slice(-2).join('.') : bare;
  return {
    own: all.filter((each) => secrets.has(each) || !isParent(each)).map(formOf),
    parents: all.filter((each) => !secrets.has(each) && isParent(each)).map(formOf),
    host: host === '' ? all : [host, ...all.filter((each) => !each.includes(host))],
  };
}

/** A name that is short, that the public one has in it, or that may be an ordinary word, counts as a whole value at most. */
function modelForms({ upstreamModel, publicModel }: Hidden): { modelParts: string[]; modelValues: string[] } {
  if (upstreamModel === publicModel) return { modelParts: [], modelValues: [] };
  const full = upstreamModel.toLowerCase();
  const shown = publicModel.toLowerCase();
  const names = modelLiterals(upstreamModel, publicModel).map((each) => each.toLowerCase());
  // The name without its vendor may be all that is left of the public one, and then it tells nothing.
  const telling = [...new Set(names)].filter((name) => name === full || !shown.includes(name));
  const isPart = (name: string): boolean =>
    name.length >= MODEL_CHARS_MIN && !shown.includes(name) && (name === full || /\d/.test(name));
  return {
    modelParts: telling.filter(isPart),
    modelValues: telling
      .filter((name) => name !== shown && !isPart(name))
      .map((name) => JSON.stringify(name)),
  };
}

const MODEL_CHARS_MIN = 6;

/** An escape that may be a letter, a digit or a dash, which hides the rest of its word from the search. */
const ESCAPE = String.raw`\\u00(?:2[d-f]|3[\da]|[4-7])`;

/** Stands in the names of members that servers write for other servers of the operator. */
const INTERNAL_NEEDLE = '_params"';

function searchOf(needles: readonly string[]): Pick<Forms, 'search' | 'searchChars'> {
  const all = [...new Set([...needles, INTERNAL_NEEDLE])].map((needle) =>
    Buffer.from(needle).toString('latin1').toLowerCase(),
  );
  const shortest = all.filter((each) => !all.some((other) => other !== each && each.includes(other)));
  const source = shortest.map((each) => each.replace(/[\\^$.*+?()[\]{}|-]/g, String.raw`\$&`));
  return {
    // Some servers write a slash with a backslash before it.
    search: new RegExp([...source.map((each) => each.replaceAll('/', String.raw`\\?/`)), ESCAPE].join('|')),
    searchChars: 2 * Math.max(...shortest.map((each) => each.length)),
  };
}
