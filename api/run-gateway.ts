import { flushCompileCache } from 'node:module';
import { PepperError } from '#core/accounts/pepper-file.ts';
import type { EndSignals } from '#core/end-signals.ts';
import { FolderInUseError, JournalError } from '#core/ledger/journal-errors.ts';
import { createLog } from '#core/log.ts';
import { ConfigError } from './config/config-error.ts';
import { type Config, loadConfig } from './config.ts';
import { banner, ensureDemo } from './demo.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';
import { StoreError } from './store-error.ts';

/** `make run`: one process, everything in it, or one API process of a cluster. Ctrl-C drains; a second one cuts. */
export async function runGateway(signals: EndSignals): Promise<void> {
  try {
    await start(signals);
    // At exit would be too late for a process that is killed; without the cache every start strips types again.
    flushCompileCache();
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

async function start(signals: EndSignals): Promise<void> {
  const config = await loadConfig();
  const log = createLog();
  for (const notice of config.notices) log.warn(notice);
  const gateway = await startGateway(config, { log });
  signals.endBy(() => {
    log.info('draining: running calls finish, press Ctrl-C again to cut them');
    void gateway.drain().then(() => process.exit(0));
  });
  process.stdout.write(await introduce(config, gateway));
}

/** Where everything is, and of a gateway by itself a first call to paste. An agent with credit in a cluster is nobody's toy. */
async function introduce(config: Config, { deps, ...gateway }: RunningGateway): Promise<string> {
  const adminUrl = `${gateway.internalUrl}/admin`;
  if (config.storage.mode === 'cluster') {
    return `Faregate serves ${gateway.baseUrl}, its admin API is ${adminUrl}.\n`;
  }
  const demo = await ensureDemo({
    ledger: deps.store.ledger,
    ids: deps.gateway.ids,
    clock: deps.clock,
    pepper: deps.store.peppers[0],
    dataDir: config.storage.dataDir,
    baseUrl: gateway.baseUrl,
    mcpUrl: gateway.mcpUrl,
    adminUrl,
    adminToken: gateway.adminToken,
  });
  return `${banner(demo, deps.catalog.models())}\n`;
}

/** What the operator can mend is said in a sentence; a stack is for what nobody expected. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const kinds = [ConfigError, FolderInUseError, JournalError, PepperError, StoreError];
  if (kinds.some((kind) => error instanceof kind)) return error.message;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}. Another program uses this port: set PORT or INTERNAL_PORT.`;
  }
  // The disk's or the system's word, such as ENOSPC or EACCES: the data folder is the usual cause.
  if ('syscall' in error) return `${error.message}. Look at the data folder (FAREGATE_DATA) and its disk.`;
  return error.stack ?? error.message;
}
