import { Registry } from 'prom-client';
import { observeBills } from '#core/bills/observe-bills.ts';
import { observeCapacity } from '#core/capacity/observe-capacity.ts';
import { collectNodeMetrics } from '#core/collect-node-metrics.ts';
import { createFeedMetrics } from '#core/events/feed-metrics.ts';
import { observeClock } from '#core/observe-clock.ts';
import { createCallMetrics } from '../../api/inference/hold/call-metrics.ts';
import { observeProcess, observeStart } from '../../api/metrics/process.ts';
import { observePendingPrices } from '../../api/start/local-workers.ts';
import { type Role, roles } from '../../api/start/workers/roles.ts';
import { countForAll } from '../../api/start/workers/worker-parts.ts';
import { observeJournal, observeShards } from '../../api/stores/observe-store.ts';
import { observeFeedLag, observeMarket } from '../../workers/market/observe-market.ts';
import { observeProjector } from '../../workers/projector/observe-projector.ts';
import { observeSettlements } from '../../workers/settlement/observe-settlements.ts';
import { createVideoMetrics, observeVideoMembers } from '../../workers/video/video-metrics.ts';

/** What runs by itself, and so is scraped by itself. */
export type Scraped = 'embedded' | 'api' | Role;
export const scraped: readonly Scraped[] = ['embedded', 'api', ...roles];

export interface MetricRow {
  name: string;
  type: string;
  labels: readonly string[];
  help: string;
  /** By whom it is told. */
  of: readonly Scraped[];
}

/** A metric is only described here; nobody looks at its value. */
const unread = {} as never;

const registered: Readonly<Record<Scraped, (registry: Registry) => void>> = {
  embedded(registry) {
    createCallMetrics(registry);
    observeBills(registry, unread);
    createVideoMetrics(registry, unread).observe(unread);
    observeMarket(registry, unread);
    createFeedMetrics(registry);
    observeApi(registry, (of) => observeJournal(of, { onCommit() {} }));
    observePendingPrices(registry, unread);
  },
  api(registry) {
    createCallMetrics(registry);
    observeBills(registry, unread);
    observeApi(registry, (of) => observeShards(of, unread));
  },
  settlement: ofWorker((registry) => observeSettlements(registry, unread)),
  projector: ofWorker((registry) => observeProjector(registry, unread)),
  video: ofWorker((registry) => {
    createVideoMetrics(registry, unread).observe(unread);
    observeCapacity(registry, unread);
    observeVideoMembers(registry, unread);
  }),
  market: ofWorker((registry) => {
    observeMarket(registry, unread);
    observeFeedLag(registry, []);
  }),
};

function observeApi(registry: Registry, observe: (registry: Registry) => void): void {
  const store = { observe, isReady: () => false, lag: unread, times: unread };
  const parts = { clock: unread, gateway: unread, config: unread, catalog: unread, loopLag: unread };
  observeProcess(registry, { ...parts, store, connectionLimit: null });
}

function ofWorker(observe: (registry: Registry) => void): (registry: Registry) => void {
  return (registry) => {
    collectNodeMetrics(registry);
    countForAll(registry);
    observeClock(registry, unread);
    observe(registry);
  };
}

/** Every metric of every process, by its name. */
export function listMetrics(): MetricRow[] {
  const rows = new Map<string, MetricRow & { of: Scraped[] }>();
  for (const of of scraped) {
    for (const row of describe(registered[of])) {
      const known = rows.get(row.name);
      if (known === undefined) rows.set(row.name, { ...row, of: [of] });
      else known.of.push(of);
    }
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What each metric knows of itself. */
interface Described {
  name: string;
  type: string;
  help: string;
  labelNames: readonly string[];
}

function describe(register: (registry: Registry) => void): Omit<MetricRow, 'of'>[] {
  const registry = new Registry();
  observeStart(registry, unread);
  register(registry);
  // The library's types name none of these fields, though its metrics have them.
  const metrics = registry.getMetricsAsArray() as unknown as Described[];
  return metrics.map(({ name, type, labelNames, help }) => ({ name, type, labels: labelNames, help }));
}

const isOurs = ({ name }: MetricRow): boolean => name.startsWith('faregate_');

/** The table as a document. */
export function makeMetricsTable(): string {
  const rows = listMetrics();
  return `# Metrics

Generated from the code (\`make openapi\`), and compared with what running processes answer. \`/metrics\` on the internal port
speaks the Prometheus format. Who tells a metric: \`embedded\` is the gateway in one process, \`api\` an API process of a
cluster, the others are its workers by their role; a worker of several roles tells the metrics of all of them. No metric has
an agent, a key or a model among its labels. A histogram has \`_bucket\` (label \`le\`), \`_sum\` and \`_count\`. Where markets
are switched off (\`market: off\`) their metrics are missing.

${printTable(rows.filter(isOurs))}
## Of Node and the process

Every process tells these, on Linux.

${printTable(rows.filter((row) => !isOurs(row)))}`;
}

function printTable(rows: readonly MetricRow[]): string {
  const lines = rows.map(({ name, type, labels, help, of }) =>
    [code(name), type, labels.map(code).join(', '), isOfAll(of) ? 'all' : of.join(', '), help].join(' | '),
  );
  return ['Name | Type | Labels | Told by | What it is', '--- | --- | --- | --- | ---', ...lines]
    .map((line) => `| ${line.replace('|  |', '| |')} |\n`)
    .join('');
}

const isOfAll = (of: readonly Scraped[]): boolean => of.length === scraped.length;

const code = (text: string): string => `\`${text}\``;
