import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readText } from '../docs/repository-files.ts';
import { toolPath } from '../tools/tool.ts';
import { helm, run } from './helm.ts';
import { workloadsOf } from './kube-object.ts';
import { noRights } from './policies/no-rights.ts';
import { podSecurity } from './policies/pod-security.ts';
import { ciFiles, render } from './render.ts';
import { SCHEMA_LOCATION, schemaFolder } from './schemas/schema-folder.ts';
import { whereInstalled } from './where-installed.ts';

const CHART = resolve(import.meta.dirname, '../../charts/dev-backends');
const renders = () => Promise.all(ciFiles(CHART).map((file) => render({ chart: CHART, values: [file] })));

describe.runIf(whereInstalled('helm'))('the stores for development', () => {
  test('are refused to whoever has not accepted to lose data', async () => {
    await expect(render({ chart: CHART })).rejects.toThrow('set acceptDataLoss: true');
  });

  test('helm lint has nothing to say', async () => {
    for (const file of ciFiles(CHART)) {
      const { code, stdout } = await helm('lint', '--strict', '--quiet', CHART, '--values', file);
      expect([code, stdout.trim()]).toEqual([0, '']);
    }
  });

  test('pass Pod Security `restricted`; only two, whose images write settings when they start, may write to their root', async () => {
    const findings = (await renders()).flatMap((each) => [...podSecurity.find(each), ...noRights.find(each)]);
    const other = findings.filter(
      (each) => !/^StatefulSet\/(kafka|cassandra) .*: may write to its root$/.test(each),
    );
    expect(other).toEqual([]);
  });

  test('are the releases that the tests run on', async () => {
    const [all] = await renders();
    const images = workloadsOf(all?.objects ?? []).flatMap(({ containers }) =>
      containers.map(({ image }) => image),
    );
    const versionIn = (path: string, pattern: RegExp) => pattern.exec(readText(path))?.[1];
    const kafka = versionIn(
      'test/services/kafka/pom.xml',
      /<artifactId>kafka_[\d.]+<\/artifactId>\s*<version>([\d.]+)</,
    );
    const cassandra = versionIn(
      'test/services/cassandra/pom.xml',
      /<artifactId>cassandra-all<\/artifactId>\s*<version>([\d.]+)</,
    );
    const s3 = versionIn('test/services/start-s3.ts', /const VERSION = '(v[\d.]+)'/);
    expect(images).toEqual(
      expect.arrayContaining([
        `docker.io/apache/kafka:${kafka}`,
        `docker.io/library/cassandra:${cassandra}`,
        `ghcr.io/versity/versitygw:${s3}`,
      ]),
    );
  });

  test('let Kafka be as the tests have it where it stands alone', async () => {
    const [all] = await renders();
    const kafka = workloadsOf(all?.objects ?? []).find(({ label }) => label === 'StatefulSet/kafka');
    const env = new Map(kafka?.containers[0]?.env?.map(({ name, value }) => [name, value]));
    const tested = [
      ...readText('test/services/kafka/server.properties').matchAll(
        /^([\w.]*(?:replication|isr|auto\.create)[\w.]*)=(.*)$/gm,
      ),
    ];
    expect(tested.length).toBeGreaterThan(4);
    for (const [, name = '', value] of tested) {
      const variable = `KAFKA_${name.replaceAll('.', '_').toUpperCase()}`;
      expect([variable, env.get(variable)]).toEqual([variable, value]);
    }
  });

  test.runIf(whereInstalled('kubeconform'))('are valid for Kubernetes 1.36', async () => {
    const ran = await run(
      toolPath('kubeconform'),
      ['-strict', '-summary', '-output', 'text', '-schema-location', join(schemaFolder(), SCHEMA_LOCATION)],
      { stdin: (await renders()).map(({ text }) => text).join('\n---\n') },
    );
    expect(ran).toMatchObject({ code: 0, stderr: '' });
  });

  test.runIf(whereInstalled('helm-unittest'))('pass the tests of their chart', async () => {
    const ran = await run(toolPath('helm-unittest'), ['--strict', CHART]);
    expect(ran.code === 0 ? '' : ran.stdout + ran.stderr).toBe('');
  });
});
