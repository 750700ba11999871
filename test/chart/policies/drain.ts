import { parse } from 'yaml';
import { workloadsOf } from '../kube-object.ts';
import { configOf } from './configuration.ts';
import type { Policy } from './policy.ts';

/** The server's own, where the file leaves them out. */
const STREAM_MS = 1_800_000;
const CALL_MS = 780_000;
/** What an API has to have after its last call, to settle it. */
const SETTLE_SECONDS = 15;
const WORKER_SECONDS = 60;

export const drain: Policy = {
  name: 'a pod has the time to end all that it began, and no route cuts a stream before the gateway does',
  find: ({ objects }) => {
    const longest = longestCallSeconds(configOf(objects));
    const ofPods = workloadsOf(objects)
      .filter(({ object }) => object.kind === 'Deployment' || object.kind === 'StatefulSet')
      .flatMap(({ label, pod }) => {
        const grace = pod.spec.terminationGracePeriodSeconds ?? 30;
        if (pod.metadata?.labels?.['app.kubernetes.io/component'] !== 'api')
          return grace < WORKER_SECONDS ? [`${label} has ${grace} s to hand over`] : [];
        const preStop = pod.spec.containers[0]?.lifecycle?.preStop?.sleep?.seconds;
        if (preStop === undefined) return [`${label} ends while load balancers still send to it`];
        const needed = preStop + longest + SETTLE_SECONDS;
        return grace < needed ? [`${label} has ${grace} s to drain, and needs ${needed}`] : [];
      });
    const ofRoutes = objects.flatMap((object) => {
      if (object.kind !== 'HTTPRoute') return [];
      const rules = (object.spec?.rules ?? []) as {
        timeouts?: { request?: string; backendRequest?: string };
      }[];
      return rules.flatMap(({ timeouts = {} }) =>
        [timeouts.request, timeouts.backendRequest ?? timeouts.request]
          // Without a number it is the gateway's own, which is 15 s with Envoy.
          .filter((each) => secondsOf(each ?? '0s') <= longest)
          .map(
            (each) =>
              `HTTPRoute/${object.metadata.name} ends a stream after ${each ?? 'what the gateway likes'}`,
          ),
      );
    });
    return [...ofPods, ...ofRoutes];
  },
};

export function longestCallSeconds(config: string | null): number {
  const { limits = {} } = (parse(config ?? '') ?? {}) as { limits?: { streamMs?: number; callMs?: number } };
  return Math.max(limits.streamMs ?? STREAM_MS, limits.callMs ?? CALL_MS) / 1000;
}

/** A duration of the Gateway API: `1h30m`, `31m`, `1500ms`. */
export function secondsOf(duration: string): number {
  const seconds: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  return [...duration.matchAll(/(\d+)(ms|h|m|s)/g)].reduce(
    (sum, [, count, unit = 's']) => sum + Number(count) * (seconds[unit] ?? 0),
    0,
  );
}
