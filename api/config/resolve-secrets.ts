import { SECRET_CHARS_MAX } from '#core/limits.ts';
import { Secret } from '#core/secret.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigDraft } from './config-draft.ts';
import type { ConfigProblem } from './config-error.ts';

export type ReadFile = (path: string) => Promise<string>;
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ResolvedSecrets {
  /** By the provider's position in the file. */
  apiKeys: (Secret | null)[];
  problems: ConfigProblem[];
}

/**
 * Fetches what `apiKeyEnv` and `apiKeyFile` point to. No message repeats the pointer: it may be a pasted key.
 */
export async function resolveSecrets(
  providers: NonNullable<ConfigDraft['providers']>,
  env: Environment,
  readFile: ReadFile,
  document: ConfigDocument,
): Promise<ResolvedSecrets> {
  const resolved: ResolvedSecrets = { apiKeys: [], problems: [] };
  for (const [index, { apiKeyEnv, apiKeyFile }] of providers.entries()) {
    const found = await resolveOne(apiKeyEnv, apiKeyFile, env, readFile);
    resolved.apiKeys.push(found instanceof Secret ? found : null);
    if (typeof found !== 'string') continue;
    const key = apiKeyFile === undefined ? 'apiKeyEnv' : 'apiKeyFile';
    resolved.problems.push(document.problem(['providers', index, key], found));
  }
  return resolved;
}

async function resolveOne(
  apiKeyEnv: string | undefined,
  apiKeyFile: string | undefined,
  env: Environment,
  readFile: ReadFile,
): Promise<Secret | string | null> {
  if (apiKeyEnv !== undefined && apiKeyFile !== undefined)
    return 'stands beside apiKeyEnv; keep one of the two';
  if (apiKeyEnv !== undefined) {
    const value = env[apiKeyEnv] ?? '';
    return value === '' ? 'names an environment variable that is not set' : parseApiKey(value);
  }
  if (apiKeyFile === undefined) return null;
  try {
    return parseApiKey(await readFile(apiKeyFile));
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

/** ` (ENOENT)`, or nothing. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? ` (${error.code})`
    : '';
}
