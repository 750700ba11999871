import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHART } from '../chart/helm.ts';
import { whereInstalled } from '../chart/where-installed.ts';
import { ruleFiles } from './queries.ts';
import { alertsOf, renderRules } from './rules.ts';

const runbook = readFileSync(join(CHART, 'docs/runbook.md'), 'utf8');
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n'))]),
);
const alerts = ruleFiles().flatMap((file) => file.alerts.map(({ alert }) => alert));

test('every alert has a section of the runbook, and every section an alert', () => {
  const named = [...sections.keys()].filter((heading) => heading.startsWith('Faregate'));
  expect(named.sort()).toEqual([...alerts].sort());
  expect([...new Set(alerts)]).toEqual(alerts);
});

test('a section says something, and names only alerts and thresholds that exist', () => {
  const thresholds = readFileSync(join(CHART, 'values.yaml'), 'utf8');
  for (const [heading, text] of sections) {
    expect(text.trim().length, heading).toBeGreaterThan(150);
    for (const [name] of text.matchAll(/\bFaregate[A-Z]\w+/g)) expect(alerts, heading).toContain(name);
    for (const [, name = ''] of text.matchAll(/\(`(\w+)`[),]/g)) {
      if (/Ms$|Usd$|Percent$|Prices$|Trades$/.test(name))
        expect(thresholds, heading).toContain(`      ${name}: `);
    }
  }
});

test.runIf(whereInstalled('helm'))(
  'an alert links to its section, under the operator’s own address',
  async () => {
    const rules = await renderRules('monitoring.rules.runbookBaseUrl=https://runbooks.example.com/faregate');
    for (const { alert, annotations, labels } of alertsOf(rules)) {
      expect(annotations.runbook_url).toBe(`https://runbooks.example.com/faregate#${alert.toLowerCase()}`);
      expect(annotations.summary).not.toBe('');
      expect(annotations.description).not.toBe('');
      expect(labels.severity).toMatch(/^(critical|warning)$/);
    }
  },
);

test.runIf(whereInstalled('helm'))(
  'values leave alerts out, label them, and set what they compare with',
  async () => {
    const rules = await renderRules(
      'monitoring.rules.disabled={FaregateLogLag}',
      'monitoring.rules.labels.team=gateway',
      'monitoring.rules.thresholds.projectorLagMs=5000',
    );
    const made = new Map(alertsOf(rules).map((rule) => [rule.alert, rule]));
    expect(made.has('FaregateLogLag')).toBe(false);
    expect(made.get('FaregateProjectorLag')?.labels).toEqual({ severity: 'warning', team: 'gateway' });
    expect(made.get('FaregateProjectorLag')?.expr).toMatch(/ > 5000$/);
  },
);

test.runIf(whereInstalled('helm'))('what is switched off has no alerts', async () => {
  const rules = await renderRules('market.enabled=false', 'media.enabled=false');
  const made = alertsOf(rules).map(({ alert }) => alert);
  expect(made.filter((alert) => /Video|Market|Books|Trades|Credit|FeedLag/.test(alert))).toEqual([]);
  expect(JSON.stringify(rules)).not.toMatch(/%\w+%/);
});
