import { join } from 'node:path';
import { CHART } from '../chart/helm.ts';
import { render } from '../chart/render.ts';

export interface AlertRule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface RecordingRule {
  record: string;
  expr: string;
}

export interface RuleGroups {
  groups: { name: string; rules: (AlertRule | RecordingRule)[] }[];
}

export const NAMESPACE = 'gateway';
export const JOB = 'shop-faregate';

const minimal = join(CHART, 'ci/minimal-values.yaml');

/** A cluster without a bucket makes no videos. */
const bucket = ['media.s3.endpoint=https://s3.example.com', 'media.s3.bucket=files'];

/** The alerts of a cluster, or of what is set besides. */
export async function renderRules(...set: string[]): Promise<RuleGroups> {
  const { objects } = await render({
    release: 'shop',
    namespace: NAMESPACE,
    values: [minimal],
    set: ['monitoring.rules.enabled=true', ...bucket, ...set],
  });
  const rule = objects.find(({ kind }) => kind === 'PrometheusRule');
  if (rule === undefined) throw new Error('The chart has made no PrometheusRule.');
  return rule.spec as unknown as RuleGroups;
}

export const rulesOf = ({ groups }: RuleGroups): (AlertRule | RecordingRule)[] =>
  groups.flatMap(({ rules }) => rules);

export const alertsOf = (groups: RuleGroups): AlertRule[] =>
  rulesOf(groups).filter((rule) => 'alert' in rule);
