import { SECRET_CHARS_MAX } from '#core/limits.ts';
import { Secret } from '#core/secret.ts';
import type { ConfigDocument, Path } from './config-document.ts';
import type { ConfigProblem } from './config-error.ts';

export type ReadFile = (path: string) => Promise<string>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** A map of the file in which `<name>Env` or `<name>File` points to a secret. */
export interface SecretPlace {
  path: Path;
  name: 'apiKey' | 'password' | 'secret' | 'token' | 'accessKeyId' | 'secretAccessKey';
  env: string | undefined;
  file: string | undefined;
  /** The secret, or what is wrong with it. */
  parse: (text: string) => Secret | string;
}

/** The place of the secret `name` in a block of the file. */
export const secretPlace = <Name extends SecretPlace['name']>(
  path: Path,
  name: Name,
  block: Pointers<Name>,
  parse: SecretPlace['parse'],
): SecretPlace => ({ path, name, env: block[`${name}Env`], file: block[`${name}File`], parse });

type Pointers<Name extends string> = { [Key in `${Name}Env` | `${Name}File`]?: string | undefined };

interface ResolvedSecrets {
  /** By the place's position; `null`: it points nowhere, or could not be resolved. */
  secrets: (Secret | null)[];
  problems: ConfigProblem[];
}

/** No message repeats a pointer: it may be a pasted secret. */
export async function resolveSecrets(
  places: readonly SecretPlace[],
  env: Environment,
  readFile: ReadFile,
  document: ConfigDocument,
): Promise<ResolvedSecrets> {
  const resolved: ResolvedSecrets = { secrets: [], problems: [] };
  for (const place of places) {
    const found = await resolveOne(place, env, readFile);
    resolved.secrets.push(found instanceof Secret ? found : null);
    if (typeof found !== 'string') continue;
    const key = place.file === undefined ? `${place.name}Env` : `${place.name}File`;
    resolved.problems.push(document.problem([...place.path, key], found));
  }
  return resolved;
}

async function resolveOne(
  { name, env: variable, file, parse }: SecretPlace,
  env: Environment,
  readFile: ReadFile,
): Promise<Secret | string | null> {
  if (variable !== undefined && file !== undefined) return `stands beside ${name}Env; keep one of the two`;
  if (variable !== undefined) {
    const value = env[variable] ?? '';
    return value === '' ? 'names an environment variable that is not set' : parse(value);
  }
  if (file === undefined) return null;
  try {
    return parse(await readFile(file));
  } catch (error) {
    return `names a file that cannot be read${errorCode(error)}`;
  }
}

/** One printable word: anything else would break, or break out of, the header that it is sent in. */
export function parseApiKey(text: string): Secret | string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= SECRET_CHARS_MAX) return new Secret(key);
  return 'names a key that is empty, too long, or not one word of letters, digits and signs';
}

/** Blanks count, but for the end of the line that editors put behind it. */
export function parsePassword(text: string): Secret | string {
  const password = text.replace(/\r?\n$/, '');
  if (/^[^\r\n\0]+$/.test(password) && password.length <= SECRET_CHARS_MAX) return new Secret(password);
  return 'names a password that is empty, too long, or more than one line';
}

/** Below it, a stolen store could be tried against guesses of the secret. */
const PEPPER_BYTES_MIN = 32;

/** As `openssl rand -base64 32` prints it, or as it stands in the `pepper.json` of an embedded gateway. */
export function parsePepper(text: string): Secret | string {
  const secret = text.trim();
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(secret) && secret.length <= SECRET_CHARS_MAX;
  if (isBase64 && pepperBytes(secret).length >= PEPPER_BYTES_MIN) return new Secret(secret);
  return `names a secret that is not ${PEPPER_BYTES_MIN} bytes or more in base64: openssl rand -base64 32 makes one`;
}

/** Both alphabets of base64 are read. */
export const pepperBytes = (text: string): Buffer => Buffer.from(text, 'base64');

/** ` (ENOENT: there is no such file)`, or nothing. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return '';
  const meaning = meanings[error.code];
  return ` (${error.code}${meaning === undefined ? '' : `: ${meaning}`})`;
}

const meanings: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such file',
};
