import { type Container, type PodSpec, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

/** Pod Security `restricted`, and the root read-only on top. */
export const podSecurity: Policy = {
  name: 'every container passes Pod Security `restricted` with a read-only root',
  find: ({ objects }) =>
    workloadsOf(objects).flatMap(({ label, pod, containers }) => [
      ...[...ofPod(pod.spec)].map((finding) => `${label}: ${finding}`),
      ...containers.flatMap((container) =>
        [...ofContainer(container, pod.spec)].map((finding) => `${label} ${container.name}: ${finding}`),
      ),
    ]),
};

const VOLUMES = new Set([
  ...[
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ],
]);

function* ofPod(spec: PodSpec): Generator<string> {
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
    if (spec[field] === true) yield `${field} is on`;
  }
  for (const { name, ...source } of spec.volumes ?? []) {
    const kind = Object.keys(source)[0] ?? 'nothing';
    if (!VOLUMES.has(kind)) yield `the volume ${name} is a ${kind}`;
  }
}

function* ofContainer({ securityContext = {}, ports = [] }: Container, spec: PodSpec): Generator<string> {
  const ofThePod = spec.securityContext ?? {};
  if (securityContext.privileged === true) yield 'is privileged';
  if (securityContext.allowPrivilegeEscalation !== false) yield 'may escalate its privileges';
  if (securityContext.readOnlyRootFilesystem !== true) yield 'may write to its root';
  if ((securityContext.runAsNonRoot ?? ofThePod.runAsNonRoot) !== true) yield 'may run as root';
  if ((securityContext.runAsUser ?? ofThePod.runAsUser) === 0) yield 'runs as root';
  const { drop = [], add = [] } = securityContext.capabilities ?? {};
  if (!drop.includes('ALL')) yield 'keeps capabilities';
  if (add.some((each) => each !== 'NET_BIND_SERVICE')) yield `adds ${add.join(', ')}`;
  const profile = (securityContext.seccompProfile ?? ofThePod.seccompProfile)?.type;
  if (profile !== 'RuntimeDefault' && profile !== 'Localhost') yield 'has no seccomp profile';
  for (const { hostPort } of ports) if (hostPort !== undefined) yield `takes the host's port ${hostPort}`;
}
