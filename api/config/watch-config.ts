import { isDeepStrictEqual } from 'node:util';
import { needsBundledSimulator } from '#core/catalog/catalog-settings.ts';
import { type Clock, SECOND_MS, type Timer } from '#core/clock.ts';
import { type Config, loadConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { contentHash, noteReads, readTexts } from './content-hash.ts';
import { readRegularFile } from './read-regular-file.ts';
import type { Environment, ReadFile } from './resolve-secrets.ts';

/** How often the configuration file is checked for changes. */
export const CONFIG_POLL_MS = SECOND_MS;

/** The configuration in force, kept equal to its file while the process runs. */
export interface LiveConfig {
  /** Replaced whole by a reload, so nobody should keep it over a wait. */
  current(): Config;
  /** Reads the file again now, changed or not. Never rejects. */
  reload(): Promise<ReloadStatus>;
  /** `null`: as started. */
  lastReload(): ReloadStatus | null;
  close(): void;
}

export interface ReloadStatus {
  /** False: the file is wrong, and the configuration of before goes on. */
  ok: boolean;
  atMs: number;
  /** For the operator; of a wrong file also a line for each mistake, with its place. */
  message: string;
  /** Changed keys that count only after a restart, as `server.port`. */
  needsRestart: readonly string[];
}

interface Options {
  /** As loaded at start. */
  config: Config;
  clock: Clock;
  /** Takes a good new configuration: providers, models, limits, capacity, stop switches. */
  onChange: (config: Config) => void;
  /** Hears of every reload, good or bad: for the log and the metrics. */
  onReload: (status: ReloadStatus) => void;
  env?: Environment;
  readFile?: ReadFile;
}

/**
 * Looks at the content by the clock: a Kubernetes ConfigMap is replaced by moving a symbolic link, of which
 * file events tell nothing reliable. A change counts once two looks in a row agree, so that a file that is
 * being written is not taken half.
 */
export function watchConfig(options: Options): LiveConfig {
  const { config: started, clock, env } = options;
  const readFile: ReadFile = options.readFile ?? readRegularFile;
  let current = started;
  let last: ReloadStatus | null = null;
  let running: Promise<ReloadStatus> | null = null;
  /** Of the newest load, good or bad: its files are watched, and its content is not tried again. */
  let watched = started.watchedFiles;
  let triedHash = started.contentHash;
  let seenHash = started.contentHash;
  let timer: Timer | null = null;
  let closed = false;

  async function load(): Promise<ReloadStatus> {
    const texts = new Map<string, string | null>();
    try {
      const next = await loadConfig(env, noteReads(readFile, texts));
      const addsSimulator = needsBundledSimulator(next) && !needsBundledSimulator(started);
      if (addsSimulator) return refusedStatus(clock.now(), SIMULATOR_MESSAGE);
      const { server, storage, adminToken, files } = started;
      const inForce = { ...next, server, storage, adminToken, files };
      const notices = next.notices.filter((notice) => !current.notices.includes(notice));
      options.onChange(inForce);
      current = inForce;
      return acceptedStatus(clock.now(), changedKeys(started, next), notices);
    } catch (error) {
      return refusedStatus(clock.now(), error instanceof ConfigError ? error.message : INTERNAL_MESSAGE);
    } finally {
      watched = [...texts.keys()];
      triedHash = contentHash(texts);
    }
  }

  function reload(): Promise<ReloadStatus> {
    running ??= load()
      .then((status) => {
        last = status;
        options.onReload(status);
        return status;
      })
      .finally(() => {
        running = null;
      });
    return running;
  }

  async function look(): Promise<void> {
    const hash = contentHash(await readTexts(watched, readFile));
    const steady = hash === seenHash;
    seenHash = hash;
    if (steady && hash !== triedHash && !closed) await reload();
  }

  function schedule(): void {
    if (closed || started.file === null) return;
    timer = clock.setTimer(CONFIG_POLL_MS, () => void look().finally(schedule));
  }

  schedule();
  return {
    current: () => current,
    reload,
    lastReload: () => last,
    close() {
      closed = true;
      timer?.cancel();
    },
  };
}

const INTERNAL_MESSAGE = 'It could not be applied: an internal error.';
const SIMULATOR_MESSAGE =
  'It adds the bundled simulator, which starts only with the process: restart it, or name a baseUrl.';

function acceptedStatus(atMs: number, needsRestart: string[], notices: string[]): ReloadStatus {
  const rest = needsRestart.length === 0 ? '' : ` These keys need a restart: ${needsRestart.join(', ')}.`;
  const message = [`The configuration was reloaded.${rest}`, ...notices].join(' ');
  return { ok: true, atMs, message, needsRestart };
}

const refusedStatus = (atMs: number, why: string): ReloadStatus => ({
  ok: false,
  atMs,
  message: `The configuration was not reloaded, the one of before goes on. ${why}`,
  needsRestart: [],
});

/** What was opened at start cannot follow the file: ports, addresses, folders. */
function changedKeys(before: Config, after: Config): string[] {
  const changed: string[] = [];
  for (const block of ['server', 'storage', 'files'] as const) {
    const old = new Map<string, unknown>(Object.entries(before[block]));
    for (const [key, value] of Object.entries(after[block])) {
      if (!isDeepStrictEqual(value, old.get(key))) changed.push(`${block}.${key}`);
    }
  }
  if (!isDeepStrictEqual(before.adminToken?.reveal(), after.adminToken?.reveal())) changed.push('admin');
  if (before.market !== after.market) changed.push('market');
  return changed;
}
