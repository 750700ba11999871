import { parse } from 'yaml';
import type { KubeObject } from './kube-object.ts';

const LINE_CHARS = 160;
const COMPONENT = 'app.kubernetes.io/component';
/** The same in each object, or of the release and not of the template. */
const SAID_ELSEWHERE = /^(app\.kubernetes\.io\/(name|instance|version|part-of|managed-by)|helm\.sh\/chart)$/;

/** What the objects of a kind say, in lines, each with the names of those that say it. */
interface Said {
  names: string[];
  lines: Map<string, string[]>;
}

export type Outline = Map<string, Said>;

/** All objects in lines that are short enough to review, and few, because what a kind's objects have in common stands once. */
export function outlineOf(objects: readonly KubeObject[]): Outline {
  const kinds = Map.groupBy(objects, ({ apiVersion, kind }) => `${kind} (${apiVersion})`);
  return new Map([...kinds].map(([kind, each]) => [kind, saidBy(each)]));
}

function saidBy(objects: readonly KubeObject[]): Said {
  const said: Said = { names: [], lines: new Map() };
  for (const object of objects) {
    const { name = '', labels = {} } = object.metadata;
    // A Job of the release has its content's hash in its name.
    const shown = name.replace(/-[0-9a-f]{8}$/, '-<hash>');
    said.names.push(shown);
    for (const line of lines(contentOf(object))) {
      const general = line
        .replace(/\b[0-9a-f]{64}\b/, '<hash>')
        .replaceAll(`${COMPONENT}: ${labels[COMPONENT]}`, `${COMPONENT}: <component>`)
        .replace(new RegExp(`: ${name}$`), ': <name>')
        .replace(`faregate:${labels['app.kubernetes.io/version']}`, 'faregate:<version>');
      said.lines.set(general, [...(said.lines.get(general) ?? []), shown]);
    }
  }
  return said;
}

export const textOf = (outline: Outline): string =>
  [...outline]
    .flatMap(([kind, { names, lines }]) => [
      kind,
      ...names.map((name) => `  ${name}`),
      ...[...lines].map(([line, by]) => `    ${who(by, names)}${line}`),
    ])
    .join('\n');

/** What one outline has and the other has not. Of a new object: what none of its kind says in the first. */
export function differenceOf(first: Outline, second: Outline): string {
  return [...new Set([...first.keys(), ...second.keys()])]
    .flatMap((kind) => {
      const [before = nothing, now = nothing] = [first.get(kind), second.get(kind)];
      const lost = [...before.lines].map(([line, by]): [string, string[]] => [
        line,
        by.filter((name) => now.names.includes(name) && !says(now, line, name)),
      ]);
      const won = [...now.lines].map(([line, by]): [string, string[]] => [
        line,
        by.filter((name) =>
          before.names.includes(name) ? !says(before, line, name) : !before.lines.has(line),
        ),
      ]);
      const changes = [
        ...before.names.filter((name) => !now.names.includes(name)).map((name) => `- ${name}`),
        ...now.names.filter((name) => !before.names.includes(name)).map((name) => `+ ${name}`),
        ...lost.filter(([, by]) => by.length > 0).map(([line, by]) => `-   ${who(by, now.names)}${line}`),
        ...won.filter(([, by]) => by.length > 0).map(([line, by]) => `+   ${who(by, now.names)}${line}`),
      ];
      return changes.length === 0 ? [] : [kind, ...changes];
    })
    .join('\n');
}

const nothing: Said = { names: [], lines: new Map() };

const says = ({ lines }: Said, line: string, name: string): boolean =>
  lines.get(line)?.includes(name) ?? false;

const who = (names: readonly string[], all: readonly string[]): string =>
  names.length === all.length ? '' : `[${names.map((name) => name.split('-').at(-1)).join(' ')}] `;

/** Rules and dashboards stand in files of the chart as they are: here is which of them. */
function contentOf({ apiVersion, kind, metadata, ...rest }: KubeObject): Record<string, unknown> {
  const { name, namespace, ...about } = metadata;
  if (kind === 'PrometheusRule') {
    const { groups } = rest.spec as unknown as {
      groups: { name: string; rules: Record<string, string>[] }[];
    };
    const ofGroups = groups.map((group) => [
      group.name,
      group.rules.map(({ alert, record }) => alert ?? record),
    ]);
    return { ...about, ...Object.fromEntries(ofGroups) };
  }
  if (kind !== 'ConfigMap') return { ...about, ...rest };
  const files = Object.entries(rest.data ?? {}).map(([file, text]) => [
    file,
    file.endsWith('.yaml') ? (parse(text) as unknown) : '…',
  ]);
  return { ...about, data: Object.fromEntries(files) };
}

function* lines(value: unknown, path = ''): Generator<string> {
  const flat = `${path}: ${flow(value)}`;
  const isWhole =
    typeof value !== 'object' || value === null || (Array.isArray(value) && value.every(isScalar));
  if (path !== '' && (isWhole || flat.length <= LINE_CHARS)) yield flat;
  else for (const [key, each] of entriesOf(value as object)) yield* lines(each, pathOf(path, key));
}

const pathOf = (path: string, key: string): string =>
  (path === '' ? key : `${path}.${key}`)
    .replace(/^spec\.template\.spec\b/, 'pod')
    .replace(/^spec\.template\.metadata\b/, 'pod.metadata')
    // Its own name for the main container of each component.
    .replace(/^pod\.containers\.(gateway|worker|migrate)\b/, 'pod.main');

/** Items of a list by their names, so that one more moves no other. */
const entriesOf = (value: object): [string, unknown][] =>
  Array.isArray(value)
    ? value.map((each: unknown, index): [string, unknown] => {
        if (!isNamed(each)) return [String(index), each];
        const { name, ...rest } = each;
        return [name, rest];
      })
    : Object.entries(value).filter(([key]) => !SAID_ELSEWHERE.test(key));

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

const isNamed = (value: unknown): value is { name: string } =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const pairs = Object.entries(value).filter(([key]) => !SAID_ELSEWHERE.test(key));
  return `{${pairs.map(([key, each]) => `${key}: ${flow(each)}`).join(', ')}}`;
}
