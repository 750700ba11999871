import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isRecord } from '#core/is-record.ts';
import { makeConfigSchema } from '../../api/config/config-file.ts';

test('the committed schema is the one that the start checks by', async () => {
  const committed = await readFile(new URL('../../openapi/config.schema.json', import.meta.url), 'utf8');
  expect(committed, 'run `make openapi`').toBe(`${JSON.stringify(makeConfigSchema(), null, 2)}\n`);
});

test('every key that can be written says what it is for, and unknown keys are refused', () => {
  const schema = makeConfigSchema();
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  const silent: string[] = [];
  const open: string[] = [];
  let keys = 0;
  const walk = (node: unknown, path: string): void => {
    if (!isRecord(node)) return;
    // Of a map every name is checked, and each value as any other.
    const isMap = isRecord(node.additionalProperties) && isRecord(node.propertyNames);
    if (node.type === 'object' && node.additionalProperties !== false && !isMap) open.push(path);
    walk(node.additionalProperties, `${path}{}`);
    for (const [key, child] of Object.entries(isRecord(node.properties) ? node.properties : {})) {
      keys++;
      if (!isRecord(child) || typeof child.description !== 'string') silent.push(`${path}.${key}`);
      walk(child, `${path}.${key}`);
    }
    walk(node.items, `${path}[]`);
  };
  walk(schema, '');
  expect(silent).toEqual([]);
  expect(open).toEqual([]);
  expect(keys).toBeGreaterThan(50);
});

test('an editor sees the defaults', () => {
  const schema = makeConfigSchema();
  expect(schema).toHaveProperty('properties.server.properties.callIdHeader.default', 'x-service-call-id');
  expect(schema).toHaveProperty('properties.limits.properties.callsPerMinute.default', 600);
  expect(schema).not.toHaveProperty('required');
});
