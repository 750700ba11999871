import type { EndSignals } from '#core/end-signals.ts';
import { createLog } from '#core/log.ts';
import type { Progress } from '#core/show-progress.ts';
import { type Config, loadConfig } from '../../config/config.ts';
import { explainStart } from '../explain-start.ts';
import { parseRoles, type Role, RoleError } from './roles.ts';
import { startWorkers, WorkersError } from './start-workers.ts';

/** `node workers/main.ts settlement projector video market`: the background work of a cluster, by role. SIGTERM ends it. */
export async function runWorkers(signals: EndSignals, progress: Progress): Promise<void> {
  let config: Config | null = null;
  try {
    const roles = parseRoles(process.argv.slice(2));
    config = await loadConfig();
    progress.say('Reaching the stores');
    await start(config, roles, { signals, progress });
  } catch (error) {
    progress.end();
    const isOurs = error instanceof RoleError || error instanceof WorkersError;
    process.stderr.write(`${isOurs ? error.message : explainStart(error, config)}\n`);
    process.exit(1);
  }
}

async function start(
  config: Config,
  roles: readonly Role[],
  { signals, progress }: { signals: EndSignals; progress: Progress },
): Promise<void> {
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
  progress.end();
  log.info(`workers run: ${roles.join(', ')}`, { address: workers.internalUrl });
}
