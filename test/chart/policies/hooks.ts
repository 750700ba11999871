import { type KubeObject, labelOf, type PodSpec, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

const HOOK = 'helm.sh/hook';

/** What runs before an install cannot wait for what that install makes. */
export const hooks: Policy = {
  name: 'a hook needs nothing that comes after it, and leaves nothing behind',
  find: ({ objects }) => {
    const hooked = objects.filter(({ metadata }) => metadata.annotations?.[HOOK] !== undefined);
    return [
      ...hooked
        .filter(({ metadata }) => metadata.annotations?.['helm.sh/hook-delete-policy'] === undefined)
        .map((object) => `${labelOf(object)} stays when it is done`),
      ...workloadsOf(hooked)
        .filter(({ object }) => isBeforeInstall(object))
        .flatMap(({ object, label, pod }) =>
          needsOf(pod.spec).flatMap(([kind, name]) => {
            const needed = objects.find((each) => each.kind === kind && each.metadata.name === name);
            // What the chart does not make is there before it.
            if (needed === undefined) return [];
            if (!isBeforeInstall(needed)) return [`${label} needs ${labelOf(needed)}, which comes later`];
            return weightOf(needed) < weightOf(object)
              ? []
              : [`${label} needs ${labelOf(needed)} of no lower weight`];
          }),
        ),
    ];
  },
};

const isBeforeInstall = ({ metadata }: KubeObject): boolean =>
  (metadata.annotations?.[HOOK] ?? '').split(',').some((each) => each.trim() === 'pre-install');

const weightOf = ({ metadata }: KubeObject): number =>
  Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0);

function needsOf({ serviceAccountName, volumes = [] }: PodSpec): [string, string][] {
  const needs: [string, string][] = volumes.flatMap(({ configMap }) =>
    configMap === undefined ? [] : [['ConfigMap', configMap.name] as [string, string]],
  );
  if (serviceAccountName !== undefined) needs.push(['ServiceAccount', serviceAccountName]);
  return needs;
}
