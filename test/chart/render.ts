import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { CHART, helm } from './helm.ts';
import type { KubeObject } from './kube-object.ts';

export interface Render {
  /** The file of `ci/` without its ending. */
  name: string;
  release: string;
  namespace: string;
  /** What the file asks for, without the chart's defaults. */
  given: Record<string, unknown>;
  /** Hooks among them. */
  objects: KubeObject[];
  /** As it is sent to the cluster. */
  text: string;
  notes: string;
}

export interface RenderOptions {
  chart?: string;
  values?: readonly string[];
  set?: readonly string[];
  release?: string;
  namespace?: string;
  name?: string;
}

/** What an install would send. Rejects with the sentence that helm refuses it by. */
export async function render(options: RenderOptions = {}): Promise<Render> {
  const {
    chart = CHART,
    values = [],
    set = [],
    release = 'shop',
    namespace = 'gateway',
    name = '',
  } = options;
  const ran = await helm(
    ...['install', release, chart, '--namespace', namespace, '--dry-run=client', '--output', 'json'],
    ...values.flatMap((file) => ['--values', file]),
    ...set.flatMap((pair) => ['--set', pair]),
  );
  if (ran.code !== 0) throw new Error(ran.stderr.trim());
  const made = JSON.parse(ran.stdout) as {
    manifest: string;
    hooks?: { manifest: string }[];
    info: { notes?: string };
  };
  const text = [made.manifest, ...(made.hooks ?? []).map(({ manifest }) => manifest)].join('\n---\n');
  return {
    name,
    release,
    namespace,
    given: Object.assign({}, ...values.map((file) => parse(readFileSync(file, 'utf8')) as object)) as Record<
      string,
      unknown
    >,
    objects: objectsOf(text),
    text,
    notes: made.info.notes ?? '',
  };
}

export const objectsOf = (text: string): KubeObject[] =>
  parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw new Error(String(document.errors[0]));
    const object = document.toJS() as KubeObject | null;
    return object === null ? [] : [object];
  });

export const ciFiles = (chart = CHART): string[] =>
  readdirSync(join(chart, 'ci'))
    .filter((file) => file.endsWith('-values.yaml'))
    .sort()
    .map((file) => join(chart, 'ci', file));

/** What the chart itself makes of the file: objects of the operator's own keep no promises of ours. */
export const renderFile = (file: string, { set = [], ...options }: RenderOptions = {}): Promise<Render> =>
  render({
    ...options,
    set: ['extraObjects={}', ...set],
    values: [file],
    name: basename(file, '-values.yaml'),
  });

let all: Promise<Render[]> | null = null;

/** Every file of `ci/`, rendered once for all tests of this process. */
export function ciRenders(): Promise<Render[]> {
  all ??= Promise.all(ciFiles().map((file) => renderFile(file)));
  return all;
}
