import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ran, run } from '../chart/helm.ts';
import { freePort } from '../services/free-port.ts';
import type { ControlPlane, Program } from './build-control-plane.ts';

export interface Cluster {
  kubeconfig: string;
  kubectlPath: string;
  /** From the first process to three nodes that are ready. */
  startMs: number;
  kubectl(args: readonly string[], stdin?: string): Promise<Ran>;
  stop(): Promise<void>;
}

const START_MS = 120_000;
const STOP_MS = 20_000;
const PROBE_EVERY_MS = 50;
const NODES = 3;
const TAIL_CHARS = 2_000;

/** A real control plane on loopback, with nodes and containers that kwok plays. Nothing of it outlives `stop`. */
export async function startControlPlane(programs: ControlPlane): Promise<Cluster> {
  const began = performance.now();
  const dir = mkdtempSync(join(tmpdir(), 'faregate-kube-'));
  const path = (name: string) => join(dir, name);
  const ports = { etcd: 0, peer: 0, api: 0, controllers: 0, scheduler: 0 };
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  const token = randomBytes(16).toString('hex');
  writeFileSync(path('tokens.csv'), `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(path('accounts.key'), keys.privateKey.export({ type: 'pkcs1', format: 'pem' }), {
    mode: 0o600,
  });
  writeFileSync(path('accounts.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(path('kubeconfig'), kubeconfigOf(ports.api, token), { mode: 0o600 });
  mkdirSync(path('certs'));

  const children: [Program, ChildProcess][] = [];
  const start = (name: Program, args: readonly string[]) => {
    const log = openSync(path(`${name}.log`), 'a');
    const env = { PATH: process.env.PATH, HOME: dir };
    children.push([name, spawn(programs[name], args, { cwd: dir, stdio: ['ignore', log, log], env })]);
    closeSync(log);
  };
  const kill = () => {
    for (const [, child] of children) child.kill('SIGKILL');
  };
  process.once('exit', kill);
  const kubectl = (args: readonly string[], stdin = '') =>
    run(programs.kubectl, ['--kubeconfig', path('kubeconfig'), ...args], { stdin });
  const until = async (what: string, ready: () => Promise<boolean>) => {
    while (!(await ready())) {
      const dead = children.find(([, child]) => child.exitCode !== null);
      if (dead !== undefined || performance.now() - began > START_MS) {
        const [name] = dead ?? children.at(-1) ?? ['etcd' as const];
        throw new Error(`${what}: ${readFileSync(path(`${name}.log`), 'utf8').slice(-TAIL_CHARS)}`);
      }
      await sleep(PROBE_EVERY_MS);
    }
  };
  const stop = async () => {
    // The store last: the others wait for its answers.
    for (const [, child] of children.reverse()) {
      const ended = child.exitCode !== null || new Promise<void>((done) => child.once('exit', () => done()));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    }
    process.off('exit', kill);
    rmSync(dir, { recursive: true, force: true });
  };

  try {
    const client = `http://127.0.0.1:${ports.etcd}`;
    const peer = `http://127.0.0.1:${ports.peer}`;
    start('etcd', [
      ...['--data-dir', 'etcd', '--unsafe-no-fsync', '--log-level', 'error'],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `default=${peer}`],
    ]);
    start('kube-apiserver', [
      ...[`--etcd-servers=${client}`, '--bind-address=127.0.0.1', '--advertise-address=127.0.0.1'],
      ...[`--secure-port=${ports.api}`, '--cert-dir=certs', '--token-auth-file=tokens.csv'],
      ...[
        '--authorization-mode=RBAC',
        '--endpoint-reconciler-type=none',
        '--service-cluster-ip-range=10.96.0.0/16',
      ],
      ...[
        '--service-account-issuer=https://kubernetes.default.svc',
        '--service-account-key-file=accounts.pub',
      ],
      '--service-account-signing-key-file=accounts.key',
    ]);
    await until(
      'the API server does not answer',
      async () => (await kubectl(['get', '--raw', '/readyz'])).code === 0,
    );
    const common = [
      '--kubeconfig=kubeconfig',
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      '--cert-dir=certs',
    ];
    start('kube-controller-manager', [
      ...[...common, `--secure-port=${ports.controllers}`, '--service-account-private-key-file=accounts.key'],
      ...['--allocate-node-cidrs=false', '--controllers=*,-node-ipam-controller'],
    ]);
    start('kube-scheduler', [...common, `--secure-port=${ports.scheduler}`]);
    start('kwok', [
      ...['--kubeconfig=kubeconfig', '--manage-all-nodes=true', '--node-lease-duration-seconds=40'],
      `--config=${join(import.meta.dirname, 'stages.yaml')}`,
    ]);
    const made = await kubectl(['apply', '--server-side', '-f', '-'], `${nodes()}${volumes()}`);
    if (made.code !== 0) throw new Error(made.stderr);
    await until('the nodes are not ready', async () => {
      const { stdout } = await kubectl(['get', 'nodes', '--no-headers']);
      return stdout.split('\n').filter((line) => / Ready /.test(line)).length === NODES;
    });
    await until(
      'namespaces have no account',
      async () => (await kubectl(['get', 'serviceaccount', 'default'])).code === 0,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const startMs = Math.round(performance.now() - began);
  return { kubeconfig: path('kubeconfig'), kubectlPath: programs.kubectl, startMs, kubectl, stop };
}

const kubeconfigOf = (port: number, token: string): string => `apiVersion: v1
kind: Config
clusters: [{ name: test, cluster: { server: "https://127.0.0.1:${port}", insecure-skip-tls-verify: true } }]
users: [{ name: test, user: { token: "${token}" } }]
contexts: [{ name: test, context: { cluster: test, user: test } }]
current-context: test
`;

const nodes = (): string =>
  Array.from({ length: NODES }, (_, index) => {
    const size = '{ cpu: "32", memory: 256Gi, pods: "110" }';
    return `---
apiVersion: v1
kind: Node
metadata:
  name: node-${index + 1}
  labels: { kubernetes.io/hostname: node-${index + 1}, topology.kubernetes.io/zone: zone-${index + 1}, kubernetes.io/os: linux }
status: { allocatable: ${size}, capacity: ${size} }
`;
  }).join('');

/** Nobody makes volumes here; what a claim asks for is there. */
const volumes = (): string =>
  `---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: { name: standard, annotations: { storageclass.kubernetes.io/is-default-class: "true" } }
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
${Array.from(
  { length: 8 },
  (_, index) => `---
apiVersion: v1
kind: PersistentVolume
metadata: { name: volume-${index + 1} }
spec:
  capacity: { storage: 100Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: standard
  hostPath: { path: /nowhere }
`,
).join('')}`;
