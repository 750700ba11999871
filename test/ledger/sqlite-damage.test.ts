import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { eventsChecksum, headChecksum } from '#core/ledger/embedded/journal-checksum.ts';
import { JournalDamagedError, JournalTooNewError } from '#core/ledger/embedded/journal-errors.ts';
import { charged, does, ok } from './case.ts';
import { agentWith, grant, reserve, setAgent, settle } from './commands.ts';
import { copyFiles, createJournalTap, openWorld, run } from './embedded-harness.ts';

/** A file with three agents in snapshots (seq 5 is the checkpoint) and a tail of six rows, seq 6 to 11. */
async function written(): Promise<{ dataDir: string; file: string }> {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(
    world,
    ...agentWith(100n),
    does(setAgent({ agentId: 2 }), ok),
    does(setAgent({ agentId: 3 }), ok),
  );
  await world.ledger.close();
  const again = await openWorld({ dataDir: world.dataDir, clock: world.clock, openJournal: tap.open });
  for (let call = 1; call <= 3; call++) {
    await run(again, does(reserve(call, 10n), ok), does(settle(call, 1n), charged(1n)));
  }
  // Ends without a snapshot, as a crash does.
  tap.failNext('before');
  await (await again.ledger.execute(grant(1n, { grantId: 'lost' })(again))).durable;
  await again.ledger.close();
  return { dataDir: world.dataDir, file: join(world.dataDir, 'ledger.sqlite') };
}

const sql = (text: string) => (file: string) => {
  const db = new DatabaseSync(file);
  db.exec(text);
  db.close();
};

/** Changes a row's events and makes the checksums right again: as a bug of a release would write it. */
const rewrite = (seq: number, change: (events: string) => string) => (file: string) => {
  const db = new DatabaseSync(file);
  const row = db.prepare('SELECT * FROM journal WHERE last_seq = ?').get(seq);
  const events = change(String(row?.events));
  const head = {
    firstSeq: Number(row?.first_seq),
    lastSeq: seq,
    atMs: Number(row?.at_ms),
    ended: String(row?.ended),
  };
  db.prepare('UPDATE journal SET events = ?, events_crc = ?, head_crc = ? WHERE last_seq = ?').run(
    events,
    eventsChecksum(events),
    headChecksum(head),
    seq,
  );
  db.close();
};

const bytes = (change: (content: Buffer) => void) => (file: string) => {
  const content = readFileSync(file);
  change(content);
  writeFileSync(file, content);
};

/** Fills the pages that hold a text with noise from there on. */
const noiseAt = (text: string) =>
  bytes((content) => {
    const at = content.lastIndexOf(text);
    if (at < 0) throw new Error(`no ${text} in the file`);
    content.fill(0xa5, at - (at % 4096), at - (at % 4096) + 4096);
  });

