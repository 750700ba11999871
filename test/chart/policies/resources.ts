import { workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

/** A limit on the processor only makes a pod slow that could have been quick; one on memory keeps its neighbours. */
export const resources: Policy = {
  name: 'every container asks for processor and memory, and is limited in memory only',
  find: ({ objects }) =>
    workloadsOf(objects).flatMap(({ label, containers }) =>
      containers.flatMap(({ name, resources: { requests = {}, limits = {} } = {} }) => {
        const findings: string[] = [];
        if (requests.cpu === undefined) findings.push('asks for no processor');
        if (requests.memory === undefined) findings.push('asks for no memory');
        if (limits.memory === undefined) findings.push('has no limit on memory');
        if (limits.cpu !== undefined) findings.push('has a limit on the processor');
        return findings.map((finding) => `${label} ${name}: ${finding}`);
      }),
    ),
};
