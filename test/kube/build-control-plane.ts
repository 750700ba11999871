import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { goBuild } from '../tools/go-build.ts';
import { toolFolder } from '../tools/tool.ts';

const KUBERNETES = '1.36.3';
// Without it the server is v0.0.0, which no chart's `kubeVersion` takes.
const VERSION_FLAGS = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((path) => [
  `-X ${path}.gitVersion=v${KUBERNETES}`,
  `-X ${path}.gitMajor=${KUBERNETES.split('.')[0]}`,
  `-X ${path}.gitMinor=${KUBERNETES.split('.')[1]}`,
]);

const programs = {
  etcd: { version: '3.6.16', module: 'etcd', main: 'go.etcd.io/etcd/server/v3', linkerFlags: [] },
  kwok: { version: '0.8.0', module: 'kwok', main: 'sigs.k8s.io/kwok/cmd/kwok', linkerFlags: [] },
  'kube-apiserver': ofKubernetes('kube-apiserver'),
  'kube-controller-manager': ofKubernetes('kube-controller-manager'),
  'kube-scheduler': ofKubernetes('kube-scheduler'),
  kubectl: ofKubernetes('kubectl'),
};

export type Program = keyof typeof programs;
export type ControlPlane = Record<Program, string>;

function ofKubernetes(name: string) {
  return {
    version: KUBERNETES,
    module: 'kubernetes',
    main: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: VERSION_FLAGS,
  };
}

/** Where each program is, built from its Go modules where this machine has not built it yet: eleven minutes in all. */
export async function buildControlPlane(): Promise<ControlPlane> {
  const built: Partial<ControlPlane> = {};
  for (const name of Object.keys(programs) as Program[]) built[name] = await build(name);
  return built as ControlPlane;
}

async function build(name: Program): Promise<string> {
  const { version, module, main, linkerFlags } = programs[name];
  const folder = toolFolder(name, version);
  const file = join(folder, name);
  if (existsSync(file)) return file;
  console.log(`Building ${name} ${version} …`);
  const began = performance.now();
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-new-`);
  try {
    await goBuild({ module, main, to: join(made, name), linkerFlags });
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  console.log(`${name} ${version}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return file;
}
