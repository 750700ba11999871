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

/** A shard is one of the ledger, or a partition of a topic. */
const NUMBER_FIELDS = ['agentId', 'callId', 'keyId', 'count', 'durationMs', 'shard', 'status'] as const;

/** `traceId` is of the caller's own trace, `model` a public id, and `provider` its id in the configuration. */
const TEXT_FIELDS = [
  'traceId',
  'code',
  'cause',
  'model',
  'provider',
  'market',
  'path',
  'topic',
  'offset',
  'address',
  'usd',
] as const;

type Fields<Name extends string, Value> = { [name in Name]?: Value };

export type LogFields = Fields<(typeof NUMBER_FIELDS)[number], number> &
  Fields<(typeof TEXT_FIELDS)[number], string> & {
    /** An exception: its name, message and stack, never what it was thrown about. */
    error?: unknown;
  };

export function createLog(destination?: DestinationStream): Log {
  const logger = pino(
    { base: null, messageKey: 'event', timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination({ dest: 2, sync: true }),
  );
  return {
    info: (event, fields) => logger.info(clean(fields), blot(event)),
    warn: (event, fields) => logger.warn(clean(fields), blot(event)),
    error: (event, fields) => logger.error(clean(fields), blot(event)),
  };
}

/** Checked here too: a record with more fields than its type says would bring them all. */
const FIELDS: ReadonlySet<string> = new Set([...NUMBER_FIELDS, ...TEXT_FIELDS]);

const SECRETS =
  /fg_\w{8,}|\b(?:Bearer|Basic)\s+\S+|\bg?sk[-_][\w-]{8,}|\b(?:hf|fw|xai|pplx|nvapi|r8|tgp)[-_]\w{8,}|AIza[\w-]{20,}|(?<=:\/\/)[^/\s@]+@|(?<=X-Amz-Signature=)\w+|(?<=\bapi[-_]?key["']?[=:]\s?["']?)[^\s"'&]+/gi;

/** A longer text is cut before the pattern sees it: nobody knows that its search takes linear time. */
const TEXT_CHARS_MAX = 4_096;

const blot = (text: string): string => text.slice(0, TEXT_CHARS_MAX).replace(SECRETS, '[secret]');

function clean(fields: LogFields = {}): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (!FIELDS.has(name)) continue;
    if (typeof value === 'string') kept[name] = blot(value);
    else if (typeof value === 'number') kept[name] = value;
  }
  const { error } = fields;
  if (error instanceof Error) {
    // JSON.parse and BigInt quote what they could not read, which may be anybody's prompt.
    kept.error = error instanceof SyntaxError ? error.name : blot(`${error.name}: ${error.message}`);
    kept.stack = framesOf(error);
  } else if (error !== undefined) kept.error = typeof error;
  return kept;
}

/** Without the message that stands above them. */
function framesOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return blot(frames.map((line) => line.trim()).join('\n'));
}
