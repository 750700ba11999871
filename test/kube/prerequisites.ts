import { type KubeObject, workloadsOf } from '../chart/kube-object.ts';

/** What a cluster's owner has made before: the classes that pods are of, and the custom resources' definitions. */
export const prerequisites = (objects: readonly KubeObject[], served: readonly string[]): string =>
  `${classes(objects)}${customKinds(objects, served)}`;

/**
 * The custom resources that these objects need, as definitions that take any fields: kubeconform has checked the fields
 * already, and what is tried here is their life. Their real definitions say the same in two megabytes.
 */
function customKinds(objects: readonly KubeObject[], served: readonly string[]): string {
  const kinds = new Map(
    objects
      .filter(({ apiVersion }) => !served.includes(apiVersion))
      .map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, { apiVersion, kind }]),
  );
  return [...kinds.values()]
    .map(({ apiVersion, kind }) => {
      const [group = '', version = ''] = apiVersion.split('/');
      const singular = kind.toLowerCase();
      const plural = singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
      return `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.${group}
  # Groups of Kubernetes' own ask for it.
  annotations: { api-approved.kubernetes.io: "unapproved, for a test" }
spec:
  group: ${group}
  scope: Namespaced
  names: { kind: ${kind}, plural: ${plural}, singular: ${singular} }
  versions:
    - name: ${version}
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;
    })
    .join('');
}

function classes(objects: readonly KubeObject[]): string {
  const names = new Set(workloadsOf(objects).flatMap(({ pod }) => pod.spec.priorityClassName ?? []));
  return [...names]
    .map(
      (name) => `---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: ${name} }
value: 1000
`,
    )
    .join('');
}
