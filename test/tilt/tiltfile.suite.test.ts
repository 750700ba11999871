import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../api/config/config.ts';
import { workloadsOf } from '../chart/kube-object.ts';
import { whereInstalled } from '../chart/where-installed.ts';
import { makeTargetsOf } from '../docs/document-claims.ts';
import { readText, root } from '../docs/repository-files.ts';
import { testDataDir } from '../support/data-dir.ts';
import { runTiltfile, type TiltCall, type TiltRun } from './run-tiltfile.ts';

const NODE_DIGEST = `sha256:${'0'.repeat(64)}`;
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const callsIn = (value: unknown): TiltCall[] => (Array.isArray(value) ? value : []);

describe.runIf(whereInstalled('helm', 'run-tiltfile'))('tilt up', () => {
  let ran: TiltRun;
  beforeAll(async () => {
    ran = await runTiltfile({ env: { NODE_DIGEST } });
    expect(ran.failure).toBeNull();
  });
  const workloads = () => workloadsOf(ran.objects);
  const nameOf = ({ object }: { object: { metadata: { name?: string } } }) => object.metadata.name ?? '';
  const repositoryOf = (image: string) => image.replace(/(:[\w.-]+)?(@sha256:\w+)?$/, '');

  test('builds the image that both charts use, from a pinned base', () => {
    const [build, ...others] = ran.of('docker_build');
    expect(others).toEqual([]);
    const ours = workloads().filter(({ containers }) =>
      containers.some(({ image }) => repositoryOf(image) === build?.ref),
    );
    expect(ours.map(nameOf)).toEqual(
      expect.arrayContaining(['simulator', 's3', 'faregate-api', 'faregate-settlement']),
    );
    expect(build?.build_args).toMatchObject({ NODE_DIGEST });
    // Whatever is not built has to come from a registry, so it names one.
    const foreign = workloads().flatMap(({ containers }) =>
      containers.map(({ image }) => repositoryOf(image)),
    );
    expect(foreign.filter((each) => each !== build?.ref && !/^[\w-]+\.[\w.-]+\//.test(each))).toEqual([]);
  });

  test('names every workload once, and none that there is not', () => {
    const named = ran.of('k8s_resource').map(({ workload }) => String(workload));
    expect(named.sort()).toEqual(workloads().map(nameOf).sort());
  });

  test('has API, workers of all roles, migration, stores and provider', () => {
    const names = workloads().map((each) =>
      `${each.object.kind} ${nameOf(each)}`.replace(/-[0-9a-f]{8}$/, ''),
    );
    expect(names.sort()).toEqual([
      ...['api', 'market', 'projector', 'settlement', 'video'].map((name) => `Deployment faregate-${name}`),
      'Deployment simulator',
      'Job faregate-migrate',
      ...['cassandra', 'kafka', 'redis', 's3'].map((name) => `StatefulSet ${name}`),
    ]);
  });

  test('waits for what there is, and never in a circle', () => {
    const resources = [...ran.of('k8s_resource'), ...ran.of('local_resource')];
    const needs = new Map(
      resources.map(({ workload, name, resource_deps }) => [
        String(workload ?? name),
        textsOf(resource_deps),
      ]),
    );
    const settled = new Set<string>();
    for (let before = -1; before < settled.size; ) {
      before = settled.size;
      for (const [name, on] of needs) if (on.every((each) => settled.has(each))) settled.add(name);
    }
    expect([...needs.keys()].filter((name) => !settled.has(name))).toEqual([]);
    const migration = [...needs.keys()].find((name) => name.startsWith('faregate-migrate-')) ?? '';
    expect(needs.get(migration)).toEqual(['redis', 'kafka', 'cassandra', 's3']);
    expect(needs.get('faregate-api')).toEqual([migration, 'simulator']);
  });

  test('groups all of it, and forwards ports that its containers have', () => {
    for (const { workload, name, labels } of [...ran.of('k8s_resource'), ...ran.of('local_resource')]) {
      expect([workload ?? name, textsOf(labels)]).toEqual([
        workload ?? name,
        [expect.stringMatching(/^[a-z]+$/)],
      ]);
    }
    const local: unknown[] = [];
    for (const { workload, port_forwards } of ran.of('k8s_resource')) {
      const found = workloads().find((each) => nameOf(each) === workload);
      const ports = found?.containers.flatMap((each) =>
        (each.ports ?? []).map(({ containerPort }) => containerPort),
      );
      for (const forward of callsIn(port_forwards)) {
        expect(ports).toContain(forward.container_port);
        expect(forward.host).toBe('127.0.0.1');
        local.push(forward.local_port);
      }
    }
    expect(local).toHaveLength(new Set(local).size);
    const api = ran.of('k8s_resource').find(({ workload }) => workload === 'faregate-api');
    expect(callsIn(api?.links).map(({ url }) => url)).toContain('http://127.0.0.1:8080/console');
    expect(local).toContain(8080);
  });

  test('runs in clusters on this machine, and in one that its developer names', async () => {
    const contexts = (of: TiltRun) => of.of('allow_k8s_contexts').flatMap((call) => textsOf(call.contexts));
    expect(contexts(ran)).toEqual(expect.arrayContaining(['minikube', 'docker-desktop']));
    const named = await runTiltfile({ env: { NODE_DIGEST }, settings: { context: 'my-own' } });
    expect(contexts(named)).toEqual([...contexts(ran), 'my-own']);
    const order = ran.calls.map(({ call }) => call);
    expect(order.indexOf('allow_k8s_contexts')).toBeLessThan(order.indexOf('docker_build'));
  });

  test('says what is missing where nobody has pinned the base', async () => {
    const { failure } = await runTiltfile();
    expect(failure).toContain('NODE_DIGEST is not set. The head of the Dockerfile says how to look it up');
  });

  test('replaces sources where the image has them, in containers that let it and start anew', () => {
    const [build] = ran.of('docker_build');
    const [fallBack, ...syncs] = callsIn(build?.live_update);
    const only = textsOf(build?.only);
    expect(only.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const dockerfile = readText('Dockerfile');
    for (const { call, local_path, remote_path } of syncs) {
      expect([call, only.includes(String(local_path))]).toEqual(['sync', true]);
      expect(dockerfile).toContain(` ${local_path} ./${local_path}\n`);
      expect(remote_path).toBe(`/app/${local_path}`);
    }
    expect(syncs.map(({ local_path }) => local_path)).toEqual(['api', 'workers']);
    expect(textsOf(fallBack?.files).filter((path) => !only.includes(path))).toEqual([]);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(?:--\S+ )*(.+) \S+$/gm)].flatMap(
      ([, paths = '']) => paths.split(' '),
    );
    expect(
      copied.filter((path) => !only.some((each) => path === each || path.startsWith(`${each}/`))),
    ).toEqual([]);
    expect(build?.build_args).toMatchObject({ SOURCES_OWNER: /^USER (.+)$/m.exec(dockerfile)?.[1] });

    const started = workloads().filter((each) => /^faregate-(?!migrate)/.test(nameOf(each)));
    expect(started).toHaveLength(5);
    for (const { pod } of started) {
      const [container] = pod.spec.containers;
      expect(container?.command?.slice(0, 2)).toEqual(['node', '--watch']);
      expect(container?.securityContext?.readOnlyRootFilesystem).toBe(false);
    }
  });

  test('has buttons for targets of the Makefile, which run when they are pressed', () => {
    const targets = makeTargetsOf(readText('Makefile'));
    const buttons = ran.of('local_resource');
    expect(buttons.map(({ name }) => name)).toEqual(['unit-tests', 'load', 'new-agent']);
    for (const { cmd, auto_init, trigger_mode } of buttons) {
      const [, target = '', rest = ''] = /^make ([a-z-]+)(.*)$/.exec(String(cmd)) ?? [];
      expect([...targets]).toContain(target);
      expect([auto_init, trigger_mode]).toEqual([false, 'manual']);
      for (const [path] of rest.matchAll(/charts\/[\w./-]+/g))
        expect(existsSync(join(root, path))).toBe(true);
    }
  });

  test('needs no secret: what the gateway reads stands in a Secret for development', () => {
    const secrets = ran.objects.filter(({ kind }) => kind === 'Secret');
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(['faregate-dev']);
    const keys = Object.keys(secrets[0]?.stringData ?? {});
    const wanted = workloads().flatMap(({ containers }) =>
      containers.flatMap(({ env = [] }) =>
        env.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [valueFrom.secretKeyRef] : [])),
      ),
    );
    expect(wanted.length).toBeGreaterThan(4);
    expect(wanted.filter(({ name, key }) => name !== 'faregate-dev' || !keys.includes(key))).toEqual([]);
  });

  test('gives the gateway a configuration and secrets that it takes', async () => {
    const config = ran.objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'faregate-config',
    )?.data?.['faregate.yaml'];
    const secret = ran.objects.find(({ kind }) => kind === 'Secret')?.stringData ?? {};
    const files: Record<string, string | undefined> = {
      '/etc/faregate/faregate.yaml': config,
      '/etc/faregate-admin/token': secret['admin-token'],
    };
    const env = {
      FAREGATE_CONFIG: '/etc/faregate/faregate.yaml',
      FAREGATE_KEY_PEPPER: secret['key-pepper'],
      S3_ACCESS_KEY_ID: secret['s3-access-key-id'],
      S3_SECRET_ACCESS_KEY: secret['s3-secret-access-key'],
    };
    const { storage, adminToken, providers } = await loadConfig(env, async (path) => files[path] ?? '');
    expect([storage.mode, adminToken?.reveal()]).toEqual(['cluster', secret['admin-token']]);
    expect(providers.map(({ id }) => id)).toEqual(['simulator']);
  });

  test('the store names of the gateway are services of the other chart', () => {
    const text = ran.objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'faregate-config',
    )?.data?.['faregate.yaml'];
    const services = ran.objects
      .filter(({ kind }) => kind === 'Service')
      .map(({ metadata }) => metadata.name);
    for (const name of ['redis', 'kafka', 'cassandra', 's3', 'simulator']) {
      expect(services).toContain(name);
      expect(text).toMatch(new RegExp(`[/"\\s-]${name}:\\d+`));
    }
  });

  test.each([
    ['a function that Tilt has not', 'k8s_yml("x")', 'undefined: k8s_yml'],
    [
      'an argument that it does not take',
      'k8s_resource("a", label=["b"])',
      'k8s_resource has no argument label',
    ],
    ['a statement that Starlark has not', 'import os', 'got import'],
    ['a chart that does not render', 'helm("charts/dev-backends")', 'exit status'],
  ])('the run finds %s', async (_, text, message) => {
    await using folder = await testDataDir();
    const file = join(folder.path, 'Tiltfile');
    writeFileSync(file, text);
    expect((await runTiltfile({ file })).failure).toContain(message);
  });
});
