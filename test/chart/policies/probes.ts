import { workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

const PUBLIC_PORTS = ['http', 8080];

export const probes: Policy = {
  name: 'whatever serves is probed on its internal port, and a wedged pod does not hang for its whole grace',
  find: ({ objects }) =>
    workloadsOf(objects)
      .filter(({ object }) => object.kind === 'Deployment' || object.kind === 'StatefulSet')
      .flatMap(({ label, pod }) => {
        const [main] = pod.spec.containers;
        const findings: string[] = [];
        for (const kind of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
          const probe = main?.[kind];
          if (probe?.httpGet === undefined) findings.push(`has no ${kind}`);
          else if (PUBLIC_PORTS.includes(probe.httpGet.port))
            findings.push(`answers its ${kind} on the public port`);
        }
        const liveness = main?.livenessProbe;
        // Readiness may ask the stores; what decides about a restart must not.
        if (liveness?.httpGet !== undefined && liveness.httpGet.path !== '/livez')
          findings.push(`asks ${liveness.httpGet.path} whether it lives`);
        const grace = liveness?.terminationGracePeriodSeconds ?? Number.POSITIVE_INFINITY;
        if (grace > 60 && (pod.spec.terminationGracePeriodSeconds ?? 30) > 60)
          findings.push('would hang for its whole grace when it is wedged');
        return findings.map((finding) => `${label} ${finding}`);
      }),
};
