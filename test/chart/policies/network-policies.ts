import { type Selector, selects, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

/** Where the operator has not switched them off. */
export const networkPolicies: Policy = {
  name: 'every pod is closed both ways, but for what a policy opens',
  find: ({ objects, given }) => {
    if ((given.networkPolicy as { enabled?: boolean } | undefined)?.enabled === false) return [];
    const policies = objects
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .map(({ spec }) => spec as unknown as { podSelector: Selector; policyTypes?: string[] });
    return workloadsOf(objects).flatMap(({ label, pod }) =>
      ['Ingress', 'Egress']
        .filter((type) => {
          const closing = policies.filter(({ policyTypes = [] }) => policyTypes.includes(type));
          return !closing.some(({ podSelector }) => selects(podSelector, pod.metadata?.labels));
        })
        .map((type) => `${label} is open: no policy of type ${type} selects it`),
    );
  },
};
