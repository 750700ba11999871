import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { CHART } from './helm.ts';
import { selects, workloadsOf } from './kube-object.ts';
import { type End, isAllowed } from './network-flows.ts';
import { type Render, render } from './render.ts';
import { whereInstalled } from './where-installed.ts';

const NAMESPACE = 'gateway';
const values = {
  media: { s3: { endpoint: 'https://s3.test', bucket: 'faregate' } },
  networkPolicy: {
    from: [
      {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } },
        podSelector: { matchLabels: { app: 'proxy' } },
      },
    ],
    internalFrom: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
    stores: [{ ipBlock: { cidr: '10.20.0.0/16' } }],
  },
};

const component = (name: string): End => ({
  namespace: NAMESPACE,
  labels: {
    'app.kubernetes.io/name': 'faregate',
    'app.kubernetes.io/instance': 'shop',
    'app.kubernetes.io/component': name,
  },
});
const api = component('api');
const settlement = component('settlement');
const video = component('video');
const migrate = component('migrate');
const proxy: End = { namespace: 'ingress', labels: { app: 'proxy' } };
const stranger: End = { namespace: 'shop-front', labels: { app: 'proxy' } };
const neighbour: End = { namespace: NAMESPACE, labels: { app: 'cache' } };
const prometheus: End = { namespace: 'monitoring', labels: { app: 'prometheus' } };
const dns: End = { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };
const store: End = { ip: '10.20.3.4' };
const provider: End = { ip: '93.184.215.14' };
const metadata: End = { ip: '169.254.169.254' };

const flows: [what: string, from: End, to: End, port: number, allowed: boolean, protocol?: 'UDP'][] = [
  ['the proxy to the API', proxy, api, 8080, true],
  ['the proxy to the admin API', proxy, api, 9090, false],
  ['a stranger to the API', stranger, api, 8080, false],
  ['the internet to the API', { ip: '8.8.8.8' }, api, 8080, false],
  ['Prometheus to the API’s metrics', prometheus, api, 9090, true],
  ['Prometheus to a worker’s metrics', prometheus, settlement, 9090, true],
  ['Prometheus to the public port', prometheus, api, 8080, false],
  ['a stranger to the admin API', stranger, api, 9090, false],
  ['a stranger to a worker', stranger, video, 9090, false],
  ['the proxy to a worker', proxy, settlement, 9090, false],
  ['the API to DNS', api, dns, 53, true, 'UDP'],
  ['a worker to DNS', settlement, dns, 53, true, 'UDP'],
  ['the API to OpenShift’s DNS', api, dns, 5353, true, 'UDP'],
  ['the migration to OpenShift’s DNS by TCP', migrate, dns, 5353, true],
  ['the API to Redis', api, store, 6379, true],
  ['the API to Kafka', api, store, 9092, true],
  ['settlement to Cassandra', settlement, store, 9042, true],
  ['the migration to Kafka', migrate, store, 9092, true],
  ['the migration to Cassandra', migrate, store, 9042, true],
  ['the API to a store’s shell', api, store, 22, false],
  ['the API to another network’s Redis', api, { ip: '10.99.0.1' }, 6379, false],
  ['the API to a provider', api, provider, 443, true],
  ['video to a provider', video, provider, 443, true],
  ['the API to a provider without TLS', api, provider, 25, false],
  ['the API to the cloud’s metadata', api, metadata, 80, false],
  ['the API to the cloud’s metadata by 443', api, metadata, 443, false],
  ['the API to a private address', api, { ip: '192.168.1.10' }, 443, false],
  ['the API to a private address of IPv6', api, { ip: 'fd00::1' }, 443, false],
  ['the API to a provider by IPv6', api, { ip: '2606:4700::1' }, 443, true],
  ['the API to itself by a linked image', api, { ip: '127.0.0.1' }, 443, false],
  ['the API to a neighbour', api, neighbour, 443, false],
  ['the migration to a provider', migrate, provider, 443, false],
];

describe.runIf(whereInstalled('helm'))('a cluster that enforces the policies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-flows-'));
  let made: Render;
  beforeAll(async () => {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, stringify(values));
    made = await render({ namespace: NAMESPACE, values: [join(CHART, 'ci/minimal-values.yaml'), file] });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('has every pod that these flows are about', () => {
    const components = workloadsOf(made.objects).map(({ pod }) => pod.metadata?.labels);
    for (const end of [api, settlement, video, migrate]) {
      const { labels } = end as { labels: Record<string, string> };
      expect(components.some((each) => selects({ matchLabels: labels }, each))).toBe(true);
    }
  });

  test.each(flows)('%s', (_, from, to, port, allowed, protocol = 'TCP' as never) => {
    expect(isAllowed(made.objects, NAMESPACE, { from, to, port, protocol })).toBe(allowed);
  });
});
