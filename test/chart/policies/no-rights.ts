import { type KubeObject, labelOf, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

const RIGHTS = new Set(['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding']);

/** Nothing of ours calls the Kubernetes API. */
export const noRights: Policy = {
  name: 'no object grants a right, and no pod carries a token',
  find: ({ objects }) => [
    ...objects.filter(({ kind }) => RIGHTS.has(kind)).map((object) => `${labelOf(object)} grants rights`),
    ...objects
      .filter(
        ({ kind, automountServiceAccountToken }) =>
          kind === 'ServiceAccount' && automountServiceAccountToken !== false,
      )
      .map((object) => `${labelOf(object)} mounts its token`),
    ...workloadsOf(objects).flatMap(({ label, pod }) =>
      pod.spec.automountServiceAccountToken === false ? [] : [`${label} mounts a token`],
    ),
    ...sharedAccounts(objects),
  ],
};

function sharedAccounts(objects: readonly KubeObject[]): string[] {
  const made = new Set(
    objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name),
  );
  if (made.size === 0) return [];
  const users = Object.groupBy(workloadsOf(objects), ({ pod }) => pod.spec.serviceAccountName ?? 'default');
  return Object.entries(users).flatMap(([account, workloads = []]) => {
    if (!made.has(account)) return [];
    const components = new Set(
      workloads.map(({ pod }) => pod.metadata?.labels?.['app.kubernetes.io/component']),
    );
    return components.size > 1
      ? [`${workloads.map(({ label }) => label).join(' and ')} share ${account}`]
      : [];
  });
}
