import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolPath } from '../tools/tool.ts';
import { CHART, helm, run } from './helm.ts';
import { ciFiles, ciRenders, renderFile } from './render.ts';
import { SCHEMA_LOCATION, schemaFolder } from './schemas/schema-folder.ts';
import { whereInstalled } from './where-installed.ts';

const TEMPLATE_CPU_MS = 1_000;

test.runIf(whereInstalled('helm'))('helm lint has nothing to say, with any file of ci/', async () => {
  const findings = await Promise.all(
    ciFiles().map(async (file) => {
      const { code, stdout, stderr } = await helm('lint', '--strict', '--quiet', CHART, '--values', file);
      return code === 0 ? [] : [file, stdout, stderr];
    }),
  );
  expect(findings.flat()).toEqual([]);
});

test.runIf(whereInstalled('helm'))('helm template takes less than a second of a processor', async () => {
  const times: number[] = [];
  for (const file of ciFiles()) {
    const { code, stderr } = await run('bash', [
      '-c',
      `TIMEFORMAT='%U %S'; time '${toolPath('helm')}' template shop '${CHART}' --values '${file}' > /dev/null`,
    ]);
    expect(code, stderr).toBe(0);
    const [userS = Number.NaN, systemS = Number.NaN] = stderr.trim().split(' ').map(Number);
    times.push((userS + systemS) * 1_000);
  }
  console.log(`helm template: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms of a processor`);
  expect(Math.max(...times)).toBeLessThan(TEMPLATE_CPU_MS);
});

test.runIf(whereInstalled('helm'))('the same values make the same bytes', async () => {
  const again = await Promise.all(ciFiles().map((file) => renderFile(file)));
  expect(again.map(({ text }) => text)).toEqual((await ciRenders()).map(({ text }) => text));
});

test.runIf(whereInstalled('helm', 'kubeconform'))(
  'every object is valid for Kubernetes 1.36 and its custom resources',
  async () => {
    const renders = await ciRenders();
    const location = join(schemaFolder(), SCHEMA_LOCATION);
    const ran = await run(
      toolPath('kubeconform'),
      ['-strict', '-summary', '-output', 'text', '-schema-location', location],
      { stdin: renders.map(({ text }) => text).join('\n---\n') },
    );
    console.log(`kubeconform: ${ran.stdout.trim().split('\n').at(-1)}`);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
  },
);

test.runIf(whereInstalled('helm', 'kubeconform'))(
  'kubeconform finds a field that no schema knows',
  async () => {
    const location = join(schemaFolder(), SCHEMA_LOCATION);
    const service =
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80, targetPrt: 1}]}';
    const ran = await run(toolPath('kubeconform'), ['-strict', '-schema-location', location], {
      stdin: service,
    });
    expect(ran.stdout).toContain("'targetPrt' not allowed");
  },
);

test.runIf(whereInstalled('helm-unittest'))('the chart’s own tests pass', async () => {
  const ran = await run(toolPath('helm-unittest'), ['--strict', CHART]);
  const counts = ran.stdout.split('\n').filter((line) => /^(Test Suites|Tests):/.test(line));
  console.log(`helm-unittest: ${counts.map((line) => line.replace(/\s+/g, ' ')).join('; ')}`);
  expect(ran.code === 0 ? '' : ran.stdout + ran.stderr).toBe('');
  expect(counts.join()).toMatch(/[1-9]\d* passed/);
});
