import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOSS_CAUSES } from '#core/operator-losses.ts';
import { videoErrorCodes } from '#core/videos/video-error-codes.ts';
import { errorTable } from '../../api/contract/errors.ts';
import { roles } from '../../api/start/workers/roles.ts';
import { listMetrics, type MetricRow } from '../../openapi/generate/metrics-table.ts';
import {
  dashboardQueries,
  dashboards,
  groupedBy,
  type Query,
  ruleFiles,
  ruleQueries,
  type Selector,
  selectorsIn,
} from './queries.ts';

/** Not told by the gateway's processes: by Prometheus itself, and by kube-state-metrics. */
const FOREIGN = ['up', 'ALERTS', 'kube_pod_deletion_timestamp'];
/** What scraping adds to every series. */
const SCRAPED_LABELS = ['namespace', 'job', 'pod', 'component'];

const failures: Record<'gateway' | 'provider', string[]> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../charts/faregate/files/error-codes.json'), 'utf8'),
);

const queries = (): Query[] =>
  [...ruleQueries(), ...dashboardQueries()].map(({ of, expr }) => ({
    of,
    expr: expr
      .replaceAll('%here%', 'namespace="gateway",job="shop-faregate"')
      .replaceAll('%serverErrorCodes%', failures.gateway.join('|'))
      .replaceAll('%providerErrorCodes%', failures.provider.join('|')),
  }));

const metrics = new Map(listMetrics().map((row) => [row.name, row]));
const recorded = ruleFiles().flatMap(({ records = [] }) => records.map(({ record }) => record));

function rowOf(metric: string): MetricRow | undefined {
  const [, base = ''] = /^(.*)_(?:bucket|sum|count)$/.exec(metric) ?? [];
  const histogram = metrics.get(base);
  return metrics.get(metric) ?? (histogram?.type === 'histogram' ? histogram : undefined);
}

const isOurs = ({ metric }: Selector): boolean => !FOREIGN.includes(metric) && !recorded.includes(metric);

const eachSelector = (): (Query & { selector: Selector })[] =>
  queries().flatMap((query) => selectorsIn(query.expr).map((selector) => ({ ...query, selector })));

test('every metric of an alert or a panel is told by a process', () => {
  const unknown = eachSelector().filter(
    ({ selector }) => isOurs(selector) && rowOf(selector.metric) === undefined,
  );
  expect(unknown.map(({ of, selector }) => `${of}: ${selector.metric}`)).toEqual([]);
  const names = new Set(eachSelector().map(({ selector }) => selector.metric));
  console.log(`monitoring: ${queries().length} queries of ${names.size} metrics`);
});

test('no metric is written without its installation', () => {
  const bare = queries().flatMap(({ of, expr }) =>
    [...expr.matchAll(/\b(?:faregate|process|nodejs|kube)_\w+\b(?!\{)/g)].map(([name]) => `${of}: ${name}`),
  );
  expect(bare).toEqual([]);
  const everywhere = eachSelector().filter(({ selector }) => !selector.labels.includes('namespace'));
  expect(everywhere.map(({ of, selector }) => `${of}: ${selector.metric}`)).toEqual([]);
});

test('every label is one that the metric has', () => {
  const wrong = eachSelector().flatMap(({ of, expr, selector }) => {
    const row = rowOf(selector.metric);
    if (row === undefined) return [];
    const known = [...SCRAPED_LABELS, ...row.labels, ...(row.type === 'histogram' ? ['le'] : [])];
    return [...selector.labels, ...groupedBy(expr)]
      .filter((label) => !known.includes(label))
      .map((label) => `${of}: ${selector.metric} has no ${label}`);
  });
  expect(wrong).toEqual([]);
});

test('every code, cause and component that is asked for exists', () => {
  const known: Record<string, readonly string[]> = {
    cause: LOSS_CAUSES,
    code: ['', 'ok', ...Object.keys(errorTable), ...Object.keys(videoErrorCodes)],
    component: ['api', ...roles],
  };
  const wrong = eachSelector().flatMap(({ of, selector }) =>
    Object.entries(selector.values).flatMap(([label, values]) =>
      values
        .filter((value) => known[label]?.includes(value) === false)
        .map((value) => `${of}: ${label}="${value}"`),
    ),
  );
  expect(wrong).toEqual([]);
});

test('an error of 500 or more is either the gateway’s or a provider’s', () => {
  const wanted = Object.entries(errorTable).filter(([, { status }]) => status >= 500);
  const counted = [...failures.gateway, ...failures.provider];
  expect(counted.sort()).toEqual(wanted.map(([code]) => code).sort());
});

test('counters are read as rates, gauges as they are', () => {
  const wrong = eachSelector().filter(({ expr, selector }) => {
    const type = rowOf(selector.metric)?.type;
    const isRate = new RegExp(`(?:rate|increase) ?\\(${selector.metric}\\{[^}]*\\}\\[`).test(expr);
    return type !== undefined && isRate !== (type !== 'gauge');
  });
  expect(wrong.map(({ of, selector }) => `${of}: ${selector.metric}`)).toEqual([]);
});

test('a dashboard has a name of its own, chooses an installation, and says what each panel shows', () => {
  const all = dashboards();
  expect(all.map(({ uid }) => uid).sort()).toEqual(
    ['money', 'stores', 'traffic', 'workers'].map((name) => `faregate-${name}`),
  );
  for (const { templating, panels } of all) {
    expect(templating.list.map(({ name }) => name)).toEqual(['datasource', 'namespace', 'job']);
    const titles = panels.filter(({ type }) => type !== 'row').map(({ title }) => title);
    expect(titles.length).toBeGreaterThan(10);
    expect(new Set(titles).size).toBe(titles.length);
  }
});