const damages: [string, (file: string) => void, RegExp][] = [
  [
    'one changed amount in an event',
    sql(`UPDATE journal SET events = replace(events, '"10"', '"11"') WHERE last_seq = 8`),
    /seq 8: the checksum of the events/,
  ],
  [
    'a changed list of ended calls',
    sql(`UPDATE journal SET ended = replace(ended, '"1"', '"0"') WHERE last_seq = 9`),
    /seq 9: the checksum of the row/,
  ],
  [
    'a row that claims another seq',
    sql('UPDATE journal SET last_seq = 14 WHERE last_seq = 11'),
    /seq 14: the checksum of the row/,
  ],
  [
    'a row that is missing',
    sql('DELETE FROM journal WHERE last_seq = 8'),
    /seq 8: events 8 to 8 are missing/,
  ],
  [
    'the first row behind the checkpoint is missing',
    sql('DELETE FROM journal WHERE last_seq = 6'),
    /seq 6: events 6 to 6 are missing/,
  ],
  ['all rows are missing', sql('DELETE FROM journal'), /ends before its checkpoint 5/],
  [
    'an agent is missing',
    sql('DELETE FROM agents WHERE agent_id = 2'),
    /versions add up to 10, and the journal ends at 11/,
  ],
  [
    "an agent's snapshot was changed",
    sql(`UPDATE agents SET snapshot = replace(snapshot, '"100"', '"900"') WHERE agent_id = 1`),
    /agent 1 cannot be read \(damaged snapshot/,
  ],
  [
    'an agent is older than the checkpoint',
    sql(`UPDATE agents SET snapshot = (SELECT snapshot FROM agents WHERE agent_id = 2) WHERE agent_id = 1`),
    /seq 6: the event cannot be read/,
  ],
  ['the row of marks is missing', sql('DELETE FROM ledger'), /the row of table ledger is missing/],
  ['a table is missing', sql('DROP TABLE agents'), /: agents is missing/],
  [
    "a gap in an agent's versions",
    rewrite(7, (events) => events.replace('["settled",1,5,', '["settled",1,6,')),
    /seq 7: the event cannot be read \(agent 1: expected version 5, found 6/,
  ],
  [
    'an event of a kind that no release wrote',
    rewrite(7, (events) => events.replace('"settled"', '"forgiven"')),
    /seq 7: the row cannot be read .*no event of the kind forgiven/,
  ],
  [
    'a charge above its hold',
    rewrite(7, (events) => events.replace(/("settled",1,5,\d+,\d+),"1"/, '$1,"99"')),
    /seq 7: the event cannot be read .*more than the hold/,
  ],
  [
    'fewer events than the row says',
    rewrite(7, () => '{"alike":[],"events":[]}'),
    /seq 7: the row cannot be read/,
  ],
  [
    'a hold that refers to nothing',
    rewrite(8, (events) => events.replace('["reserved",0', '["reserved",1')),
    /seq 8: the row cannot be read .*nothing is at place 1/,
  ],
  [
    'a settlement of too many parts',
    rewrite(7, (events) => events.replace(']]}', ',0,0]]}')),
    /seq 7: the row cannot be read .*too many or too few parts/,
  ],
  ['events that nobody packed', rewrite(7, () => '[]'), /seq 7: the row cannot be read .*no list of events/],
  ['events that are no JSON', rewrite(7, () => '{"type":'), /seq 7: the row cannot be read/],
  ['a page of noise in the journal', noiseAt('["reserved",0'), /malformed|checksum|missing|ends before/],
  ['a page of noise in the snapshots', noiseAt('"statusBySource"'), /malformed|cannot be read|add up/],
  ['noise instead of the header', bytes((content) => content.fill(0xa5, 0, 100)), /not a database/],
  ['a file that was cut', (file) => truncateSync(file, statSync(file).size - 3 * 4096), /malformed/],
  [
    'a file that is no database at all',
    (file) => writeFileSync(file, 'hello\n'.repeat(1_000)),
    /not a database/,
  ],
  ["another program's database", sql('PRAGMA application_id = 7'), /not one of Faregate/],
  ['a schema version that never was', sql('PRAGMA user_version = 0'), /no release wrote schema version 0/],
];

test.each(damages)('%s stops the start and says where', async (_, damage, message) => {
  const { dataDir, file } = await written();
  damage(file);
  const starting = openWorld({ dataDir });
  await expect(starting).rejects.toThrow(message);
  await expect(starting).rejects.toBeInstanceOf(JournalDamagedError);
  await expect(starting).rejects.toThrow(file);
  await expect(starting).rejects.toThrow('backup of the data folder');
});

test('a damaged start changes no event, and gives the folder back', async () => {
  const { dataDir, file } = await written();
  sql('DELETE FROM journal WHERE last_seq = 8')(file);
  const rows = () => {
    const db = new DatabaseSync(file);
    const all = [db.prepare('SELECT * FROM journal').all(), db.prepare('SELECT * FROM agents').all()];
    db.close();
    return JSON.stringify(all);
  };
  const before = rows();
  await expect(openWorld({ dataDir })).rejects.toThrow(JournalDamagedError);
  await expect(openWorld({ dataDir })).rejects.toThrow(JournalDamagedError);
  expect(rows()).toBe(before);
});

test('a file of a newer release is refused by its version', async () => {
  const { dataDir, file } = await written();
  sql('PRAGMA user_version = 5')(file);
  const starting = openWorld({ dataDir });
  await expect(starting).rejects.toBeInstanceOf(JournalTooNewError);
  await expect(starting).rejects.toThrow(/schema version 5, and this release knows 4/);
});

test('an undamaged file opens, with all that was told durable', async () => {
  const { dataDir } = await written();
  const { ledger } = await openWorld({ dataDir });
  expect(await ledger.readAgent(1)).toMatchObject({ version: 9, chargedNanoUsd: 3n, grantedNanoUsd: 100n });
});

test('an older copy of the files opens as exactly the older ledger', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(settle(1, 1n), charged(1n)));
  const view = await world.ledger.readAgent(1);
  const older = copyFiles(world);
  await run(world, does(reserve(2, 10n), ok), does(settle(2, 5n), charged(5n)));
  const rewound = await openWorld({ dataDir: older, clock: world.clock });
  expect(await rewound.ledger.readAgent(1)).toEqual(view);
  expect(await rewound.ledger.history.list({ agentId: 1, limit: 9 })).toHaveLength(1);
  rewound.callIds = world.callIds;
  await run(rewound, does(reserve(2, 10n), ok), does(settle(2, 7n), charged(7n)));
});
