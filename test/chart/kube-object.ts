/** One rendered object, as far as the checks of this folder read it. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  [key: string]: unknown;
}

export interface Metadata {
  name?: string;
  namespace?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface PodTemplate {
  metadata?: Metadata;
  spec: PodSpec;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  priorityClassName?: string;
  securityContext?: SecurityContext & { fsGroup?: number };
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  topologySpreadConstraints?: unknown[];
}

interface Volume {
  name: string;
  secret?: { secretName: string };
  configMap?: { name: string };
  [source: string]: unknown;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: Record<string, { name: string; key: string }> }[];
  envFrom?: unknown[];
  ports?: { name?: string; containerPort: number; hostPort?: number }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: SecurityContext;
  volumeMounts?: { name: string; mountPath: string; subPath?: string; readOnly?: boolean }[];
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
}

interface Probe {
  httpGet?: { path: string; port: string | number };
  terminationGracePeriodSeconds?: number;
}

interface SecurityContext {
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  readOnlyRootFilesystem?: boolean;
  runAsNonRoot?: boolean;
  runAsUser?: number | null;
  capabilities?: { drop?: string[]; add?: string[] };
  seccompProfile?: { type: string };
}

export const labelOf = (object: KubeObject): string => `${object.kind}/${object.metadata.name}`;

const TEMPLATED = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Job']);

/** The pods that an object makes, or is. */
function podTemplate(object: KubeObject): PodTemplate | null {
  if (object.kind === 'Pod') return object as unknown as PodTemplate;
  if (!TEMPLATED.has(object.kind)) return null;
  return (object.spec as { template?: PodTemplate } | undefined)?.template ?? null;
}

export interface Workload {
  object: KubeObject;
  label: string;
  pod: PodTemplate;
  containers: Container[];
}

export function workloadsOf(objects: readonly KubeObject[]): Workload[] {
  return objects.flatMap((object) => {
    const pod = podTemplate(object);
    if (pod === null) return [];
    return [
      {
        object,
        label: labelOf(object),
        pod,
        containers: [...(pod.spec.initContainers ?? []), ...pod.spec.containers],
      },
    ];
  });
}

export type Selector = {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
};

/** An empty selector selects everything. */
export function selects(selector: Selector, labels: Record<string, string> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      const listed = value !== undefined && values.includes(value);
      return operator === 'In' ? listed : !listed;
    })
  );
}
