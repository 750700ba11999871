import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSteps } from '#core/drivers/cassandra-migrations.ts';

test('every statement of a step may be repeated, because a process may die between any two', () => {
  const steps = readSteps(join(import.meta.dirname, '../../api/core/drivers/cql'));
  const statements = steps.flatMap((step) => step.statements);
  expect(statements.length).toBeGreaterThan(5);
  const repeatable = /^(CREATE TABLE IF NOT EXISTS|ALTER TABLE \w+ (ADD IF NOT|DROP IF|RENAME IF) EXISTS)\b/;
  expect(statements.filter((statement) => !repeatable.test(statement))).toEqual([]);
});
