import { PepperError } from '#core/accounts/pepper-file.ts';
import { formatBytes } from '#core/format-bytes.ts';
import { freeBytes } from '#core/free-bytes.ts';
import {
  FolderInUseError,
  JournalDamagedError,
  JournalError,
  JournalTooNewError,
} from '#core/ledger/embedded/journal-errors.ts';
import { DISK_FREE_MIN_BYTES } from '#core/limits.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { StoreError } from '../stores/store-error.ts';

/** What the operator can mend is said in a sentence, with what to do; a stack is for what nobody expected. */
export function explainStart(error: unknown, config: Config | null): string {
  if (!(error instanceof Error)) return String(error);
  if (said.some((kind) => error instanceof kind)) return error.message;
  if (config === null) return error.stack ?? error.message;
  const { server, storage } = config;
  const code = 'code' in error ? String(error.code) : '';
  const syscall = 'syscall' in error ? String(error.syscall) : null;
  if (syscall === 'listen' || syscall === 'getaddrinfo') return explainListen(error, code, server);
  if (error instanceof JournalError || code === 'ERR_SQLITE_ERROR' || syscall !== null) {
    return explainFolder(storage.dataDir, code, error.message);
  }
  return error.stack ?? error.message;
}

/** Each has a sentence of its own that says what to do. */
const said = [
  ConfigError,
  FolderInUseError,
  JournalDamagedError,
  JournalTooNewError,
  PepperError,
  StoreError,
];

function explainListen(error: Error, code: string, server: Config['server']): string {
  const address = 'address' in error ? String(error.address) : '';
  const hostname = 'hostname' in error ? String(error.hostname) : address;
  const port = 'port' in error ? Number(error.port) : 0;
  // Two ports are never the same; where both are free to choose, their hosts may differ.
  const isInternal = port === 0 ? hostname !== server.host : port === server.internalPort;
  const choice = isInternal ? 'INTERNAL_PORT (server.internalPort)' : 'PORT (server.port)';
  switch (code) {
    case 'EADDRINUSE':
      return (
        `Another program listens on ${address}:${port}; it may be a gateway that runs already. ` +
        `End it, or choose another port with ${choice}.`
      );
    case 'EACCES':
      return `This user may not listen on ${address}:${port}. Choose a port above 1023 with ${choice}.`;
    default:
      return (
        `${hostname} is no address of this machine (${code}). ` +
        `Name one of its own in ${isInternal ? 'server.internalHost' : 'server.host'}, such as 127.0.0.1.`
      );
  }
}

function explainFolder(dataDir: string, code: string, message: string): string {
  const why = reasons[code] ?? message.replace(/\.$/, '');
  // A disk that nobody writes to is full as a rule, and that is not what is wrong with it.
  const free = code === 'EROFS' ? null : freeBytes(dataDir);
  const room =
    free !== null && free < DISK_FREE_MIN_BYTES
      ? ` Its disk has ${formatBytes(free)} left: make room there.`
      : '';
  return `The data folder ${dataDir} cannot be used: ${why}.${room} Mend that, or choose another folder with FAREGATE_DATA.`;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read and write it',
  EPERM: 'its files belong to another user',
  ENOENT: 'it cannot be made there',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a file stands in its place, or in that of a folder above it',
  EDQUOT: "this user's share of its disk is used up",
  EROFS: 'its disk is mounted read-only',
};
