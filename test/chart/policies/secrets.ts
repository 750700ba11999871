import { parse } from 'yaml';
import { labelOf, workloadsOf } from '../kube-object.ts';
import type { Policy } from './policy.ts';

const SECRET = /(password|passwd|secret|token|apikey|api_key|accesskey|access_key|pepper|credential)s?$/i;
const IN_ARGS = /--?[\w-]*(password|secret|token|key|pepper)[\w-]*[= ]\S/i;

/** What a pod needs to keep from others comes by reference to a Secret that the chart did not make. */
export const secrets: Policy = {
  name: 'no secret stands in an object of the chart, nor in its notes',
  find: ({ objects, notes }) => [
    ...objects
      .filter(({ kind }) => kind === 'Secret')
      .map((object) => `${labelOf(object)} is made by the chart`),
    ...objects
      .filter(({ kind }) => kind === 'ConfigMap')
      .flatMap((object) =>
        Object.entries(object.data ?? {}).flatMap(([file, text]) =>
          /\.ya?ml$/.test(file)
            ? secretsIn(parse(text), file).map((path) => `${labelOf(object)} tells ${path}`)
            : SECRET.test(file)
              ? [`${labelOf(object)} tells ${file}`]
              : [],
        ),
      ),
    ...workloadsOf(objects).flatMap(({ label, containers }) =>
      containers.flatMap(({ name, env = [], command = [], args = [] }) => [
        ...env
          .filter(({ name: key, value }) => SECRET.test(key) && value !== undefined && value !== '')
          .map(({ name: key }) => `${label} ${name}: ${key} is written out`),
        ...[...command, ...args]
          .filter((each) => IN_ARGS.test(each))
          .map((each) => `${label} ${name}: ${each} is on its command line`),
      ]),
    ),
    ...notes
      .split('\n')
      .filter((line) => /(password|token|pepper|secret):\s*[^\s<$"']{8,}/i.test(line))
      .map((line) => `NOTES tell ${line.trim()}`),
  ],
};

/** Names of variables, of files and of Secrets are no secrets. */
function secretsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => secretsIn(each, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const below = `${path}.${key}`;
    if (typeof each !== 'string' || !SECRET.test(key)) return secretsIn(each, below);
    return each === '' || each.startsWith('/') || /^\$\{?[A-Z]/.test(each) ? [] : [below];
  });
}
