import { resolve } from 'node:path';
import type { CatalogSettings } from '#core/catalog/catalog-settings.ts';
import type { Limits } from '#core/limits.ts';
import { isLoopbackHost } from '#core/loopback.ts';
import type { Secret } from '#core/secret.ts';
import { withoutEndSlashes } from '#core/without-end-slashes.ts';
import { ConfigError, type ConfigProblem, environmentProblem } from './config-error.ts';
import type { ConfigFile } from './config-file.ts';
import { contentHash, noteReads } from './content-hash.ts';
import { defaultProviders } from './default-providers.ts';
import type { FilesConfig } from './files-settings.ts';
import { readConfigFile } from './read-config-file.ts';
import { readRegularFile } from './read-regular-file.ts';
import type { Environment, ReadFile } from './resolve-secrets.ts';
import { type LookupHost, lookupHost } from './settle-dialect.ts';
import type { StorageConfig } from './storage-settings.ts';
import { toImageSettings, toVideoSettings } from './to-media-settings.ts';
import { toDollars, toModelSettings } from './to-settings.ts';

/** Everything that the operator decides, checked. Secrets in it never print. */
export interface Config extends CatalogSettings {
  /** `null`: no file was named, and nothing can be reloaded. */
  file: string | null;
  /** What this record was made from: the file itself and the key files that it names. */
  watchedFiles: readonly string[];
  contentHash: string;
  server: ServerConfig;
  storage: StorageConfig;
  /** The admin API's token. `null`: one is made in the data folder. */
  adminToken: Secret | null;
  files: FilesConfig;
  market: 'on' | 'off';
  media: ConfigFile['media'];
  limits: Limits;
  capacity: ReturnType<typeof toCapacity>;
  demo: DemoMode;
  /** Sentences for the operator at start: what was assumed, what is not used. */
  notices: readonly string[];
}

/**
 * Whether a start may make a demo agent. `first-start`: in a ledger without agents, because no file was named and only this machine
 * can reach the gateway. `on`: in any ledger that has none yet.
 */
export type DemoMode = 'off' | 'first-start' | 'on';

/** As `config-file.ts` describes it. Addresses have no trailing slash. */
interface ServerConfig extends Omit<ConfigFile['server'], 'publicUrl' | 'mcpUrl' | 'drainMs'> {
  /** `null`: made from the host and the port that was bound. */
  publicUrl: string | null;
  mcpUrl: string | null;
  /** `null`: as long as the limits of calls. */
  drainMs: number | null;
}

/** Reads `FAREGATE_CONFIG` and the environment. Throws a `ConfigError` that lists every mistake. */
export async function loadConfig(
  env: Environment = process.env,
  readFile: ReadFile = readRegularFile,
  lookup: LookupHost = lookupHost,
): Promise<Config> {
  const file = textOf(env, 'FAREGATE_CONFIG');
  const defaults = defaultProviders(env);
  const texts = new Map<string, string | null>();
  const read = await readConfigFile({ file, env, readFile: noteReads(readFile, texts), lookup, defaults });
  const problems = read.ok ? [] : read.problems;
  const port = portOf(env, 'PORT', problems);
  const internalPort = portOf(env, 'INTERNAL_PORT', problems);
  const demoSwitch = demoSwitchOf(env, problems);
  if (!read.ok || problems.length > 0) throw new ConfigError(problems);

  const { content, providers } = read;
  const server = toServer(content.server, port, internalPort);
  if (server.port === server.internalPort && server.port !== 0) {
    throw new ConfigError([environmentProblem('INTERNAL_PORT', 'is the same as PORT: each needs its own')]);
  }
  const own = toModelSettings(content.models);
  // The simulator inside this process, which other processes of a cluster could not ask.
  const isCluster = read.storage.mode === 'cluster';
  return {
    file,
    watchedFiles: [...texts.keys()],
    contentHash: contentHash(texts),
    server,
    storage: { ...read.storage, dataDir: resolve(textOf(env, 'FAREGATE_DATA') ?? read.storage.dataDir) },
    adminToken: read.adminToken,
    files: read.files,
    market: content.market,
    media: content.media,
    limits: content.limits,
    capacity: toCapacity(content.capacity),
    demo: isCluster ? 'off' : (demoSwitch ?? (file === null && isOnLoopback(server) ? 'first-start' : 'off')),
    stopped: content.stopped,
    providers: providers ?? defaults.providers.filter(({ baseUrl }) => baseUrl !== null || !isCluster),
    models: providers === null ? [...own.models, ...defaults.models] : own.models,
    stoppedModels: own.stoppedModels,
    videos: toVideoSettings(content.videoModels),
    images: toImageSettings(content.imageModels),
    notices: [
      ...(providers === null ? defaults.notices : read.notices),
      ...filesNotices(content.files, read.files),
      ...(isCluster && demoSwitch === 'on' ? ['FAREGATE_DEMO is ignored: a cluster has no demo agent.'] : []),
    ],
  };
}

/** An operator who wrote `none` needs no notice. */
const filesNotices = (written: ConfigFile['files'], { kind }: FilesConfig): string[] =>
  kind === 'none' && written.kind === undefined
    ? ['Uploads are refused: a cluster keeps files in an S3 store, and `files` names none.']
    : [];

/** Empty counts as unset: compose files and charts often pass variables through that nobody filled. */
const textOf = (env: Environment, name: string): string | null => env[name] || null;

function portOf(env: Environment, name: string, problems: ConfigProblem[]): number | null {
  const text = textOf(env, name);
  if (text === null) return null;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  problems.push(environmentProblem(name, 'has to be a port number, from 0 to 65535'));
  return null;
}

/** `null`: nothing is said. */
function demoSwitchOf(env: Environment, problems: ConfigProblem[]): 'on' | 'off' | null {
  const text = textOf(env, 'FAREGATE_DEMO');
  if (text === null) return null;
  if (text === '1') return 'on';
  if (text === '0') return 'off';
  problems.push(environmentProblem('FAREGATE_DEMO', 'must be 1 (make a demo agent) or 0 (make none)'));
  return null;
}

const isOnLoopback = ({ host, internalHost }: ServerConfig): boolean =>
  isLoopbackHost(host) && isLoopbackHost(internalHost);

function toServer(
  file: ConfigFile['server'],
  port: number | null,
  internalPort: number | null,
): ServerConfig {
  return {
    ...file,
    port: port ?? file.port,
    internalPort: internalPort ?? file.internalPort,
    publicUrl: file.publicUrl === undefined ? null : withoutEndSlashes(file.publicUrl),
    drainMs: file.drainMs ?? null,
    mcpUrl: file.mcpUrl === undefined ? null : withoutEndSlashes(file.mcpUrl),
  };
}

const toCapacity = ({
  perCallUsd,
  poolUsd,
  dailySharePerAgentUsd: dailyShare,
  ...loads
}: ConfigFile['capacity']) => ({
  perCallNanoUsd: toDollars(perCallUsd),
  poolNanoUsd: toDollars(poolUsd),
  dailySharePerAgentNanoUsd: dailyShare === null ? null : toDollars(dailyShare),
  ...loads,
});
