import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#core/is-record.ts';
import type { Break } from './find-breaks.ts';

type Json = Record<string, unknown>;

/** Breaks of what docs/versioning.md promises that oasdiff passes over in silence. */
export function findUnseenBreaks(older: unknown, newer: unknown): Break[] {
  return [
    ...brokenSecuritySchemes(older, newer),
    ...goneServers(older, newer),
    ...operationsOf(older).flatMap(([path, method]) => {
      const found = matchingPath(path, newer);
      // oasdiff has told of it.
      if (found === null) return [];
      const [before, after] = [valueAt(older, 'paths', path, method), valueAt(newer, 'paths', found, method)];
      const operation = `${method.toUpperCase()} ${path}`;
      return [
        ...(found === path
          ? []
          : [{ check: 'path-parameter-renamed', operation, text: `the path is now \`${found}\`` }]),
        ...goneErrorCodes(before, after).map((text) => ({ check: 'error-code-removed', operation, text })),
        ...closedObjects(older, valueAt(before, 'requestBody'), newer, valueAt(after, 'requestBody')).map(
          (text) => ({ check: 'request-additional-properties-forbidden', operation, text }),
        ),
      ];
    }),
  ];
}

const brokenSecuritySchemes = (older: unknown, newer: unknown): Break[] =>
  Object.entries(recordAt(older, 'components', 'securitySchemes')).flatMap(([name, before]) => {
    const after = valueAt(newer, 'components', 'securitySchemes', name);
    if (isDeepStrictEqual(withoutProse(before), withoutProse(after))) return [];
    const text = `the security scheme \`${name}\` is another, or gone`;
    return [{ check: 'security-scheme-changed', operation: 'components', text }];
  });

function goneServers(older: unknown, newer: unknown): Break[] {
  const left = serversOf(newer);
  const gone = serversOf(older).filter((url) => !left.includes(url));
  return gone.map((url) => ({
    check: 'server-removed',
    operation: 'components',
    text: `\`${url}\` is gone`,
  }));
}

const serversOf = (document: unknown): string[] =>
  listAt(document, 'servers').flatMap((server) => (isRecord(server) ? [String(server.url)] : []));

/** `GET`, `POST` and so on are the only members of a path that have answers. */
const operationsOf = (document: unknown): [string, string][] =>
  Object.keys(recordAt(document, 'paths')).flatMap((path) =>
    Object.entries(recordAt(document, 'paths', path))
      .filter(([, operation]) => isRecord(operation) && 'responses' in operation)
      .map(([method]): [string, string] => [path, method]),
  );

/** The path itself, or the one that differs in the names of its parameters alone. */
function matchingPath(path: string, document: unknown): string | null {
  const paths = recordAt(document, 'paths');
  if (path in paths) return path;
  return Object.keys(paths).find((each) => unnamed(each) === unnamed(path)) ?? null;
}

const unnamed = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

const goneErrorCodes = (before: unknown, after: unknown): string[] =>
  Object.entries(recordAt(before, 'x-error-codes')).flatMap(([status, codes]) => {
    const left = listAt(after, 'x-error-codes', status);
    const gone = (Array.isArray(codes) ? codes : []).filter((code) => !left.includes(code));
    return gone.map((code) => `removed the error code \`${code}\` of status ${status}`);
  });

/** Objects of a request that took fields nobody named, and take them no more. */
function closedObjects(older: unknown, before: unknown, newer: unknown, after: unknown): string[] {
  const seen = new Set<string>();
  const walk = (was: unknown, is: unknown, place: string): string[] => {
    const reference = isRecord(was) ? was.$ref : undefined;
    if (typeof reference === 'string') {
      if (seen.has(reference)) return [];
      seen.add(reference);
    }
    const [open, closed] = [resolved(older, was), resolved(newer, is)];
    if (Array.isArray(open) && Array.isArray(closed))
      return open.flatMap((each, index) => walk(each, closed[index], place));
    if (!isRecord(open) || !isRecord(closed)) return [];
    const isClosed = closed.additionalProperties === false && open.additionalProperties !== false;
    return [
      ...(isClosed ? [`no other fields are taken any more in \`${place}\``] : []),
      ...Object.keys(open).flatMap((key) =>
        walk(open[key], closed[key], WRAPPERS.has(key) ? place : `${place}/${key}`),
      ),
    ];
  };
  return walk(before, after, 'body');
}

/** Words of the schema, not names of fields. */
const WRAPPERS = new Set(['content', 'application/json', 'schema', 'properties']);

function resolved(document: unknown, node: unknown): unknown {
  if (!isRecord(node) || typeof node.$ref !== 'string') return node;
  return valueAt(document, ...node.$ref.replace('#/', '').split('/'));
}

const withoutProse = (node: unknown): unknown => (isRecord(node) ? { ...node, description: '' } : node);

function valueAt(node: unknown, ...path: readonly string[]): unknown {
  let found = node;
  for (const step of path) found = isRecord(found) ? found[step] : undefined;
  return found;
}

function recordAt(node: unknown, ...path: readonly string[]): Json {
  const found = valueAt(node, ...path);
  return isRecord(found) ? found : {};
}

function listAt(node: unknown, ...path: readonly string[]): unknown[] {
  const found = valueAt(node, ...path);
  return Array.isArray(found) ? found : [];
}
