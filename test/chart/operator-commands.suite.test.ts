import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { blocksOf } from '../docs/blocks-of.ts';
import { readText, root } from '../docs/repository-files.ts';
import { CHART, helm } from './helm.ts';
import { workloadsOf } from './kube-object.ts';
import { ciFiles, type Render, render } from './render.ts';
import { whereInstalled } from './where-installed.ts';

const folder = mkdtempSync(join(tmpdir(), 'faregate-commands-'));
afterAll(() => rmSync(folder, { recursive: true }));

const documents = [
  'charts/faregate/README.md',
  'charts/faregate/docs/backup.md',
  'charts/faregate/docs/upgrades.md',
  'charts/dev-backends/README.md',
];

/** A file that a document tells its reader to write. */
function written(name: string, document: string): string {
  const path = join(folder, name);
  writeFileSync(path, blocksOf(document, 'yaml')[0] ?? '');
  return path;
}

const filesToWrite: Record<string, string> = {
  'values.yaml': written('values.yaml', 'charts/faregate/README.md'),
  'stopped.yaml': written('stopped.yaml', 'charts/faregate/docs/backup.md'),
};

const installs = documents.flatMap((document) =>
  blocksOf(document, 'sh').flatMap((block) =>
    block
      .split('\n')
      .filter((line) => /^helm (install|upgrade) /.test(line))
      .map((line): [document: string, line: string] => [document, line]),
  ),
);

/** Helm reads the command as it stands, without a cluster. */
async function read(line: string) {
  const [, , release = '', chart = '', ...options] = line
    .replaceAll(/\$?\b(NAME|RELEASE|NAMESPACE)\b/g, 'faregate')
    .split(' ');
  const inPlace = options.map((each) =>
    each.startsWith('charts/') ? join(root, each) : (filesToWrite[each] ?? each),
  );
  return helm('install', release, join(root, chart), '--dry-run=client', ...inPlace);
}

