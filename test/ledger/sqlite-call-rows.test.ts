import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { CallRecord } from '#core/calls/call-record.ts';
import { createCallWriter, parseCallRows, printCallRows } from '#core/calls/sqlite-call-rows.ts';
import { DAY_MS } from '#core/clock.ts';
import { prepareSchema } from '#core/ledger/embedded/sqlite-schema.ts';
import { callEnd, callFacts } from './commands.ts';

const DAY = 20_000;
const { durationMs, httpStatus, errorCode, tokens } = callEnd;

const recordOf = (callId: number, fields: Partial<CallRecord> = {}): CallRecord => ({
  ...{ callId, agentId: 1, startedAtMs: DAY * DAY_MS, key: { keyId: 1, label: '', prefix: '' } },
  ...{ call: callFacts, outcome: 'ok', durationMs, httpStatus, errorCode, tokens },
  ...{ reservedNanoUsd: 10n, chargedNanoUsd: 1n },
  ...fields,
});

/** An empty history that counts how often a row of the usage is written. */
function openHistory() {
  const db = new DatabaseSync(':memory:');
  prepareSchema(db, (act) => act(), ':memory:');
  db.exec(`
    CREATE TABLE writes (agent_id INTEGER);
    CREATE TRIGGER inserted AFTER INSERT ON usage_days BEGIN INSERT INTO writes VALUES (new.agent_id); END;
    CREATE TRIGGER updated AFTER UPDATE ON usage_days BEGIN INSERT INTO writes VALUES (new.agent_id); END;`);
  const write = createCallWriter(db);
  return {
    write: (...records: CallRecord[]) => write(parseCallRows(printCallRows(records))),
    usage() {
      const rows = db.prepare('SELECT * FROM usage_days ORDER BY agent_id, day, model');
      rows.setReadBigInts(true);
      return rows.all().map((row) => Object.values(row).join(' '));
    },
    writes: () => db.prepare('SELECT * FROM writes').all().length,
  };
}

test('calls that are written together are one change of the usage for each agent, day and model', () => {
  const { write, usage, writes } = openHistory();
  const renamed = { ...callFacts, modelName: 'Acme Small 2' };
  const large = { ...callFacts, model: 'acme/large', modelName: 'Acme Large' };
  write(
    recordOf(1),
    // Beyond what a number holds exactly.
    recordOf(5, { call: renamed, chargedNanoUsd: 2n ** 53n + 1n }),
    recordOf(2, { tokens: { ...tokens, prompt: 5 } }),
    recordOf(3, { outcome: 'pending', chargedNanoUsd: 0n }),
    recordOf(4, { call: large, outcome: 'failed', chargedNanoUsd: 7n }),
    recordOf(6, { startedAtMs: (DAY + 1) * DAY_MS }),
    recordOf(7, { agentId: 2 }),
  );
  expect(usage()).toEqual([
    `1 ${DAY} acme/large Acme Large 1 30 7`,
    `1 ${DAY} acme/small Acme Small 2 3 85 ${2n ** 53n + 3n}`,
    `1 ${DAY + 1} acme/small Acme Small 1 30 1`,
    `2 ${DAY} acme/small Acme Small 1 30 1`,
  ]);
  expect(writes()).toBe(4);
  write(recordOf(3), recordOf(8));
  expect(usage()[1]).toBe(`1 ${DAY} acme/small Acme Small 5 145 ${2n ** 53n + 5n}`);
  expect(writes()).toBe(5);
});
