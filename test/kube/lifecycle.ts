import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { CHART, type Ran, run } from '../chart/helm.ts';
import { type KubeObject, workloadsOf } from '../chart/kube-object.ts';
import type { Render } from '../chart/render.ts';
import { blocksOf } from '../docs/blocks-of.ts';
import { readText } from '../docs/repository-files.ts';
import { testDataDir } from '../support/data-dir.ts';
import { toolPath } from '../tools/tool.ts';
import type { Cluster } from './start-control-plane.ts';

export interface Step {
  name: string;
  ms: number;
  /** What was seen, in a few words. */
  seen: string;
  /** What should not have been. */
  problems: string[];
}

const RELEASE = 'shop';
const BACKUP = 'charts/faregate/docs/backup.md';
const DRAIN_MS = 4_000;
const SETTLES_WITHIN_MS = 60_000;
const PROBE_EVERY_MS = 100;
/** What Kubernetes itself puts into each namespace. */
const GIVEN = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];

/** The life of one release in a namespace of its own, which takes only pods of Pod Security `restricted`. */
export async function* lifecycle(cluster: Cluster, file: string, render: Render): AsyncGenerator<Step> {
  const namespace = `of-${render.name}`;
  const kube = (...args: string[]) => cluster.kubectl(['--namespace', namespace, ...args]);
  const helm = (...args: string[]) =>
    run(toolPath('helm'), [...args, '--namespace', namespace], { env: { KUBECONFIG: cluster.kubeconfig } });
  // Fifteen seconds of watching a new pod teach nothing about pods that are only played.
  const settings = [
    '--set=pod.minReadySeconds=1',
    `--set-string=pod.annotations.test\\.faregate/drain-ms=${DRAIN_MS}`,
  ];
  const upgrade = (...more: string[]) =>
    helm('upgrade', RELEASE, CHART, '--values', file, ...settings, '--wait', '--timeout', '120s', ...more);
  // The one pod of a StatefulSet goes before its successor comes.
  const rolling = render.objects.some(({ kind }) => kind === 'Deployment');
  const hooked = render.objects.some(
    ({ kind, metadata }) => kind === 'Job' && metadata.annotations?.['helm.sh/hook'] !== undefined,
  );

  await cluster.kubectl(['create', 'namespace', namespace]);
  await cluster.kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  const accounts = ownAccounts(render.objects);
  for (const account of accounts) await kube('create', 'serviceaccount', account);
  const given = [...GIVEN, ...accounts.map((account) => `serviceaccount/${account}`)];

  yield await step('install', async () => {
    const ran = await helm(
      'install',
      RELEASE,
      CHART,
      '--values',
      file,
      ...settings,
      '--wait',
      '--timeout',
      '120s',
    );
    const pods = await podsOf(kube);
    return { seen: `${pods.length} pods`, problems: [...refusalOf(ran), ...(await refusedPods(kube))] };
  });

  yield await step('helm test', async () => {
    const ran = await helm('test', RELEASE, '--timeout', '60s');
    const tests = render.objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');
    return {
      seen: `${tests.filter(({ kind }) => kind === 'Pod').length} pod ended well`,
      problems: refusalOf(ran),
    };
  });

  yield await step('upgrade of every pod', async () => {
    const ran = await upgrade('--set=secretsRevision=two');
    const going = (await podsOf(kube)).filter(isGoing).length;
    return {
      seen: `${going} old pods still drain`,
      problems: [...refusalOf(ran), ...(await refusedPods(kube))],
    };
  });

  yield await step('old pods have drained', async () => {
    const gone = await until(async () => !(await podsOf(kube)).some(isGoing));
    return { seen: `${(await podsOf(kube)).length} pods`, problems: gone ? [] : ['old pods never went'] };
  });

  if (hooked) {
    yield await step('failed migration', async () => {
      const before = await podTemplates(kube);
      const ran = await upgrade(
        '--set=secretsRevision=three',
        '--set=migrate.backoffLimit=0',
        '--set-string=migrate.pod.annotations.test\\.faregate/fails=true',
      );
      const problems = ran.code === 0 ? ['the upgrade went on'] : [];
      if ((await podTemplates(kube)) !== before) problems.push('pods were replaced all the same');
      const { stdout } = await kube('get', 'jobs', '--output', 'name');
      if (stdout.trim() === '') problems.push('nothing is left to read the reason from');
      return {
        seen: `refused: ${lastLine(ran.stderr)
          .replace(/^Error: /, '')
          .slice(0, 50)}; no pod was touched`,
        problems,
      };
    });
  }

  yield await step('rollback', async () => {
    const ran = await helm('rollback', RELEASE, '1', '--wait', '--timeout', '120s');
    const problems = [...refusalOf(ran), ...(await refusedPods(kube))];
    const { stdout } = await helm('history', RELEASE, '--output', 'json');
    const last = (JSON.parse(stdout) as { revision: number; status: string }[]).at(-1);
    if (last?.status !== 'deployed') problems.push(`the release is ${last?.status}`);
    return { seen: `revision ${last?.revision} is ${last?.status}`, problems };
  });

  yield await step('drain of a node', async () => {
    await until(async () => !(await podsOf(kube)).some(isGoing));
    const [first] = await podsOf(kube);
    const node = String((first?.spec as { nodeName?: string } | undefined)?.nodeName);
    const there = (await podsOf(kube)).filter(({ spec }) => spec?.nodeName === node).length;
    const ran = await cluster.kubectl([
      ...['drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout', '90s'],
      `--pod-selector=app.kubernetes.io/instance=${RELEASE}`,
    ]);
    const problems = refusalOf(ran);
    await cluster.kubectl(['uncordon', node]);
    const whole = await until(async () => (await unready(kube)) === '');
    if (!whole) problems.push(`without its pods: ${await unready(kube)}`);
    return { seen: `${there} pods left ${node}, each after its ${DRAIN_MS / 1000} s`, problems };
  });

  if (rolling) {
    yield await step('pods that Pod Security refuses', async () => {
      const ran = await helm(
        ...['upgrade', RELEASE, CHART, '--values', file, ...settings, '--timeout', '60s'],
        '--set=pod.containerSecurityContext.allowPrivilegeEscalation=true,migrate.mode=none',
        '--set=cassandra.migration.username=,cassandra.migration.passwordKey=',
      );
      const told = await until(async () => (await refusedPods(kube)).length > 0);
      const whole = await until(async () => (await podsOf(kube)).filter((pod) => !isGoing(pod)).length > 0);
      return {
        seen: 'refused by the namespace; the old ones serve on',
        problems: [
          ...(ran.code === 0 || /PodSecurity/.test(ran.stderr) ? [] : refusalOf(ran)),
          ...(told ? [] : ['the namespace took them']),
          ...(whole ? [] : ['the old ones went']),
        ],
      };
    });
  }

  yield await step('pod for maintenance, alone', async () => {
    await using folder = await testDataDir();
    const stopped = join(folder.path, 'stopped.yaml');
    writeFileSync(stopped, blocksOf(BACKUP, 'yaml')[0] ?? '');
    const one = ['statefulset', nameOf(render), '--replicas'] as const;
    const ran = await (rolling ? upgrade('--values', stopped) : kube('scale', ...one, '0'));
    const gone = await until(async () => (await podsOf(kube)).length === 0);
    const made = await run('bash', ['-c', maintenanceScript(rolling)], {
      env: {
        NAMESPACE: namespace,
        NAME: nameOf(render),
        KUBECTL: cluster.kubectlPath,
        KUBECONFIG: cluster.kubeconfig,
      },
    });
    await kube('delete', 'pod', `${nameOf(render)}-maintenance`);
    if (!rolling) await kube('scale', ...one, '1');
    return {
      seen: 'made as docs/backup.md says, when all others had gone',
      problems: [...refusalOf(ran), ...(gone ? [] : ['the others never went']), ...refusalOf(made)],
    };
  });

  yield await step('upgrade after all that', async () => {
    const ran = await upgrade('--set=secretsRevision=four');
    return { seen: 'deployed', problems: refusalOf(ran) };
  });

  yield await step('uninstall', async () => {
    const ran = await helm('uninstall', RELEASE, '--wait', '--timeout', '120s');
    let left: string[] = [];
    // Money lives in a claim: whoever takes an installation away keeps its ledger until he deletes it himself.
    const orphans = () => left.filter((each) => !each.startsWith('persistentvolumeclaim/'));
    await until(async () => {
      left = (await leftIn(cluster, namespace)).filter((each) => !given.includes(each));
      return orphans().length === 0;
    });
    return {
      seen: `left over: ${left.length === 0 ? 'nothing' : left.join(', ')}`,
      problems: [...refusalOf(ran), ...orphans().map((each) => `${each} is left over`)],
    };
  });
  await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
}

