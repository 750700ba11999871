import { PepperError } from '#core/accounts/pepper-file.ts';
import { BackupError } from '#core/backup/backup-error.ts';
import { isCassandraUnavailable } from '#core/drivers/cassandra.ts';
import { SchemaTooNewError } from '#core/drivers/cassandra-migrations.ts';
import { isRedisUnavailable } from '#core/drivers/redis.ts';
import { PoisonRecordError } from '#core/ledger/cluster/effective-log.ts';
import { UnsafeLogError } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { UnsafeRedisError } from '#core/ledger/cluster/redis-check.ts';
import { ShardGapError } from '#core/ledger/cluster/shard-fold.ts';
import { FolderInUseError, JournalError } from '#core/ledger/embedded/journal-errors.ts';
import { ConfigError } from '../../config/config-error.ts';
import { CliError, exitCodes, unreachable, usageError } from './cli-error.ts';

/** For commands that work on the stores themselves: what the operator can mend is said in a sentence. */
export async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof CliError) throw error;
    if (error instanceof ConfigError) throw usageError(error.message);
    if (kinds.some((kind) => error instanceof kind)) throw new CliError(exitCodes.refused, error.message);
    // The system's word, such as ENOSPC or EACCES, and SQLite's.
    const isOfSystem = 'syscall' in error || ('code' in error && error.code === 'ERR_SQLITE_ERROR');
    if (isOfSystem) throw new CliError(exitCodes.refused, error.message);
    if (isOfStore(error)) {
      // A driver may put a stack behind its sentence.
      const [sentence] = error.message.split('\n');
      throw unreachable(
        `A store of the cluster does not answer, or faregate migrate has not been run: ${sentence}`,
      );
    }
    throw error;
  }
}

const kinds = [
  BackupError,
  FolderInUseError,
  JournalError,
  PepperError,
  PoisonRecordError,
  SchemaTooNewError,
  ShardGapError,
  UnsafeLogError,
  UnsafeRedisError,
];

const isOfStore = (error: Error): boolean =>
  isCassandraUnavailable(error) || isRedisUnavailable(error) || error.name.startsWith('KafkaJS');
