import type { EndSignals } from '#core/end-signals.ts';
import { createLog } from '#core/log.ts';
import { ConfigError } from '../api/config/config-error.ts';
import { loadConfig } from '../api/config.ts';
import { StoreError } from '../api/store-error.ts';
import { parseRoles, RoleError } from './roles.ts';
import { startWorkers, WorkersError } from './start-workers.ts';

/** `node workers/main.ts settlement projector video market`: the background work of a cluster, by role. SIGTERM ends it. */
export async function runWorkers(signals: EndSignals): Promise<void> {
  try {
    await start(signals);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

async function start(signals: EndSignals): Promise<void> {
  const roles = parseRoles(process.argv.slice(2));
  const config = await loadConfig();
  const log = createLog();
  for (const notice of config.notices) log.warn(notice);
  const workers = await startWorkers(config, { roles, log });
  signals.endBy(() => {
    log.info('ending: the shards and partitions of this process go to the others');
    workers.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('not all of it could be ended; the others take over what is left', { error });
        process.exit(1);
      },
    );
  });
  await workers.started;
  log.info(`workers run: ${roles.join(', ')}`, { address: workers.internalUrl });
}

/** What the operator can mend is said in a sentence; a stack is for what nobody expected. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ([ConfigError, RoleError, StoreError, WorkersError].some((kind) => error instanceof kind))
    return error.message;
  if ('code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}. Another program uses this port: set INTERNAL_PORT.`;
  }
  return error.stack ?? error.message;
}