describe.runIf(whereInstalled('helm'))('what an operator copies from the documents', () => {
  test.each(installs)('%s: %s', async (_, line) => {
    expect(await read(line)).toMatchObject({ code: 0 });
  });

  test('of a pod without stores: the stores go, the Secret and the provider’s key stay', async () => {
    const {
      redis: _redis,
      kafka: _kafka,
      cassandra: _cassandra,
      ...kept
    } = parse(blocksOf('charts/faregate/README.md', 'yaml')[0] ?? '') as Record<string, unknown>;
    const path = join(folder, 'embedded.yaml');
    writeFileSync(path, stringify({ ...kept, mode: 'embedded' }));
    const { objects } = await render({ values: [path] });
    expect(workloadsOf(objects).map(({ object }) => object.kind)).toContain('StatefulSet');
    const told = readText('charts/faregate/README.md').replace(/\s+/g, ' ');
    const also = Object.keys(kept).filter((name) => !['image', 'config'].includes(name));
    expect(told).toContain(
      `add \`mode: embedded\`; \`redis\`, \`kafka\` and \`cassandra\` can go, ${also.map((name) => `\`${name}\``).join(' and ')} stay`,
    );
  });

  test('takes the image from the platform’s mirror, once one is set for all charts', async () => {
    const { text } = await render({
      values: [filesToWrite['values.yaml'] ?? ''],
      set: ['global.imageRegistry=mirror.test'],
    });
    expect(text).toContain('image: "mirror.test/faregate:');
    expect(text).not.toContain('registry.example.com');
  });

  test('is looked at in every document', () => {
    expect([...new Set(installs.map(([document]) => document))]).toEqual(documents);
  });

  test('stops everything that decides, whatever scales it', async () => {
    for (const file of ciFiles().filter((each) => !each.endsWith('embedded-values.yaml'))) {
      const { objects } = await render({ values: [file, filesToWrite['stopped.yaml'] ?? ''] });
      const replicas = objects.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec?.replicas);
      expect(replicas.length).toBeGreaterThan(2);
      expect(replicas.filter((each) => each !== 0)).toEqual([]);
      expect(objects.filter(({ kind }) => /Autoscaler|ScaledObject/.test(kind))).toEqual([]);
    }
  });

  test('waits as long as the pods: every time of the table is the grace period, or a minute more', async () => {
    const [api] = workloadsOf(
      (await render({ values: [join(CHART, 'ci/minimal-values.yaml')] })).objects,
    ).filter(({ label }) => label.endsWith('-api'));
    const grace = api?.pod.spec.terminationGracePeriodSeconds ?? 0;
    const section =
      readText('charts/faregate/README.md').split('## How pods end\n')[1]?.split('\n## ')[0] ?? '';
    const told = [...section.matchAll(/(?<![\d.])\d{4}(?![\d.])/g)].map(([each]) => Number(each));
    expect(new Set(told)).toEqual(new Set([grace, grace + 60]));
    // One table of it; a second one would come to differ.
    expect(readText('charts/faregate/docs/drain.md')).not.toMatch(
      /deregistration|drainingTimeout|graceful-termination/,
    );
  });

  test('lets longer calls come without cutting any: by a grace period that goes before them', async () => {
    const pods = async (...set: string[]) =>
      workloadsOf((await render({ values: [join(CHART, 'ci/minimal-values.yaml')], set })).objects)
        .filter(({ object }) => object.kind === 'Deployment')
        .map(({ pod }) => pod);
    const longer = 'config.limits.streamMs=3600000';
    const grace = `drain.terminationGracePeriodSeconds=${15 + 5 + 3600 + 40}`;
    expect(await pods(longer)).not.toEqual(await pods());
    expect(await pods(grace, longer)).toEqual(await pods(grace));
  });

  test('says of every secret which pods have it', async () => {
    const full = join(CHART, 'ci/full-values.yaml');
    const stores = { 'redis.passwordKey': 'redis', 'cassandra.passwordKey': 'cassandra' };
    const made = await render({ values: [full], set: Object.entries(stores).map((pair) => pair.join('=')) });
    const rows = new Map(
      [
        ...readText('charts/faregate/docs/security.md').matchAll(
          /^\| (.+?) \| your Secrets?[^|]*\| (.+?) \|$/gm,
        ),
      ].map(([, what = '', who = '']) => [what, who]),
    );
    const secrets: Record<string, RegExp> = {
      "providers' keys": /^(?!FAREGATE_).*_API_KEY$/,
      'keys of the S3 store': /^S3_/,
      'pepper of the keys': /_PEPPER$/,
      'admin token': /^\/etc\/faregate-admin$/,
      "the stores' passwords": /_PASSWORD$/,
    };
    expect([...rows.keys()]).toEqual(Object.keys(secrets));
    for (const [what, pattern] of Object.entries(secrets)) {
      const told = componentsIn(rows.get(what) ?? '');
      expect([what, holdersOf(made, pattern)]).toEqual([what, told]);
    }
  });
});

const WORKERS = ['settlement', 'projector', 'video', 'market'];

const componentsIn = (words: string): string[] =>
  [
    ...(words.includes('API pods') ? ['api'] : []),
    ...(words.includes('all workers') ? WORKERS : []),
    ...(words.includes('migration') ? ['migrate'] : []),
  ].sort();

/** Components whose pods are given a variable of a Secret, or a mounted one, of that name. */
const holdersOf = ({ objects }: Render, pattern: RegExp): string[] =>
  workloadsOf(objects)
    .filter(({ containers }) =>
      containers.some(
        ({ env = [], volumeMounts = [] }) =>
          env.some(({ name, valueFrom }) => valueFrom?.secretKeyRef !== undefined && pattern.test(name)) ||
          volumeMounts.some(({ mountPath }) => pattern.test(mountPath)),
      ),
    )
    .map(({ pod }) => pod.metadata?.labels?.['app.kubernetes.io/component'] ?? '')
    .sort();
