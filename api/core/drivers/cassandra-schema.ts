import { join } from 'node:path';
import { type Client, errors, types } from 'cassandra-driver';
import { latestVersion, readSteps } from './cassandra-migrations.ts';

/** The keyspace is not there yet, or was made by an older release. */
export class SchemaTooOldError extends Error {
  override readonly name = 'SchemaTooOldError';

  constructor(found: number, known: number) {
    const has = found === 0 ? 'has no schema of ours' : `has schema version ${found}`;
    super(`it ${has}, and this release needs ${known}: run faregate migrate of this release`);
  }
}

/** The release's own. */
export const schemaVersion = (): number => readSteps(join(import.meta.dirname, 'cql')).length;

/**
 * Rejects with `SchemaTooOldError` unless the keyspace has this release's schema, or that of a newer one: steps only add,
 * so that a release runs beside its successor, and after it. Answers the version that is there.
 */
export async function requireSchema(client: Client): Promise<number> {
  const known = schemaVersion();
  const found = await readVersion(client);
  if (found < known) throw new SchemaTooOldError(found, known);
  return found;
}

async function readVersion(client: Client): Promise<number> {
  try {
    return await latestVersion(client);
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** No such keyspace or table. */
const isMissing = (error: unknown): boolean =>
  error instanceof errors.ResponseError &&
  error.code === types.responseErrorCodes.invalid &&
  /does not exist/i.test(error.message);
