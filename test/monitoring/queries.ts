import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const CHART = join(import.meta.dirname, '../../charts/faregate');

export interface Query {
  /** The alert, or the dashboard and its panel. */
  of: string;
  expr: string;
}

interface RuleFile {
  alerts: { alert: string; expr: string }[];
  records?: { record: string; expr: string }[];
}

interface Panel {
  type: string;
  title: string;
  description: string;
  targets?: { expr: string }[];
}

export interface Dashboard {
  uid: string;
  title: string;
  panels: Panel[];
  annotations: { list: { expr: string }[] };
  templating: { list: { name: string; query: string | { query: string } }[] };
}

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(CHART, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(CHART, folder, name));

export const ruleFiles = (): RuleFile[] =>
  filesIn('rules', '.yaml').map((path) => parse(readFileSync(path, 'utf8')) as RuleFile);

export const dashboards = (): Dashboard[] =>
  filesIn('dashboards', '.json').map((path) => JSON.parse(readFileSync(path, 'utf8')) as Dashboard);

export const ruleQueries = (): Query[] =>
  ruleFiles().flatMap(({ alerts, records = [] }) => [
    ...alerts.map(({ alert, expr }) => ({ of: alert, expr })),
    ...records.map(({ record, expr }) => ({ of: record, expr })),
  ]);

/** With values in the place of Grafana's variables. */
export const dashboardQueries = (): Query[] =>
  dashboards().flatMap(({ title, panels, annotations }) =>
    [...panels, { title: 'annotations', targets: annotations.list }].flatMap((panel) =>
      (panel.targets ?? []).map(({ expr }) => ({
        of: `${title}, ${panel.title}`,
        expr: expr
          .replaceAll('$__rate_interval', '5m')
          .replaceAll('$namespace', 'gateway')
          .replaceAll('$job', 'shop-faregate'),
      })),
    ),
  );

export interface Selector {
  metric: string;
  /** Those that it is selected by. */
  labels: string[];
  /** Texts that the labels are compared with; alternatives one by one. */
  values: Record<string, string[]>;
}

/** Every metric is selected with braces in these files, so that a query need not be parsed to find them. */
export function selectorsIn(expr: string): Selector[] {
  return [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].map(([, metric = '', inside = '']) => {
    const pairs = [...inside.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)];
    return {
      metric,
      labels: pairs.map(([, label = '']) => label),
      values: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text.split('|')])),
    };
  });
}

/** What a query groups or joins by. */
export const groupedBy = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.trim()),
  );
