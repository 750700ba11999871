import { type DestinationStream, pino } from 'pino';

/**
 * One JSON line an event. Only the fields below can be logged at all, so a body, a prompt, a header or a key has no
 * way in; what looks like a secret inside a text is blotted out as a last resort.
 */
export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export interface LogFields {
  agentId?: number;
  callId?: number;
  keyId?: number;
  code?: string;
  cause?: string;
  count?: number;
  durationMs?: number;
  path?: string;
  address?: string;
  status?: number;
  usd?: string;
  /** An exception: its name, message and stack, never what it was thrown about. */
  error?: unknown;
}

export function createLog(destination?: DestinationStream): Log {
  const logger = pino(
    { base: null, messageKey: 'event', timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (event, fields) => logger.info(clean(fields), event),
    warn: (event, fields) => logger.warn(clean(fields), event),
    error: (event, fields) => logger.error(clean(fields), event),
  };
}

const SECRETS = /fg_\w{8,}|Bearer\s+\S+|sk-[\w-]{8,}|X-Amz-Signature=\w+/g;

function clean(fields: LogFields = {}): Record<string, unknown> {
  const { error, ...rest } = fields;
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    kept[name] = typeof value === 'string' ? value.replace(SECRETS, '[secret]') : value;
  }
  if (error instanceof Error) {
    kept.error = `${error.name}: ${error.message}`.replace(SECRETS, '[secret]');
    kept.stack = error.stack?.replace(SECRETS, '[secret]');
  } else if (error !== undefined) kept.error = typeof error;
  return kept;
}
