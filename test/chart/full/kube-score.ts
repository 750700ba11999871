import { toolPath } from '../../tools/tool.ts';
import { run } from '../helm.ts';
import { ciRenders } from '../render.ts';

/** What kube-score asks for and the chart does otherwise. One that nothing needs any more is a problem, too. */
const exceptions: { check: string; only?: RegExp; reason: string }[] = [
  {
    check: 'container-resources',
    only: /CPU limit/,
    reason:
      'a limit on the processor makes streams wait that the node has time for; the requests share it out',
  },
  {
    check: 'container-ephemeral-storage-request-and-limit',
    reason:
      'the root is read-only and what is written to /tmp is a few kilobytes; a limit would only be one more way to be evicted',
  },
  {
    check: 'container-image-pull-policy',
    reason: 'versions and digests are fixed, so that a node that has the image starts without its registry',
  },
  {
    check: 'deployment-has-host-podantiaffinity',
    reason: 'topologySpreadConstraints spread by host and zone, without counting pods that drain',
  },
  {
    check: 'container-security-context-user-group-id',
    only: /^openshift /,
    reason: 'the platform gives each namespace its own ids there',
  },
  {
    check: 'statefulset-has-servicename',
    reason: 'nobody asks for the one pod of mode embedded by a name of its own',
  },
  {
    check: 'deployment-has-poddisruptionbudget',
    only: /^(dev|keda) /,
    reason: 'a budget of one pod would only hold up the node that it is on',
  },
  { check: 'deployment-replicas', only: /^dev /, reason: 'somebody’s own machine' },
];

interface Scored {
  object_name: string;
  type_meta: { kind: string };
  checks: {
    check: { id: string };
    grade: number;
    skipped: boolean;
    comments: { path: string; summary: string }[] | null;
  }[];
}

/** Lower is critical or a warning. */
const GOOD = 10;

export async function kubeScore(): Promise<string[]> {
  const problems: string[] = [];
  const used = new Map(exceptions.map((each) => [each, 0]));
  let checked = 0;
  for (const { name, text } of await ciRenders()) {
    const ran = await run(
      toolPath('kube-score'),
      ['score', '--output-format', 'json', '--kubernetes-version', 'v1.36', '-'],
      { stdin: text },
    );
    for (const { object_name, type_meta, checks } of JSON.parse(ran.stdout) as Scored[]) {
      for (const { check, grade, skipped, comments } of checks) {
        if (skipped) continue;
        checked += 1;
        if (grade >= GOOD) continue;
        for (const { path, summary } of comments ?? []) {
          const finding = `${name} ${type_meta.kind}/${object_name} ${path}: ${summary}`;
          const exception = exceptions.find(
            ({ check: id, only = /./ }) =>
              id === check.id && only.test(only.source.startsWith('^') ? finding : summary),
          );
          if (exception === undefined) problems.push(`${check.id}: ${finding}`);
          else used.set(exception, (used.get(exception) ?? 0) + 1);
        }
      }
    }
  }
  for (const [{ check, reason }, count] of used) {
    console.log(`  ${check}, ${count} times: ${reason}`);
    if (count === 0) problems.push(`the exception for ${check} is not needed`);
  }
  console.log(`  ${checked} checks`);
  return problems;
}
