import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { toolPath } from '../../tools/tool.ts';
import { CHART, run } from '../helm.ts';
import { policies } from '../policies/policies.ts';
import { ciFiles, type Render, renderFile } from '../render.ts';
import { SCHEMA_LOCATION, schemaFolder } from '../schemas/schema-folder.ts';
import { type Mutation, mutations } from './mutations.ts';

const ROWS = 28;
/** What a mutation changes is not there any more. */
const STALE = 'STALE';
const ROOT = resolve(import.meta.dirname, '../../..');

/** Breaks a copy of the chart in each way, and asks the gates from the quickest to the slowest whether they see it. */
export async function mutationTable(): Promise<string[]> {
  const problems: string[] = [];
  const rows = new Set(mutations.map(({ row }) => row));
  for (let row = 1; row <= ROWS; row += 1)
    if (!rows.has(row)) problems.push(`row ${row} is not broken by anything`);
  const whole = await caught(CHART, null);
  if (whole !== null) return [`the chart itself is not whole: ${whole}`];
  const wanted = process.env.ROWS?.split(',').map(Number);
  for (const mutation of mutations) {
    if (wanted !== undefined && !wanted.includes(mutation.row)) continue;
    const began = performance.now();
    const gate = await tryMutation(mutation);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const by = gate ?? 'NOTHING';
    console.log(
      `  ${String(mutation.row).padStart(2)}  ${mutation.what.padEnd(66)} ${by.slice(0, 110)}  (${seconds} s)`,
    );
    if (gate === null) problems.push(`row ${mutation.row}: nothing sees ${mutation.what}`);
    if (gate === STALE)
      problems.push(`row ${mutation.row}: ${mutation.file} has nothing to break: ${mutation.what}`);
  }
  console.log(`  ${mutations.length} ways to break ${rows.size} rows`);
  return problems;
}

async function tryMutation(mutation: Mutation): Promise<string | null> {
  const folder = await copyOfTree();
  try {
    const chart = join(folder, 'charts/faregate');
    const file = join(chart, mutation.file);
    const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const after =
      typeof mutation.to === 'function'
        ? mutation.to(before)
        : before.replace(mutation.from ?? /$/, mutation.to);
    if (after === before) return STALE;
    writeFileSync(file, after);
    return await caught(chart, mutation);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whatever is in the working tree, and what is installed beside it. */
async function copyOfTree(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-mutation-'));
  const listed = await run('git', [
    '-C',
    ROOT,
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ]);
  for (const path of listed.stdout.split('\0')) {
    if (path === '' || !existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(folder, path));
  }
  for (const path of ['node_modules', '.cache']) symlinkSync(join(ROOT, path), join(folder, path));
  return folder;
}

/** The first gate that says no, and what it says. */
async function caught(chart: string, mutation: Mutation | null): Promise<string | null> {
  let renders: Render[];
  try {
    renders = await Promise.all(ciFiles(chart).map((file) => renderFile(file, { chart })));
  } catch (error) {
    return `render: ${String(error instanceof Error ? error.message : error)
      .split('\n')
      .at(-1)}`;
  }
  for (const { name, find } of policies) {
    const [first] = renders.flatMap((render) => find(render));
    if (first !== undefined) return `policy: ${first || name}`;
  }
  const location = join(schemaFolder(), SCHEMA_LOCATION);
  const valid = await run(toolPath('kubeconform'), ['-strict', '-schema-location', location], {
    stdin: renders.map(({ text }) => text).join('\n---\n'),
  });
  if (valid.code !== 0) return `kubeconform: ${valid.stdout.split('\n')[0]?.replace(/.*#' - /, '')}`;
  const linted = await run(toolPath('helm'), [
    'lint',
    '--strict',
    '--quiet',
    chart,
    '--values',
    ciFiles(chart)[0] ?? '',
  ]);
  if (linted.code !== 0) return `helm lint: ${linted.stdout.trim().split('\n').at(-1)}`;
  if (readdirSync(chart).includes('tests')) {
    const tested = await run(toolPath('helm-unittest'), ['--strict', chart]);
    if (tested.code !== 0) return `helm-unittest: ${/^\s*- (.+)$/m.exec(tested.stdout)?.[1] ?? ''}`;
  }
  if (mutation === null) return null;
  const tests =
    mutation.tests ?? ['releases', 'wrong-values', 'network-flows'].map((each) => `test/chart/${each}`);
  const root = resolve(chart, '../..');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const told = await run(process.execPath, [vitest, 'run', '--root', root, '--bail', '1', ...tests]);
  if (told.code === 0) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: vitest writes colours.
  const plain = `${told.stdout}${told.stderr}`.replace(/\u001b\[[0-9;]*m/g, '');
  return `test: ${/FAIL\s+(.+)/.exec(plain)?.[1]?.trim() ?? plain.slice(-200)}`;
}
