import { parse } from 'yaml';

/** A value of the chart with the comment above it. */
export interface Value {
  name: string;
  /** From the root, as `api.replicas`. */
  path: string;
  value: unknown;
  description: string;
  /** What its line `# schema:` says. */
  hint: Record<string, unknown>;
  /** Of a block that is written out over several lines, whose keys have comments of their own. */
  children: Value[];
}

/** Reads a values file in which each key has a comment right above it. Throws for each that has none. */
export function readValues(text: string): Value[] {
  const root: Value[] = [];
  const open: { indent: number; value: Value }[] = [];
  const uncommented: string[] = [];
  let comment: string[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      comment = [];
      continue;
    }
    const remark = /^\s*# ?(.*)$/.exec(line);
    if (remark !== null) {
      comment.push(remark[1] ?? '');
      continue;
    }
    const [, spaces = '', name = ''] = /^( *)([A-Za-z0-9]+):/.exec(line) ?? [];
    const said = comment;
    comment = [];
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) >= spaces.length) open.pop();
    const parent = open.at(-1)?.value;
    // What stands below a value that is described as a whole.
    if (name === '' || (parent !== undefined && isWhole(parent))) continue;
    const path = parent === undefined ? name : `${parent.path}.${name}`;
    const hints = said.filter((each) => each.startsWith('schema: '));
    const value: Value = {
      name,
      path,
      value: at(parse(text), path),
      description: said.filter((each) => !each.startsWith('schema: ')).join(' '),
      hint: parse(hints[0]?.slice('schema: '.length) ?? '{}') as Record<string, unknown>,
      children: [],
    };
    (parent?.children ?? root).push(value);
    open.push({ indent: spaces.length, value });
  }
  for (const each of flatten(root)) {
    if (each.description === '' && each.children.length === 0) uncommented.push(each.path);
  }
  if (uncommented.length > 0) throw new Error(`Values without a comment: ${uncommented.join(', ')}`);
  return root;
}

/** The table and the schema take it as one value. */
const isWhole = ({ hint }: Value): boolean => typeof hint.$ref === 'string' && hint.written !== true;

export const flatten = (values: readonly Value[]): Value[] =>
  values.flatMap((each) => [each, ...flatten(each.children)]);

const at = (values: unknown, path: string): unknown =>
  path.split('.').reduce((each, name) => (each as Record<string, unknown>)[name], values);
