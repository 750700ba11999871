import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART, helm } from '../helm.ts';
import { ciFiles } from '../render.ts';

const AT_ONCE = 2;

/** Leaves of values.yaml whose change changes nothing that is rendered from any file of `ci/`. */
export async function unusedValues(): Promise<string[]> {
  const leaves = [...leavesOf(parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')))];
  const plain = new Map<string, Promise<string>>();
  for (const file of ciFiles()) plain.set(file, template(file));
  const unused: string[] = [];
  const queue = [...leaves];
  const work = async () => {
    for (let leaf = queue.shift(); leaf !== undefined; leaf = queue.shift()) {
      if (!(await isUsed(leaf, plain))) unused.push(`${leaf.path.join('.')} is read by no template`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  console.log(`  ${leaves.length} values, each changed in ${plain.size} files until one shows it`);
  return unused;
}

interface Leaf {
  path: string[];
  value: unknown;
}

async function isUsed(leaf: Leaf, plain: Map<string, Promise<string>>): Promise<boolean> {
  for (const [file, text] of plain) {
    for (const other of othersOf(leaf.value)) {
      const key = leaf.path.map((part) => part.replace(/[.,]/g, '\\$&')).join('.');
      if ((await template(file, `${key}=${JSON.stringify(other)}`)) !== (await text)) return true;
    }
  }
  return false;
}

/** A refusal is an answer too, but not that of the schema: it knows every value, whether or not it is used. */
async function template(file: string, json?: string): Promise<string> {
  const ran = await helm(
    ...['template', 'shop', CHART, '--values', file, '--skip-schema-validation'],
    ...(json === undefined ? [] : ['--set-json', json]),
  );
  return ran.code === 0 ? ran.stdout : ran.stderr;
}

function* leavesOf(value: unknown, path: string[] = []): Generator<Leaf> {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap || Object.keys(value).length === 0) yield { path, value };
  else for (const [key, each] of Object.entries(value)) yield* leavesOf(each, [...path, key]);
}

function othersOf(value: unknown): unknown[] {
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 7];
  if (typeof value === 'string') return [`${value}7`, 'other'];
  if (Array.isArray(value)) return [['other'], [{ name: 'other' }], []];
  if (value === null) return [true, 99_999];
  return [{ other: 'other' }, { extraEnv: [{ name: 'OTHER', value: '1' }], labels: { other: 'other' } }];
}
