import type { ProviderSettings } from '#core/catalog/catalog-settings.ts';
import { type Config, loadConfig } from '../../api/config/config.ts';
import { ConfigError } from '../../api/config/config-error.ts';
import { DIALECT_NAMES, type DialectName, dialects } from '../../api/providers/openai/dialects.ts';

export const FILE = '/etc/faregate/faregate.yaml';

/** Reads from memory; other paths do not exist. */
export function filesOf(texts: Record<string, string>): (path: string) => Promise<string> {
  return async (path) => {
    const text = texts[path];
    if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
    return text;
  };
}

/** Every name leads to a public address: no test asks a name server. */
const publicly = async (): Promise<string[]> => ['8.8.8.8'];

export const load = (
  yaml: string,
  env: Record<string, string> = {},
  others: Record<string, string> = {},
): Promise<Config> =>
  loadConfig({ ...env, FAREGATE_CONFIG: FILE }, filesOf({ ...others, [FILE]: yaml }), publicly);

/** The name under which an operator knows its dialect. Some dialects are equal in all their members, so only identity counts. */
export const dialectNameOf = (
  provider: Pick<ProviderSettings, 'dialect'> | undefined,
): DialectName | undefined => DIALECT_NAMES.find((name) => dialects[name] === provider?.dialect);

/** The lines of the error that a wrong configuration stops the start with, without the heading. */
export async function mistakes(
  yaml: string,
  env: Record<string, string> = {},
  others: Record<string, string> = {},
): Promise<string[]> {
  return linesOf(load(yaml, env, others));
}

export async function linesOf(loading: Promise<Config>): Promise<string[]> {
  const error = await loading.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigError))
    throw new Error('This configuration should have been refused.', { cause: error });
  const [, ...lines] = error.message.split('\n');
  return lines.map((line) => line.trim().replace(`${FILE}:`, ''));
}
