import { labelOf } from '../kube-object.ts';
import { fewestPods, scalersOf } from './disruption.ts';
import type { Policy } from './policy.ts';

/** A second hand on the number of pods sets it back at every upgrade. */
export const scaling: Policy = {
  name: 'the number of pods has one owner, and a scaler has something to scale',
  find: ({ objects }) => {
    const workloads = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
    const owned = new Set(workloads.flatMap((workload) => scalersOf(workload, objects)));
    const scalers = objects.filter(
      ({ kind }) => kind === 'HorizontalPodAutoscaler' || kind === 'ScaledObject',
    );
    return [
      ...workloads.flatMap((workload) => {
        const ours = scalersOf(workload, objects);
        const findings: string[] = [];
        if (ours.length > 1) findings.push(`${labelOf(workload)} has ${ours.map(labelOf).join(' and ')}`);
        if (ours.length > 0 && workload.spec?.replicas !== undefined)
          findings.push(`${labelOf(workload)} sets replicas beside ${ours.map(labelOf).join(' and ')}`);
        if (ours.length > 0 && fewestPods(workload, objects) < 1)
          findings.push(`${labelOf(workload)} may be scaled to nothing`);
        return findings;
      }),
      ...scalers.filter((each) => !owned.has(each)).map((each) => `${labelOf(each)} scales nothing`),
    ];
  },
};
