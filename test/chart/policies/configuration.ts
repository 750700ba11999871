import { labelOf, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

/** A file that is mounted by itself (subPath) is never written anew. */
export const configuration: Policy = {
  name: 'a changed configuration reaches the pods: by itself where it can, by a roll where it has to',
  find: ({ objects }) =>
    workloadsOf(objects).flatMap(({ object, label, pod, containers }) => {
      const maps = new Set(
        (pod.spec.volumes ?? []).filter(({ configMap }) => configMap !== undefined).map(({ name }) => name),
      );
      const findings = containers.flatMap(({ name, volumeMounts = [] }) =>
        volumeMounts
          .filter((mount) => maps.has(mount.name) && mount.subPath !== undefined)
          .map(({ subPath }) => `${label} ${name} never sees a change of ${subPath}`),
      );
      const lives = object.kind === 'Deployment' || object.kind === 'StatefulSet';
      const checksums = Object.keys(pod.metadata?.annotations ?? {}).filter((key) =>
        key.startsWith('checksum/'),
      );
      if (lives && checksums.length === 0) findings.push(`${label} stays when its configuration changes`);
      return findings;
    }),
};

export const configOf = (objects: Parameters<typeof workloadsOf>[0]): string | null =>
  objects.find((object) => labelOf(object).endsWith('-config') && object.kind === 'ConfigMap')?.data?.[
    'faregate.yaml'
  ] ?? null;