/** Its commands as they stand; of mode embedded with the two changes that it tells. */
function maintenanceScript(isCluster: boolean): string {
  const block = blocksOf(BACKUP, 'sh').find((each) => each.includes('-maintenance')) ?? '';
  const volumes = /`("volumes":.+?,)`/.exec(readText(BACKUP))?.[1] ?? '';
  const commands = isCluster
    ? block
    : block
        .replace('deployment $NAME-api', 'statefulset $NAME')
        .replace('"containers"', `${volumes}$&`)
        .replace('data-NAME-0', `data-'"$NAME"'-0`);
  return `set -e; k() { "$KUBECTL" --namespace "$NAMESPACE" "$@"; }\n${commands}`;
}

/** As the notes of the install say it. */
const nameOf = ({ notes }: Render): string => / is installed as (\S+),/.exec(notes)?.[1] ?? '';

type Kube = (...args: string[]) => Promise<Ran>;

async function step(name: string, play: () => Promise<Pick<Step, 'seen' | 'problems'>>): Promise<Step> {
  const began = performance.now();
  const { seen, problems } = await play();
  return { name, ms: Math.round(performance.now() - began), seen, problems };
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

const refusalOf = ({ code, stderr }: Ran): string[] => (code === 0 ? [] : [lastLine(stderr)]);

async function podsOf(kube: Kube): Promise<KubeObject[]> {
  const { stdout } = await kube(
    'get',
    'pods',
    '--output',
    'json',
    '--selector',
    'app.kubernetes.io/component notin (migrate,test)',
  );
  return (parse(stdout) as { items: KubeObject[] } | null)?.items ?? [];
}

const isGoing = ({ metadata }: KubeObject): boolean => 'deletionTimestamp' in metadata;

/** Only events tell: helm says that a Deployment was not ready in time. */
async function refusedPods(kube: Kube): Promise<string[]> {
  const { stdout } = await kube(
    'get',
    'events',
    '--output',
    'json',
    '--field-selector',
    'reason=FailedCreate',
  );
  const events = (parse(stdout) as { items: { message: string }[] } | null)?.items ?? [];
  return [...new Set(events.map(({ message }) => message))].filter((message) =>
    /violates PodSecurity/.test(message),
  );
}

/** What a scaler may change is not among it. */
async function podTemplates(kube: Kube): Promise<string> {
  const template = '{range .items[*]}{.kind}/{.metadata.name} {.spec.template}{"\\n"}{end}';
  return (await kube('get', 'deployments,statefulsets', '--output', `jsonpath=${template}`)).stdout;
}

async function unready(kube: Kube): Promise<string> {
  const { stdout } = await kube('get', 'deployments,statefulsets', '--output', 'json');
  const items = (parse(stdout) as { items: KubeObject[] } | null)?.items ?? [];
  return items
    .filter(
      ({ spec, status }) =>
        ((status as { readyReplicas?: number }).readyReplicas ?? 0) < Number(spec?.replicas ?? 1),
    )
    .map(({ metadata }) => metadata.name)
    .join(', ');
}

/** Whose maker is the operator: the chart was told their names. */
function ownAccounts(objects: readonly KubeObject[]): string[] {
  const made = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
  const named = workloadsOf(objects).flatMap(({ pod }) => pod.spec.serviceAccountName ?? []);
  return [...new Set(named)].filter((name) => !made.includes(name) && name !== 'default');
}

async function leftIn(cluster: Cluster, namespace: string): Promise<string[]> {
  const { stdout } = await cluster.kubectl([
    'api-resources',
    '--namespaced',
    '--verbs=list,delete',
    '--output',
    'name',
  ]);
  const kinds = stdout.split('\n').filter((kind) => kind !== '' && !/^events|^leases|^endpoint/.test(kind));
  const left = await cluster.kubectl(['--namespace', namespace, 'get', kinds.join(','), '--output', 'name']);
  return left.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/^([^./]+)[^/]*\//, '$1/'));
}

async function until(ready: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + SETTLES_WITHIN_MS;
  while (!(await ready())) {
    if (performance.now() > giveUpAt) return false;
    await sleep(PROBE_EVERY_MS);
  }
  return true;
}
