import type { EndSignals } from '#core/end-signals.ts';
import { createLog } from '#core/log.ts';
import type { Progress } from '#core/show-progress.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { banner } from './banner.ts';
import { explainStart } from './explain-start.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

/** `make run`: one process, everything in it, or one API process of a cluster. Ctrl-C drains; a second one cuts. */
export async function runGateway(
  signals: EndSignals,
  progress: Progress,
  load: () => Promise<Config> = loadConfig,
): Promise<void> {
  let config: Config | null = null;
  try {
    config = await load();
    progress.say(config.storage.mode === 'embedded' ? 'Reading the ledger' : 'Reaching the stores');
    const introduction = await start(config, signals);
    progress.end();
    process.stdout.write(introduction);
  } catch (error) {
    progress.end();
    process.stderr.write(`${explainStart(error, config)}\n`);
    process.exit(1);
  }
}

/** Resolves with what is said of it. */
async function start(config: Config, signals: EndSignals): Promise<string> {
  const log = createLog();
  for (const notice of config.notices) log.warn(notice);
  const gateway = await startGateway(config, { log });
  signals.endBy(() => {
    log.info('draining: running calls finish; press Ctrl-C again after two seconds to cut them');
    void gateway.drain().then(() => process.exit(0));
  });
  return introduce(config, gateway);
}

/** Tells the addresses, and a first call to paste when there is a demo agent. */
function introduce({ storage }: Config, gateway: RunningGateway): string {
  const { baseUrl, mcpUrl, demo } = gateway;
  const adminUrl = `${gateway.internalUrl}/admin`;
  if (storage.mode === 'cluster') return `Faregate serves ${baseUrl}, its admin API is ${adminUrl}.\n`;
  const addresses = { baseUrl, mcpUrl, adminUrl };
  const models = gateway.deps.catalog.models();
  return `${banner({ addresses, dataDir: storage.dataDir, demo, models })}\n`;
}
