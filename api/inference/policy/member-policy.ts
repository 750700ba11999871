import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import {
  bodyKinds,
  contentKinds,
  foldedNames,
  foldName,
  KNOWN_NAME_CHARS_MAX,
  objectKinds,
  typesOfLinks,
} from './known-members.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * A member whose name differs from a known one by case alone, in any object that the gateway reads. Servers written in Go
 * take `URL` for `url`, and the last of both wins: the gateway would have checked one link, and the server follow the other.
 * `null`: there is none.
 */
export function refuseSpellings(format: FormatName, body: Members): ApiError | null {
  const found = findSpelling(body, bodyKinds[format]);
  if (found === null) return null;
  const { known, sent, path } = found;
  const param = path + known;
  return apiError('invalid_request', {
    param,
    message: `Write \`${known}\` ${known === known.toLowerCase() ? 'in small letters' : 'in these letters'}, not as \`${sent}\`: \`${param}\` would be read in two ways.`,
  });
}

interface Spelling {
  sent: string;
  known: string;
  /** The path of the object that contains it, with a dot at its end; empty for the body. */
  path: string;
}

function findSpelling(object: Members, kind: string): Spelling | null {
  const known = objectKinds.get(kind);
  if (known === undefined) return null;
  for (const sent of Object.keys(object)) {
    const inside = known.get(sent);
    if (inside === undefined) {
      if (sent.length > KNOWN_NAME_CHARS_MAX) continue;
      const folded = foldedNames.get(kind)?.get(foldName(sent));
      if (folded !== undefined) return { sent, known: folded, path: '' };
      continue;
    }
    if (inside === null) continue;
    const found = findInside(object[sent], inside);
    // The path is put together on the way back, because hardly any body needs one.
    if (found !== null) return { ...found, path: `${sent}${found.path}` };
  }
  return null;
}

function findInside(value: unknown, kind: string): Spelling | null {
  if (isRecord(value)) {
    const found = findSpelling(value, kind);
    return found === null ? null : { ...found, path: `.${found.path}` };
  }
  if (!Array.isArray(value)) return null;
  for (const [index, each] of value.entries()) {
    const found = isRecord(each) ? findSpelling(each, kind) : null;
    if (found !== null) return { ...found, path: `[${index}].${found.path}` };
  }
  return null;
}

/**
 * Finds a possible link in a member that the gateway does not read there, so that no rule for links
 * was asked: `image_url` in a part of text, `attachments` of a message, `uri` beside `url`. `null`: nowhere.
 */
export function findStrayLink(
  format: FormatName,
  body: Readonly<Record<(typeof PROMPT_MEMBERS)[number], unknown>>,
): string | null {
  const room = { texts: STRAY_TEXTS_MAX };
  for (const member of PROMPT_MEMBERS) {
    const kind = objectKinds.get(bodyKinds[format])?.get(member);
    const found = kind ? strayInside(body[member], kind, room) : null;
    if (found !== null) return member + found;
  }
  return null;
}

/** The members of a body from which servers read images and files. */
const PROMPT_MEMBERS = ['messages', 'input', 'system'] as const;

/** Texts in members that no format knows of which so many are looked at. Beyond them a member may hold a link. */
const STRAY_TEXTS_MAX = 50_000;
interface StrayRoom {
  texts: number;
}

function strayInside(value: unknown, kind: string, room: StrayRoom): string | null {
  if (isRecord(value)) {
    const found = strayIn(value, kind, room);
    return found === null ? null : `.${found}`;
  }
  if (!Array.isArray(value)) return null;
  for (const [index, each] of value.entries()) {
    const found = isRecord(each) ? strayIn(each, kind, room) : null;
    if (found !== null) return `[${index}].${found}`;
  }
  return null;
}

function strayIn(object: Members, kind: string, room: StrayRoom): string | null {
  const known = objectKinds.get(kind);
  for (const [name, value] of Object.entries(object)) {
    if (value === null) continue;
    const inside = isReadHere(object, name) ? known?.get(name) : undefined;
    if (inside === undefined) {
      if (!TEXT_MEMBERS.has(name) && mayHoldLink(value, room)) return name;
    } else if (inside !== null && contentKinds.has(inside)) {
      const found = strayInside(value, inside, room);
      if (found !== null) return name + found;
    }
  }
  return null;
}

/** An object without a type of its own, such as an image of an earlier answer, is read whatever it is. */
function isReadHere({ type }: Members, name: string): boolean {
  const types = typesOfLinks.get(name);
  return types === undefined || type === undefined || types.has(type);
}

/**
 * Members that hold words of an earlier answer, or notes of the caller's. No server follows an address in them, and agents send them
 * back as they came: a model that thought of a page would make every later call fail.
 */
const TEXT_MEMBERS: ReadonlySet<string> = new Set([
  ...[
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'reasoning_text',
    'thinking',
    'thinking_blocks',
    'thought',
    'cot_summary',
  ],
  ...['metadata', 'provider_specific_fields'],
]);

function mayHoldLink(value: unknown, room: StrayRoom): boolean {
  if (typeof value === 'string') return room.texts-- <= 0 || mayBeLink(value);
  if (typeof value !== 'object' || value === null) return false;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (mayHoldLink(inner, room)) return true;
  }
  return false;
}

/**
 * Servers take web addresses, `data:` and `file:`, and some of them the path of an image. They skip blanks before an
 * address, and line ends and tabs in it. They follow a text as a whole, so a sentence that names an address leads nowhere.
 */
function mayBeLink(text: string): boolean {
  if (!LINK_SIGN.test(text)) return false;
  const plain = (SKIPPED.test(text) ? text.replaceAll(/[\t\n\r]/g, '') : text).trim();
  const blankAt = plain.indexOf(' ');
  const firstWord = blankAt < 0 ? plain : plain.slice(0, blankAt);
  const begin = plain.slice(0, LONGEST_SIGN).toLowerCase();
  const end = plain.slice(-LONGEST_SIGN).toLowerCase();
  return (
    firstWord.includes('://') ||
    BEGINNINGS.some((sign) => begin.startsWith(sign)) ||
    // Base64 may begin with two slashes, but it has no dot.
    (begin.startsWith('//') && plain.includes('.')) ||
    ((blankAt < 0 || PATH_SIGN.test(firstWord)) && ENDINGS.some((sign) => end.endsWith(sign)))
  );
}

/** Every address, path and name of an image has one of these. */
const LINK_SIGN = /[:.\\]/;
const SKIPPED = /[\t\n\r]/;
const BEGINNINGS = ['http:', 'https:', 'file:', 'data:', 'ftp:', '\\\\'];
/** A path may have blanks in it, behind its first folder; a sentence that ends with the name of an image is none. */
const PATH_SIGN = /[/\\]|^[.~]/;
const ENDINGS = ['.png', '.jpg', '.jpeg', '.webp', '.gif'];
const LONGEST_SIGN = 6;
