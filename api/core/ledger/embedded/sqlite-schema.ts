import type { DatabaseSync } from 'node:sqlite';
import type { Transact } from '../../drivers/sqlite.ts';
import { VIDEOS_SCHEMA } from '../../videos/sqlite-video-history.ts';
import { JournalDamagedError, JournalTooNewError } from './journal-errors.ts';

/** "FARE" in the file's header: `file` and a restore can tell what it is. */
const APPLICATION_ID = 0x46415245;
const SCHEMA_VERSION = 4;

const OBJECTS = [
  'ledger',
  'journal',
  'agents',
  'calls',
  'call_kinds',
  'calls_by_agent',
  'calls_by_key',
  'usage_days',
];
/** Since version 3. */
const VIDEO_OBJECTS = ['videos', 'videos_by_key', 'videos_by_end'];

/**
 * One row a batch, not one an event: a third of the CPU. `ended` stands before `events`, so that reading it does
 * not walk through the pages of a long text.
 *
 * The calls' key starts with the call's id, which grows with time: rows are added at the end and dropped at the
 * front. Two agents may have drawn the same id in an import. What thousands of calls share is a row of `call_kinds`.
 * A new column of `calls` stands last, where a file of an older release gets it, because rows are written by position.
 */
const SCHEMA = `
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  checkpoint_seq INTEGER NOT NULL,
  projected_seq INTEGER NOT NULL,
  opened_count INTEGER NOT NULL
) STRICT;
INSERT INTO ledger VALUES (1, 0, 0, 0);
CREATE TABLE journal (
  last_seq INTEGER PRIMARY KEY,
  first_seq INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  head_crc INTEGER NOT NULL,
  events_crc INTEGER NOT NULL,
  ended TEXT NOT NULL,
  events TEXT NOT NULL
) STRICT;
CREATE TABLE agents (
  agent_id INTEGER PRIMARY KEY,
  snapshot TEXT NOT NULL
) STRICT;
CREATE TABLE calls (
  call_id INTEGER NOT NULL,
  agent_id INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  key_label TEXT NOT NULL,
  key_prefix TEXT NOT NULL,
  kind_id INTEGER NOT NULL,
  started_at_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  http_status INTEGER,
  error_code TEXT,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER,
  cached_tokens INTEGER NOT NULL,
  reserved_nano_usd INTEGER NOT NULL,
  charged_nano_usd INTEGER NOT NULL,
  tokens_estimated INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (call_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE call_kinds (
  kind_id INTEGER PRIMARY KEY,
  newest_call_id INTEGER NOT NULL,
  model TEXT NOT NULL,
  model_name TEXT NOT NULL,
  endpoint TEXT NOT NULL,
  stream INTEGER NOT NULL,
  UNIQUE (model, model_name, endpoint, stream)
) STRICT;
CREATE INDEX calls_by_agent ON calls (agent_id, call_id);
CREATE INDEX calls_by_key ON calls (agent_id, key_id, call_id);
CREATE TABLE usage_days (
  agent_id INTEGER NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  model_name TEXT NOT NULL,
  calls INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  charged_nano_usd INTEGER NOT NULL,
  PRIMARY KEY (agent_id, day, model)
) STRICT, WITHOUT ROWID;
${VIDEOS_SCHEMA}
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The steps from each older version to the next. SQLite adds a column with a default without rewriting the rows. */
const STEPS: ReadonlyMap<number, string> = new Map([
  [2, VIDEOS_SCHEMA],
  [3, 'ALTER TABLE calls ADD COLUMN tokens_estimated INTEGER NOT NULL DEFAULT 0;'],
]);
const OLDEST_VERSION = 2;

/**
 * Makes the tables in an empty file, and adds to the file of an older release what it does not have; refuses a file of
 * anything else, or of a release that this one does not know.
 */
export function prepareSchema(db: DatabaseSync, transact: Transact, file: string): void {
  const version = readPragma(db, 'user_version');
  const found = new Set(
    db
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map((row) => row.name),
  );
  if (version === 0 && found.size === 0) {
    transact(() => db.exec(SCHEMA));
    return;
  }
  if (readPragma(db, 'application_id') !== APPLICATION_ID) {
    throw new JournalDamagedError(file, null, 'it is a SQLite file, but not one of Faregate');
  }
  if (version > SCHEMA_VERSION) throw new JournalTooNewError(file, version, SCHEMA_VERSION);
  if (version < OLDEST_VERSION) {
    throw new JournalDamagedError(file, null, `no release wrote schema version ${version}`);
  }
  const expected = version === 2 ? OBJECTS : [...OBJECTS, ...VIDEO_OBJECTS];
  const missing = expected.filter((name) => !found.has(name));
  if (missing.length > 0) throw new JournalDamagedError(file, null, `${missing.join(', ')} is missing`);
  if (version < SCHEMA_VERSION) transact(() => upgrade(db, version));
}

function upgrade(db: DatabaseSync, fromVersion: number): void {
  for (const [version, step] of STEPS) if (version >= fromVersion) db.exec(step);
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

function readPragma(db: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}
