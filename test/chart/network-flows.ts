import { BlockList, isIPv6 } from 'node:net';
import { type KubeObject, type Selector, selects, workloadsOf } from './kube-object.ts';

/** One end of a connection: a pod, or an address outside. */
export type End =
  | { labels: Record<string, string>; namespace: string; namespaceLabels?: Record<string, string> }
  | { ip: string };

export interface Flow {
  from: End;
  to: End;
  port: number;
  protocol?: 'TCP' | 'UDP';
}

interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
  from?: Peer[];
  to?: Peer[];
  ports?: { port?: number | string; endPort?: number; protocol?: string }[];
}
interface NetworkPolicy {
  podSelector: Selector;
  policyTypes?: string[];
  ingress?: Rule[];
  egress?: Rule[];
}

/** Whether a cluster that enforces the policies lets the connection through: out of the one end and into the other. */
export function isAllowed(objects: readonly KubeObject[], namespace: string, flow: Flow): boolean {
  const policies = objects
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ spec }) => spec as unknown as NetworkPolicy);
  const ports = namedPorts(objects, flow.to);
  return (['Egress', 'Ingress'] as const).every((type) => {
    const [self, other] = type === 'Egress' ? [flow.from, flow.to] : [flow.to, flow.from];
    if ('ip' in self || self.namespace !== namespace) return true;
    const ours = policies.filter(
      ({ podSelector, policyTypes = ['Ingress'] }) =>
        policyTypes.includes(type) && selects(podSelector, self.labels),
    );
    if (ours.length === 0) return true;
    return ours.some((policy) =>
      (type === 'Egress' ? policy.egress : policy.ingress)?.some((rule) => {
        const peers = type === 'Egress' ? rule.to : rule.from;
        return isPeer(peers, other, namespace) && isPort(rule.ports, flow, ports);
      }),
    );
  });
}

/** No list is everybody. */
function isPeer(peers: Peer[] | undefined, end: End, namespace: string): boolean {
  if (peers === undefined || peers.length === 0) return true;
  return peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
    // Addresses of pods are nobody's business: a policy names pods by their labels.
    if ('ip' in end)
      return (
        ipBlock !== undefined &&
        isIn(end.ip, ipBlock.cidr) &&
        !ipBlock.except?.some((each) => isIn(end.ip, each))
      );
    if (ipBlock !== undefined) return false;
    const labels = { 'kubernetes.io/metadata.name': end.namespace, ...end.namespaceLabels };
    const inNamespace =
      namespaceSelector === undefined ? end.namespace === namespace : selects(namespaceSelector, labels);
    return inNamespace && selects(podSelector ?? {}, end.labels);
  });
}

function isPort(ports: Rule['ports'], { port, protocol = 'TCP' }: Flow, named: Map<string, number>): boolean {
  if (ports === undefined || ports.length === 0) return true;
  return ports.some((each) => {
    if ((each.protocol ?? 'TCP') !== protocol) return false;
    if (each.port === undefined) return true;
    const first = typeof each.port === 'string' ? (named.get(each.port) ?? Number.NaN) : each.port;
    return port >= first && port <= (each.endPort ?? first);
  });
}

function namedPorts(objects: readonly KubeObject[], end: End): Map<string, number> {
  if ('ip' in end) return new Map();
  const ports = workloadsOf(objects)
    .filter(({ pod }) => selects({ matchLabels: end.labels }, pod.metadata?.labels))
    .flatMap(({ containers }) => containers.flatMap((each) => each.ports ?? []));
  return new Map(
    ports.flatMap(({ name, containerPort }) => (name === undefined ? [] : [[name, containerPort]])),
  );
}

function isIn(ip: string, cidr: string): boolean {
  const [network = '', bits = ''] = cidr.split('/');
  if (isIPv6(ip) !== isIPv6(network)) return false;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), isIPv6(network) ? 'ipv6' : 'ipv4');
  return list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}
