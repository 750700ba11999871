import type { z } from 'zod';
import { createNearestNames } from '#core/catalog/nearest-names.ts';
import { isRecord } from '#core/is-record.ts';
import type { ConfigDocument, Path } from './config-document.ts';
import type { ConfigProblem } from './config-error.ts';
import { makeConfigSchema } from './config-file.ts';

/** Words for what zod found, where the schema has none of its own. */
export const issueMessage: z.core.$ZodErrorMap = (issue) => {
  if (issue.input === undefined) return 'is missing';
  if (issue.input === null) return 'is empty; give it a value, or leave the key out';
  switch (issue.code) {
    case 'invalid_type':
      return `has to be ${typeName(issue.expected)}`;
    case 'invalid_value':
      return `has to be ${issue.values.map(String).join(' or ')}`;
    case 'too_small':
      return `has to be at least ${issue.minimum}${issue.origin === 'string' ? ' characters' : ''}`;
    case 'too_big':
      return `has to be at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
    default:
      return undefined;
  }
};

/** An issue may name several unknown keys; each becomes a problem of its own, at its own place. */
export function describeIssue(issue: z.core.$ZodIssue, document: ConfigDocument): ConfigProblem[] {
  if (issue.code === 'invalid_key') {
    const [map, key] = [issue.path.slice(0, -1), String(issue.path.at(-1))];
    return issue.issues.map(({ message }) => keyProblem(document, map, key, message));
  }
  if (issue.code !== 'unrecognized_keys') return [document.problem(issue.path, issue.message)];
  return issue.keys.map((key) => keyProblem(document, issue.path, key, unknownKeyMessage(issue.path, key)));
}

function keyProblem(document: ConfigDocument, map: Path, key: string, message: string): ConfigProblem {
  const found = document.problem([...map, key], message, 'key');
  return mayBeShown(key) ? found : { ...found, path: document.problem([...map, '…'], message).path };
}

/** A key of ours that somebody mistyped is a word: what is long, or has other signs, may be a secret in a wrong place. */
const mayBeShown = (key: string): boolean => /^([A-Za-z_]{1,40}|[A-Za-z][\w-]{0,10})$/.test(key);

function unknownKeyMessage(path: Path, key: string): string {
  if (/^api_?key$/i.test(key)) {
    return 'a key never stands in this file; name a variable with apiKeyEnv or a file with apiKeyFile';
  }
  const [nearest] = createNearestNames(keysAt(path))(key);
  return nearest === undefined ? 'is no known key' : `is no known key; did you mean ${nearest}?`;
}

/**
 * The keys that may stand at a path, from the JSON Schema: the one description of the file that can be
 * walked.
 */
function keysAt(path: Path): string[] {
  let schema: unknown = makeConfigSchema();
  for (const step of path) {
    if (!isRecord(schema)) return [];
    schema =
      typeof step === 'number'
        ? schema.items
        : isRecord(schema.properties)
          ? schema.properties[String(step)]
          : null;
  }
  return isRecord(schema) && isRecord(schema.properties) ? Object.keys(schema.properties) : [];
}

const typeName = (expected: string): string => typeNames[expected] ?? `a ${expected}`;

const typeNames: Readonly<Record<string, string>> = {
  object: 'a map of keys',
  array: 'a list',
  int: 'a whole number',
  boolean: 'true or false',
  string: 'a text',
};
