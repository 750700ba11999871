import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCatalog } from '#core/catalog/check-catalog.ts';
import { atto } from '../inference/support.ts';
import { load, mistakes } from './support.ts';

const FILE = 'faregate.example.yaml';
const CLUSTER_FILE = 'faregate.cluster.example.yaml';
const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the example file loads as it is, with the key from the environment', async () => {
  const config = await load(textOf(FILE), { OPENROUTER_API_KEY: 'the-key' });
  expect(config.notices).toEqual([]);
  expect(checkCatalog(config)).toEqual([]);
  expect(config.providers.map(({ id, apiKey }) => [id, apiKey?.reveal()])).toEqual([
    ['openrouter', 'the-key'],
    ['own-server', undefined],
  ]);
  expect(config.limits).toMatchObject({ callsPerMinute: 300, burst: 30, runningCalls: 8 });
  expect(config.models.map((model) => model.id)).toEqual(['acme/small']);
  expect(config.models[0]?.endpoints[0]?.prices).toMatchObject({
    prompt: atto('0.0000001'),
    completion: atto('0.0000004'),
    overrides: [{ minPromptTokens: 16_000, prompt: atto('0.0000002') }],
  });
});

test('without the key, the start says which line wants it, and nothing else is wrong', async () => {
  const lines = await mistakes(textOf(FILE));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^\d+:\d+ providers\[0\]\.apiKeyEnv: names an environment variable that is not set/,
  );
});

test('the example of a cluster loads as it is, with its secrets from the files that docs/cluster.md makes', async () => {
  const files = {
    '.faregate/cluster-pepper': 'p'.repeat(44),
    '.faregate/cluster-admin-token': 't'.repeat(64),
  };
  for (const path of Object.keys(files)) expect(textOf('docs/cluster.md')).toContain(`> ${path}`);
  const config = await load(textOf(CLUSTER_FILE), {}, files);
  expect(config.storage).toMatchObject({
    mode: 'cluster',
    redis: { urls: ['redis://127.0.0.1:6379'], cluster: false },
    kafka: { brokers: ['127.0.0.1:9092'], replicationFactor: 1 },
    cassandra: { contactPoints: ['127.0.0.1:9042'] },
    allowUnsafe: true,
  });
  expect(config.adminToken?.reveal()).toBe('t'.repeat(64));
});

test.each([FILE, CLUSTER_FILE])('the README names %s', (file) => {
  expect(textOf('README.md')).toContain(`(${file})`);
});
