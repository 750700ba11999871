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

/**
 * What one turn of the event loop asks goes out in one write. ioredis' own pipelines do so, too, but of so many objects that
 * a hold and its settlement cost an API process half as much again; for a Redis Cluster they sort by node, so there they stay.
 */
export function createEvaluator(client: RedisClient): Evaluate {
  if (client instanceof Cluster) {
    return (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args);
  }
  const turns = new Turns(client);
  return (sha, keys, args) => turns.ask(new EvalshaCommand(sha, keys, args));
}

class Turns {
  readonly #redis: Redis;
  #asked: EvalshaCommand[] = [];

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  ask(command: EvalshaCommand): Promise<unknown> {
    if (this.#asked.push(command) === 1) setImmediate(this.#send);
    return command.promise;
  }

  /** Queued and written in one go, so that no connection is sent what the one before it was asked. */
  readonly #send = (): void => {
    const redis = this.#redis;
    const commands = this.#asked;
    this.#asked = [];
    const texts: string[] = [];
    const write = (text: string | Buffer) => texts.push(String(text));
    for (const command of commands) {
      void redis.sendCommand(command, { isPipeline: true, destination: { redis }, write });
    }
    if (texts.length > 0) redis.stream.write(texts.join(''));
    const timer = systemClock.setTimer(REDIS_TIMEOUT_MS, () => {
      for (const command of commands) command.reject(new Error('Command timed out'));
    });
    // Answers come in order, so the last one's is the last.
    void commands.at(-1)?.promise.then(timer.cancel, timer.cancel);
  };
}

export class EvalshaCommand extends Command {
  constructor(sha: string, keys: readonly string[], args: readonly (string | number)[]) {
    super(NAME, [sha, keys.length, ...keys, ...args], { replyEncoding: 'utf8' });
  }

  /** Its turn has one timer for all. ioredis' own leaves each command an object of the slow kind. */
  override setTimeout(): void {}

  /** As ioredis writes it, which adds up one string after the other; each addition is an object. */
  override toWritable(): string {
    const parts = [`*${this.args.length + 1}${lengthLine(NAME.length)}`, NAME];
    for (const arg of this.args) {
      const text = typeof arg === 'string' ? arg : String(arg);
      parts.push(lengthLine(Buffer.byteLength(text)), text);
    }
    parts.push('\r\n');
    return parts.join('');
  }
}

const NAME = 'evalsha';

const shortLengthLines = Array.from({ length: 1_024 }, (_, length) => `\r\n$${length}\r\n`);
const lengthLine = (length: number): string => shortLengthLines[length] ?? `\r\n$${length}\r\n`;
