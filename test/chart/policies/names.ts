import { type KubeObject, labelOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

/** Of a name; of a StatefulSet's and a CronJob's less, because their objects carry it in a label, with a suffix. */
const CHARS: Record<string, number> = { StatefulSet: 52, CronJob: 52 };
const STANDARD = ['name', 'instance', 'version', 'managed-by'].map((each) => `app.kubernetes.io/${each}`);

export const names: Policy = {
  name: 'every object has a valid name of its own and the standard labels',
  find: ({ objects }) => {
    const seen = new Set<string>();
    return objects.flatMap((object) => {
      const label = labelOf(object);
      const findings = seen.has(label) ? [`${label} is there twice`] : [];
      seen.add(label);
      const name = object.metadata.name ?? '';
      if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) findings.push(`${label} has no valid name`);
      if (name.length > (CHARS[object.kind] ?? 63))
        findings.push(`${label} has a name of ${name.length} characters`);
      return [...findings, ...ofLabels(object).map((finding) => `${label} ${finding}`)];
    });
  },
};

function ofLabels({ metadata }: KubeObject): string[] {
  const labels = metadata.labels ?? {};
  return [
    ...STANDARD.filter((key) => labels[key] === undefined).map((key) => `has no label ${key}`),
    ...Object.entries(labels)
      .filter(([, value]) => !/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(String(value)))
      .map(([key, value]) => `has the label ${key}=${value}, which no cluster takes`),
  ];
}
