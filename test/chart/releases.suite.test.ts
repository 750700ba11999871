import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { CHART, helm } from './helm.ts';
import { type KubeObject, labelOf, type Selector, selects, workloadsOf } from './kube-object.ts';
import { imagesOf } from './policies/images.ts';
import { policies } from './policies/policies.ts';
import { ciFiles, render, renderFile } from './render.ts';
import { whereInstalled } from './where-installed.ts';

describe.runIf(whereInstalled('helm'))('a release', () => {
  test('has nothing in common with another one of its namespace', async () => {
    for (const file of ciFiles()) {
      const [first, second] = await Promise.all(
        ['shop', 'shop-two'].map((release) => renderFile(file, { release, set: ['fullnameOverride='] })),
      );
      const names = new Set(first?.objects.map(labelOf));
      expect(second?.objects.map(labelOf).filter((each) => names.has(each))).toEqual([]);
      const [ours = [], theirs = []] = [first?.objects, second?.objects];
      expect([...strangers(ours, theirs), ...strangers(theirs, ours)]).toEqual([]);
    }
  });

  test('keeps every promise under a name of 53 characters', async () => {
    const release = `r${'0123456789'.repeat(5)}-9`;
    expect(release).toHaveLength(53);
    for (const file of ciFiles()) {
      const long = await renderFile(file, { release });
      expect(policies.flatMap(({ find }) => find(long))).toEqual([]);
      const overridden = await renderFile(file, { set: ['fullnameOverride=pay', 'nameOverride=gate'] });
      expect(policies.flatMap(({ find }) => find(overridden))).toEqual([]);
    }
  });

  test('pulls every image from the registry that it is given', async () => {
    for (const file of ciFiles()) {
      const { objects } = await renderFile(file, { set: ['global.imageRegistry=mirror.test:5000'] });
      expect(imagesOf(objects).length).toBeGreaterThan(0);
      expect(imagesOf(objects).filter((image) => !image.startsWith('mirror.test:5000/'))).toEqual([]);
      const digest = `sha256:${'0'.repeat(64)}`;
      const pinned = await renderFile(file, { set: [`image.digest=${digest}`] });
      expect(imagesOf(pinned.objects).filter((image) => !image.endsWith(`@${digest}`))).toEqual([]);
    }
  });

  test('stays where a model, a price or a limit changes, and moves where a store does', async () => {
    for (const file of ciFiles()) {
      const before = checksums((await renderFile(file)).objects);
      const live = await renderFile(file, { set: ['config.limits.callsPerMinute=77'] });
      expect(checksums(live.objects)).toEqual(before);
      const moved = await renderFile(file, { set: ['config.server.trustedProxies=2'] }).catch(() => null);
      if (moved !== null) expect(checksums(moved.objects)).not.toEqual(before);
    }
  });

  test('is refused by a Kubernetes that is too old', async () => {
    const [file = ''] = ciFiles();
    const ran = await helm('template', 'shop', CHART, '--values', file, '--kube-version', '1.29.9');
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain('1.29.9');
    for (const version of ['1.30.0', '1.33.2', '1.36.3', '1.37.0']) {
      expect(
        await helm('template', 'shop', CHART, '--values', file, '--kube-version', version),
      ).toMatchObject({ code: 0 });
    }
  });

  test('is made without chance, without the time and without a look at the cluster', () => {
    const guilty = readdirSync(join(CHART, 'templates'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ya?ml|tpl|txt)$/.test(file))
      .filter((file) =>
        /(?<![$.\w])(rand(Alpha|Numeric|Ascii|AlphaNum|Bytes|Int)|genCA|genSelfSignedCert|genSignedCert|genPrivateKey|uuidv4|now|date|lookup|htpasswd|bcrypt)\b/.test(
          actionsOf(readFileSync(join(CHART, 'templates', file), 'utf8')),
        ),
      );
    expect(guilty).toEqual([]);
  });

  test('can be one of the charts of another, with what they share', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'faregate-umbrella-'));
    try {
      cpSync(CHART, join(folder, 'charts/faregate'), { recursive: true });
      writeFileSync(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: umbrella\nversion: 1.0.0\n');
      const [file = ''] = ciFiles();
      const values = { global: { theirs: 1 }, faregate: parse(readFileSync(file, 'utf8')) as object };
      writeFileSync(join(folder, 'values.yaml'), stringify(values));
      const { objects } = await render({ chart: folder });
      expect(objects.length).toBeGreaterThan(5);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Selectors of ours that take in pods of theirs. */
function strangers(ours: readonly KubeObject[], theirs: readonly KubeObject[]): string[] {
  const pods = workloadsOf(theirs);
  return ours.flatMap((object) =>
    selectorsOf(object).flatMap((selector) =>
      pods
        .filter(({ pod }) => selects(selector, pod.metadata?.labels))
        .map(({ label }) => `${labelOf(object)} selects pods of ${label}`),
    ),
  );
}

function selectorsOf({ kind, spec = {} }: KubeObject): Selector[] {
  if (kind === 'Service') return [{ matchLabels: (spec.selector ?? {}) as Record<string, string> }];
  if (kind === 'NetworkPolicy') return [spec.podSelector as Selector];
  const template = spec.template as
    | { spec?: { topologySpreadConstraints?: { labelSelector?: Selector }[] } }
    | undefined;
  const spread = template?.spec?.topologySpreadConstraints ?? [];
  const own =
    kind === 'Deployment' ||
    kind === 'StatefulSet' ||
    kind === 'PodDisruptionBudget' ||
    kind === 'PodMonitor';
  return [
    ...(own && spec.selector !== undefined ? [spec.selector as Selector] : []),
    ...spread.flatMap(({ labelSelector }) => (labelSelector === undefined ? [] : [labelSelector])),
  ];
}

const checksums = (objects: readonly KubeObject[]): unknown =>
  workloadsOf(objects)
    .filter(({ object }) => object.kind === 'Deployment' || object.kind === 'StatefulSet')
    .map(({ label, pod }) => [label, pod]);

/** What a template does; not what it says. */
const actionsOf = (text: string): string =>
  [...text.replace(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, '').matchAll(/\{\{[\s\S]*?\}\}/g)]
    .map(([action]) => action.replace(/"(?:[^"\\]|\\.)*"|`[^`]*`/g, ''))
    .join('\n');
