import {
  type KubeObject,
  labelOf,
  type Selector,
  selects,
  type Workload,
  workloadsOf,
} from '../kube-object.ts';
import type { Policy } from './policy.ts';

interface ServicePort {
  name?: string;
  port: number;
  targetPort?: number | string;
}

/** A name that one object has of another, where the chart makes that other. */
export const references: Policy = {
  name: 'whatever one object says of another is so',
  find: ({ objects }) => {
    const workloads = workloadsOf(objects);
    const services = objects.filter(({ kind }) => kind === 'Service');
    return [
      ...workloads.flatMap((workload) => ofSelector(workload, workloads)),
      ...services.flatMap((service) => ofService(service, workloads)),
      ...objects.flatMap((object) => ofRoute(object, services)),
      ...objects.flatMap((object) => ofMonitor(object, services, workloads)),
    ];
  },
};

function ofSelector({ object, label, pod }: Workload, all: readonly Workload[]): string[] {
  if (object.kind !== 'Deployment' && object.kind !== 'StatefulSet') return [];
  const selector = (object.spec?.selector ?? {}) as Selector;
  const findings = selects(selector, pod.metadata?.labels) ? [] : [`${label} does not select its own pods`];
  for (const other of all) {
    if (other.object !== object && selects(selector, other.pod.metadata?.labels))
      findings.push(`${label} selects the pods of ${other.label}`);
  }
  for (const key of Object.keys(selector.matchLabels ?? {})) {
    // A selector can never change, and these do at every upgrade.
    if (/version|chart|revision/.test(key)) findings.push(`${label} selects by ${key}`);
  }
  return findings;
}

function ofService(service: KubeObject, workloads: readonly Workload[]): string[] {
  const label = labelOf(service);
  const { selector = {}, ports = [] } = (service.spec ?? {}) as {
    selector?: Record<string, string>;
    ports?: ServicePort[];
  };
  const matched = workloads.filter(({ pod }) => selects({ matchLabels: selector }, pod.metadata?.labels));
  const serving = matched.filter(({ object }) => ['Deployment', 'StatefulSet'].includes(object.kind));
  const findings = serving.length === 0 ? [`${label} has no pods`] : [];
  for (const { label: other } of matched.filter((each) => !serving.includes(each)))
    findings.push(`${label} would send calls to ${other}`);
  for (const { port, targetPort = port } of ports) {
    for (const { label: other, containers } of serving) {
      const open = containers.flatMap((each) => each.ports ?? []);
      if (!open.some(({ name, containerPort }) => [name, containerPort].includes(targetPort)))
        findings.push(`${label} sends to ${targetPort}, which ${other} does not open`);
    }
  }
  return findings;
}

const portsOf = (service: KubeObject | undefined): ServicePort[] =>
  (service?.spec?.ports ?? []) as ServicePort[];

function ofRoute(object: KubeObject, services: readonly KubeObject[]): string[] {
  const backends: { name: string; port: number | string | undefined }[] = [];
  if (object.kind === 'HTTPRoute') {
    const rules = (object.spec?.rules ?? []) as { backendRefs?: { name: string; port?: number }[] }[];
    backends.push(
      ...rules.flatMap(({ backendRefs = [] }) => backendRefs.map(({ name, port }) => ({ name, port }))),
    );
  }
  if (object.kind === 'Ingress') {
    type Backend = { service: { name: string; port: { number?: number; name?: string } } };
    const rules = (object.spec?.rules ?? []) as { http: { paths: { backend: Backend }[] } }[];
    for (const { backend } of rules.flatMap(({ http }) => http.paths))
      backends.push({
        name: backend.service.name,
        port: backend.service.port.number ?? backend.service.port.name,
      });
  }
  return backends.flatMap(({ name, port }) => {
    const service = services.find(({ metadata }) => metadata.name === name);
    if (service === undefined) return [`${labelOf(object)} leads to ${name}, which is not there`];
    return portsOf(service).some((each) => [each.port, each.name].includes(port))
      ? []
      : [`${labelOf(object)} leads to port ${port} of ${name}, which it has not`];
  });
}

function ofMonitor(
  object: KubeObject,
  services: readonly KubeObject[],
  workloads: readonly Workload[],
): string[] {
  const {
    selector = {},
    endpoints = [],
    podMetricsEndpoints = [],
  } = (object.spec ?? {}) as {
    selector?: Selector;
    endpoints?: { port?: string }[];
    podMetricsEndpoints?: { port?: string }[];
  };
  const ports =
    object.kind === 'ServiceMonitor'
      ? services
          .filter(({ metadata }) => selects(selector, metadata.labels))
          .map((service) => portsOf(service).map(({ name }) => name))
      : object.kind === 'PodMonitor'
        ? workloads
            .filter(
              ({ object: { kind }, pod }) =>
                kind !== 'Job' && kind !== 'Pod' && selects(selector, pod.metadata?.labels),
            )
            .map(({ containers }) => containers.flatMap((each) => each.ports ?? []).map(({ name }) => name))
        : null;
  if (ports === null) return [];
  if (ports.length === 0) return [`${labelOf(object)} finds nothing to read`];
  const wanted = [...endpoints, ...podMetricsEndpoints].map(({ port }) => port);
  return wanted
    .filter((port) => !ports.some((each) => each.includes(port)))
    .map((port) => `${labelOf(object)} reads the port ${port}, which nothing has`);
}
