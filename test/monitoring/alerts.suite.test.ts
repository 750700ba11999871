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

/** A group at a time: with all rules in each test it would take six times as long. */
async function promtool(
  action: 'check' | 'test',
  { groups }: RuleGroups,
  cases: readonly AlertCase[],
): Promise<string> {
  await using folder = await testDataDir();
  const files = groups.map((group) => {
    const ruleFile = join(folder.path, `${group.name}.yaml`);
    const testFile = join(folder.path, `${group.name}.test.yaml`);
    const names = alertsOf({ groups: [group] }).map(({ alert }) => alert);
    const own = cases.filter(({ alert }) => names.includes(alert));
    writeFileSync(ruleFile, stringify({ groups: [group] }));
    writeFileSync(testFile, stringify(promtoolTest(ruleFile, own)));
    return action === 'check' ? ruleFile : testFile;
  });
  const { code, stdout, stderr } = await run(toolPath('promtool'), [action, 'rules', ...files]);
  return code === 0 ? '' : stdout + stderr;
}

test.runIf(isHere).each(modes)('promtool takes the rules of mode %s', async (mode) => {
  expect(await promtool('check', await renderRules(inMode(mode)), [])).toBe('');
});

test.runIf(isHere).each(modes)(
  'every alert of mode %s fires when it has to, not a minute earlier, and stays quiet near it',
  async (mode) => {
    const cases = await casesOf(mode);
    expect(await promtool('test', await renderRules(inMode(mode)), cases)).toBe('');
    console.log(`promtool: ${cases.length} alerts of mode ${mode}, each fires and stays quiet`);
  },
);

test.runIf(isHere)('a cluster without a bucket, which has no video worker, misses none', async () => {
  const names = async (...set: string[]) => alertsOf(await renderRules(...set)).map(({ alert }) => alert);
  expect(await names()).toContain('FaregateNoVideoWorker');
  expect(await names('media.s3.endpoint=', 'media.s3.bucket=')).not.toContain('FaregateNoVideoWorker');
});

test.runIf(isHere)('promtool finds an alert that does not fire, and one that should not', async () => {
  const rules = await renderRules();
  const [first] = alertCases;
  if (first === undefined) throw new Error('There is no case.');
  const turned = { ...first, fires: first.staysQuiet, staysQuiet: first.fires };
  const said = await promtool('test', rules, [turned]);
  expect(said).toMatch(/exp: \{alertname="FaregateCostAboveHold"\} 1.*\s+got: nil/);
  expect(said).toMatch(/exp: nil\s+got: \{alertname="FaregateCostAboveHold"\} 1/);
});

test.runIf(isHere)('every alert of either mode has a case, and every case an alert', async () => {
  const tried = [...(await casesOf('cluster')), ...(await casesOf('embedded'))];
  expect(tried.map(({ alert }) => alert).sort()).toEqual(alertCases.map(({ alert }) => alert).sort());
  const rendered = await Promise.all(modes.map(async (mode) => alertsOf(await renderRules(inMode(mode)))));
  const untried = rendered.flat().filter(({ alert }) => tried.every((each) => each.alert !== alert));
  expect(untried).toEqual([]);
});
