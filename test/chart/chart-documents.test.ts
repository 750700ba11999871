import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { DRAIN_MAX_MS } from '#core/limits.ts';
import { readText, root } from '../docs/repository-files.ts';

test('the chart’s README and schema are those of its values', () => {
  const check = () =>
    execFileSync(process.execPath, ['charts/write-chart-documents.ts', '--check'], {
      cwd: root,
      stdio: 'pipe',
    });
  expect(check).not.toThrow();
});

test('the chart says where it comes from, what it may be used for and what has changed', () => {
  const { version, kubeVersion, icon, annotations } = parse(readText('charts/faregate/Chart.yaml')) as {
    version: string;
    kubeVersion: string;
    icon?: string;
    annotations: Record<string, string>;
  };
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(kubeVersion).toMatch(/^>=1\.\d+\.0-0$/);
  expect(icon).toBeTruthy();
  for (const key of ['license', 'images', 'changes', 'prerelease'])
    expect(annotations[`artifacthub.io/${key}`]).toBeTruthy();
});

test('the chart never asks for a longer drain than a gateway takes', () => {
  const [, mostMs] =
    /define "faregate\.drainMs"[\s\S]*?\| min (\d+) -}}/.exec(
      readText('charts/faregate/templates/_config.tpl'),
    ) ?? [];
  expect(Number(mostMs)).toBe(DRAIN_MAX_MS);
});
