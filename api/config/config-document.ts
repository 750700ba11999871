import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml';
import type { ConfigProblem } from './config-error.ts';

/** Problems that are reported for a file that is not YAML. Later ones mostly follow from the first. */
export const YAML_PROBLEMS_MAX = 10;
/** Enough aliases for repeated blocks, and far fewer than a "billion laughs" attack needs. */
const ALIASES_MAX = 1_000;

export type Path = readonly PropertyKey[];

/** A parsed YAML file that knows where each of its values stands. */
export interface ConfigDocument {
  value: unknown;
  /** `at: 'key'` points to the key of the path's last step, not to its value. */
  problem(path: Path, message: string, at?: 'key' | 'value'): ConfigProblem;
}

type Parsed = { ok: true; document: ConfigDocument } | { ok: false; problems: ConfigProblem[] };

export function parseConfigDocument(source: string, text: string): Parsed {
  const lines = new LineCounter();
  // Pretty errors would quote the line, which may hold a secret that somebody pasted.
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });

  const problemAt = (offset: number | null, path: Path, message: string): ConfigProblem => {
    const place = offset === null ? null : lines.linePos(offset);
    return { source, line: place?.line ?? null, column: place?.col ?? null, path: formatPath(path), message };
  };
  if (yaml.errors.length > 0) {
    const problems = yaml.errors
      .slice(0, YAML_PROBLEMS_MAX)
      .map((error) => problemAt(error.pos[0], [], `is no YAML: ${withoutQuote(error.message)}`));
    return { ok: false, problems };
  }
  try {
    const value: unknown = yaml.toJS({ maxAliasCount: ALIASES_MAX });
    const problem: ConfigDocument['problem'] = (path, message, at = 'value') =>
      problemAt(offsetOf(yaml, path, at), path, message);
    return { ok: true, document: { value, problem } };
  } catch {
    return { ok: false, problems: [problemAt(0, [], 'has anchors or aliases that cannot be followed')] };
  }
}

/** Some messages quote the file behind a colon, or a tag, which a secret that begins with a sign of YAML's looks like. */
const withoutQuote = (message: string): string =>
  message.replace(/(?<=\w): .*$/s, '').replaceAll(/!\S+/g, '!…');

/** Of the path, or of the nearest thing around it that exists: a missing key has no place of its own. */
function offsetOf(yaml: Document, path: Path, at: 'key' | 'value'): number | null {
  let node = resolved(yaml, yaml.contents);
  let offset = node?.range?.[0] ?? null;
  for (const [depth, step] of path.entries()) {
    const child = childOf(node, step);
    if (child === null) return offset;
    const wantsKey = at === 'key' && depth === path.length - 1;
    offset = (wantsKey ? child.key : child.value)?.range?.[0] ?? child.key?.range?.[0] ?? offset;
    node = resolved(yaml, child.value);
  }
  return offset;
}

interface Child {
  key: Node | null;
  value: Node | null;
}

function childOf(node: Node | null, step: PropertyKey): Child | null {
  if (isSeq<Node>(node) && typeof step === 'number') {
    const value = node.items[step];
    return value === undefined ? null : { key: null, value };
  }
  if (!isMap<Node, Node | null>(node)) return null;
  const pair = node.items.find((each: Pair<Node, Node | null>) => keyText(each.key) === String(step));
  return pair === undefined ? null : { key: pair.key, value: pair.value };
}

const keyText = (key: Node): string => (isScalar(key) ? String(key.value) : String(key));

const resolved = (yaml: Document, node: unknown): Node | null =>
  isAlias(node) ? (node.resolve(yaml) ?? null) : isMap(node) || isSeq(node) || isScalar(node) ? node : null;

function formatPath(path: Path): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return steps.join('').replace(/^\./, '');
}
