import type { EndSignals } from '#core/end-signals.ts';
import { createLog } from '#core/log.ts';
import type { Progress } from '#core/show-progress.ts';
import { type Config, loadConfig } from './config.ts';
import { banner, ensureDemo } from './demo.ts';
import { explainStart } from './explain-start.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

/** `make run`: one process, everything in it, or one API process of a cluster. Ctrl-C drains; a second one cuts. */
export async function runGateway(signals: EndSignals, progress: Progress): Promise<void> {
  let config: Config | null = null;
  try {
    config = await loadConfig();
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
