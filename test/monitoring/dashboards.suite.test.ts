import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { CHART, run } from '../chart/helm.ts';
import { render } from '../chart/render.ts';
import { whereInstalled } from '../chart/where-installed.ts';
import { testDataDir } from '../support/data-dir.ts';
import { toolPath } from '../tools/tool.ts';
import { dashboardQueries, dashboards } from './queries.ts';

/** As a rule that records them, because promtool checks rules. */
async function check(queries: readonly string[]): Promise<{ code: number; said: string }> {
  await using folder = await testDataDir();
  const rules = queries.map((expr, i) => ({ record: `dashboard:query_${i}`, expr }));
  writeFileSync(join(folder.path, 'queries.yaml'), stringify({ groups: [{ name: 'dashboards', rules }] }));
  const { code, stdout, stderr } = await run(toolPath('promtool'), [
    'check',
    'rules',
    join(folder.path, 'queries.yaml'),
  ]);
  return { code, said: stdout + stderr };
}

test.runIf(whereInstalled('promtool'))('promtool takes every query of the dashboards', async () => {
  const queries = dashboardQueries().map(({ expr }) => expr);
  expect(await check(queries)).toMatchObject({
    code: 0,
    said: expect.stringContaining(`${queries.length} rules`),
  });
  expect((await check(['sum(rate(faregate_open_calls{[5m]))'])).code).not.toBe(0);
});

test.runIf(whereInstalled('helm'))('each dashboard reaches Grafana as it is', async () => {
  const { objects } = await render({
    values: [join(CHART, 'ci/minimal-values.yaml')],
    set: ['monitoring.dashboards.enabled=true'],
  });
  const made = objects.filter(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.labels?.grafana_dashboard === '1',
  );
  const texts = made.flatMap(({ data }) => Object.values(data as Record<string, string>));
  expect(texts.map((text) => JSON.parse(text))).toEqual(dashboards());
});
