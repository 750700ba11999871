import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { run } from '../chart/helm.ts';
import { whereInstalled } from '../chart/where-installed.ts';
import { testDataDir } from '../support/data-dir.ts';
import { toolPath } from '../tools/tool.ts';
import { type AlertCase, alertCases } from './alert-cases.ts';
import { promtoolTest } from './promtool-test.ts';
import { alertsOf, type RuleGroups, renderRules } from './rules.ts';

const modes = ['cluster', 'embedded'] as const;
const isHere = whereInstalled('helm', 'promtool');

const inMode = (mode: string): string => `mode=${mode}`;

/** What is left out in the other mode is all that has to be tried in it. */
async function casesOf(mode: 'cluster' | 'embedded'): Promise<AlertCase[]> {
  const namesOf = async (each: string) => alertsOf(await renderRules(inMode(each))).map(({ alert }) => alert);
  const names = await namesOf(mode);
  const others = mode === 'cluster' ? [] : await namesOf('cluster');
  return alertCases.filter(({ alert }) => names.includes(alert) && !others.includes(alert));
}

async function promtool(
  action: 'check' | 'test',
  rules: RuleGroups,
  cases: readonly AlertCase[],
): Promise<string> {
  await using folder = await testDataDir();
  writeFileSync(join(folder.path, 'rules.yaml'), stringify(rules));
  writeFileSync(join(folder.path, 'tests.yaml'), stringify(promtoolTest('rules.yaml', cases)));
  const file = action === 'check' ? 'rules.yaml' : 'tests.yaml';
  const { code, stdout, stderr } = await run(toolPath('promtool'), [
    action,
    'rules',
    join(folder.path, file),
  ]);
  return code === 0 ? '' : stdout + stderr;
}

test.runIf(isHere).each(modes)('promtool takes the rules of mode %s', async (mode) => {
  expect(await promtool('check', await renderRules(inMode(mode)), [])).toBe('');
});

test.runIf(isHere).each(modes)(
  'every alert of mode %s fires when it has to, and not just before',
  async (mode) => {
    const cases = await casesOf(mode);
    expect(await promtool('test', await renderRules(inMode(mode)), cases)).toBe('');
    console.log(`promtool: ${cases.length} alerts of mode ${mode}, each fires and stays quiet`);
  },
  180_000,
);

test.runIf(isHere)('promtool finds an alert that does not fire, and one that should not', async () => {
  const rules = await renderRules();
  const [first] = alertCases;
  if (first === undefined) throw new Error('There is no case.');
  const turned = { ...first, fires: first.staysQuiet, staysQuiet: first.fires };
  const said = await promtool('test', rules, [turned]);
  expect(said).toContain(`${first.alert} fires`);
  expect(said).toContain(`${first.alert} stays quiet`);
});

test.runIf(isHere)('every alert of either mode has a case, and every case an alert', async () => {
  const tried = [...(await casesOf('cluster')), ...(await casesOf('embedded'))];
  expect(tried.map(({ alert }) => alert).sort()).toEqual(alertCases.map(({ alert }) => alert).sort());
  const rendered = await Promise.all(modes.map(async (mode) => alertsOf(await renderRules(inMode(mode)))));
  const untried = rendered.flat().filter(({ alert }) => tried.every((each) => each.alert !== alert));
  expect(untried).toEqual([]);
});
