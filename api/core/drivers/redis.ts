import { Redis } from 'ioredis';

const COMMAND_TIMEOUT_MS = 500;
const RECONNECT_MS = 50;

/**
 * A client for money: a command is sent once or not at all. Resending would answer a lost reply by running the step
 * again behind the caller's back; who did not get an answer asks again, with the same id.
 */
export function connectRedis(url: string): Redis {
  return new Redis(url, {
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: () => RECONNECT_MS,
    // Else it sleeps for whole seconds when a node says that it is still loading.
    maxLoadingRetryTime: RECONNECT_MS,
    enableAutoPipelining: true,
    lazyConnect: true,
  });
}
