import { type KubeObject, labelOf, type Selector, selects, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

interface Budget {
  selector: Selector;
  maxUnavailable?: number | string;
  minAvailable?: number | string;
  unhealthyPodEvictionPolicy?: string;
}

/** A node can always be drained. */
export const disruption: Policy = {
  name: 'a disruption budget belongs to one workload of several pods, and leaves room',
  find: ({ objects }) => {
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget');
    const workloads = workloadsOf(objects).filter(({ object }) =>
      ['Deployment', 'StatefulSet'].includes(object.kind),
    );
    return budgets.flatMap((budget) => {
      const { selector, maxUnavailable, minAvailable, unhealthyPodEvictionPolicy } =
        budget.spec as unknown as Budget;
      const label = labelOf(budget);
      const matched = workloads.filter(({ pod }) => selects(selector, pod.metadata?.labels));
      const findings = matched.length === 1 ? [] : [`${label} matches ${matched.length} workloads`];
      if (minAvailable !== undefined)
        findings.push(`${label} counts by minAvailable, which a scaler can meet`);
      if (maxUnavailable === undefined || Number.parseInt(String(maxUnavailable), 10) < 1)
        findings.push(`${label} leaves no room`);
      if (unhealthyPodEvictionPolicy !== 'AlwaysAllow') findings.push(`${label} keeps pods that are broken`);
      const [workload] = matched;
      if (workload !== undefined && fewestPods(workload.object, objects) < 2)
        findings.push(`${label} guards ${workload.label}, which may be one pod`);
      return findings;
    });
  },
};

/** How few pods it may come down to, whoever scales it. */
export function fewestPods(workload: KubeObject, objects: readonly KubeObject[]): number {
  const scaler = scalersOf(workload, objects)[0]?.spec;
  if (scaler === undefined) return Number(workload.spec?.replicas ?? 1);
  return Number(scaler.minReplicas ?? scaler.minReplicaCount ?? 0);
}

export const scalersOf = (workload: KubeObject, objects: readonly KubeObject[]): KubeObject[] =>
  objects.filter(({ kind, spec }) => {
    if (kind !== 'HorizontalPodAutoscaler' && kind !== 'ScaledObject') return false;
    const { name, kind: target = 'Deployment' } = (spec?.scaleTargetRef ?? {}) as {
      name?: string;
      kind?: string;
    };
    return name === workload.metadata.name && target === workload.kind;
  });
