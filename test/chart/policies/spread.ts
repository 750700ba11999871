import { type Selector, selects, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

interface Constraint {
  topologyKey: string;
  whenUnsatisfiable: string;
  matchLabelKeys?: string[];
  labelSelector?: Selector;
}

export const spread: Policy = {
  name: 'pods spread over zones and hosts without insisting, and draining pods do not count',
  find: ({ objects }) =>
    workloadsOf(objects)
      .filter(({ object }) => object.kind === 'Deployment')
      .flatMap(({ label, pod }) => {
        const constraints = (pod.spec.topologySpreadConstraints ?? []) as Constraint[];
        const findings = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname']
          .filter((key) => !constraints.some(({ topologyKey }) => topologyKey === key))
          .map((key) => `does not spread by ${key}`);
        for (const {
          topologyKey,
          whenUnsatisfiable,
          matchLabelKeys = [],
          labelSelector = {},
        } of constraints) {
          if (whenUnsatisfiable !== 'ScheduleAnyway') findings.push(`waits for a place by ${topologyKey}`);
          if (!matchLabelKeys.includes('pod-template-hash'))
            findings.push(`counts draining pods by ${topologyKey}`);
          if (!selects(labelSelector, pod.metadata?.labels))
            findings.push(`counts other pods by ${topologyKey}`);
        }
        return findings.map((finding) => `${label} ${finding}`);
      }),
};
