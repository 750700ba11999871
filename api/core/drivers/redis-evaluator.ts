import { Cluster, Command, type Redis } from 'ioredis';
import { systemClock } from '../clock.ts';
import { REDIS_TIMEOUT_MS, type RedisClient } from './redis.ts';

/**
 * Runs a script that the node knows by this SHA. Rejects with the node's error, or when there is no answer in time: it may
 * then have been run all the same.
 */
export type Evaluate = (
  sha: string,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** Nothing was sent: Redis is away, or there was no room for so long that nobody waits any more. */
export class NotAskedError extends Error {
  override name = 'NotAskedError';

  constructor() {
    super('Redis was not asked');
  }
}

/** One that Redis works on, and one that it finds when it is done. */
const WRITES_AT_ONCE_MAX = 2;
/** Few enough to be answered well within the time that each has. */
const SCRIPTS_IN_A_WRITE_MAX = 128;

/**
 * What is asked while two writes are on their way goes out with the next one: few writes for many scripts, and a Redis that
 * stood still is not left with more than it answers in time. ioredis' own pipelines are much the same, but of so many objects
 * that a hold and its settlement cost an API process half as much again; for a Redis Cluster they sort by node, so there they
 * stay.
 */
export function createEvaluator(client: RedisClient): Evaluate {
  if (client instanceof Cluster) {
    return (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args);
  }
  const writes = new Writes(client);
  return (sha, keys, args) => writes.ask(new EvalshaCommand(sha, keys, args));
}

class Writes {
  readonly #redis: Redis;
  readonly #waiting: EvalshaCommand[] = [];
  readonly #timeoutMs: number;
  #writes = 0;
  #isDue = false;

  constructor(redis: Redis) {
    this.#redis = redis;
    this.#timeoutMs = redis.options.commandTimeout ?? REDIS_TIMEOUT_MS;
  }

  ask(command: EvalshaCommand): Promise<unknown> {
    this.#waiting.push(command);
    this.#goOn();
    return command.promise;
  }

  #goOn(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#writes >= WRITES_AT_ONCE_MAX) return;
    this.#isDue = true;
    setImmediate(this.#send);
  }

  /** Queued and written in one go, so that no connection is sent what the one before it was asked. */
  readonly #send = (): void => {
    this.#isDue = false;
    const redis = this.#redis;
    this.#dropLate();
    const commands = this.#waiting.splice(0, SCRIPTS_IN_A_WRITE_MAX);
    const last = commands.at(-1);
    if (last === undefined) return;
    this.#writes++;
    const texts: string[] = [];
    const write = (text: string | Buffer) => texts.push(String(text));
    const stream = { isPipeline: true as const, destination: { redis }, write };
    for (const command of commands) void redis.sendCommand(command, stream);
    if (texts.length > 0) redis.stream.write(texts.join(''));
    const timer = systemClock.setTimer(this.#timeoutMs, () => {
      for (const command of commands) command.reject(new Error('Command timed out'));
    });
    // Answers come in order, so with the last one's all are there.
    const end = () => {
      timer.cancel();
      this.#writes--;
      this.#goOn();
    };
    void last.promise.then(end, end);
    this.#goOn();
  };

  /** Those who asked have given up, or would ask a connection that is not there. */
  #dropLate(): void {
    const oldestMs = systemClock.monotonicMs() - this.#timeoutMs;
    // A connection that is being left is still called ready.
    const isReady = this.#redis.status === 'ready' && this.#redis.stream.writable;
    const isLate = ({ askedAtMs }: EvalshaCommand) => !isReady || askedAtMs < oldestMs;
    const first = this.#waiting.findIndex((command) => !isLate(command));
    const late = this.#waiting.splice(0, first < 0 ? this.#waiting.length : first);
    for (const command of late) command.reject(new NotAskedError());
  }
}

/** ioredis would copy its arguments twice, and put them into its errors; it is given none. */
export class EvalshaCommand extends Command {
  readonly askedAtMs = systemClock.monotonicMs();
  readonly #sha: string;
  readonly #keys: readonly string[];
  readonly #args: readonly (string | number)[];

  constructor(sha: string, keys: readonly string[], args: readonly (string | number)[]) {
    super(NAME, [], { replyEncoding: 'utf8' });
    this.#sha = sha;
    this.#keys = keys;
    this.#args = args;
  }

  /** Its write has one timer for all. ioredis' own leaves each command an object of the slow kind. */
  override setTimeout(): void {}

  /** As ioredis writes it, which adds up one string after the other; each addition is an object. */
  override toWritable(): string {
    const texts = 3 + this.#keys.length + this.#args.length;
    // Of its full length: an array that grows is copied each time.
    const parts = new Array<string>(2 * texts + 2);
    parts[0] = `*${texts}`;
    let at = 1;
    const add = (text: string): void => {
      parts[at++] = lengthLine(Buffer.byteLength(text));
      parts[at++] = text;
    };
    add(NAME);
    add(this.#sha);
    add(String(this.#keys.length));
    for (const key of this.#keys) add(key);
    for (const arg of this.#args) add(typeof arg === 'string' ? arg : String(arg));
    parts[at] = '\r\n';
    return parts.join('');
  }
}

const NAME = 'evalsha';

const shortLengthLines = Array.from({ length: 1_024 }, (_, length) => `\r\n$${length}\r\n`);
const lengthLine = (length: number): string => shortLengthLines[length] ?? `\r\n$${length}\r\n`;
