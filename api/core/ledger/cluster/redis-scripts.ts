import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { HOUR_MS } from '../../clock.ts';
import type { RedisClient } from '../../drivers/redis.ts';
import { createEvaluator } from '../../drivers/redis-evaluator.ts';
import * as limits from '../../limits.ts';

/**
 * The steps that Redis decides, one Lua script each: fence, checks, event, change, in one go. Kept equal to `decide`
 * and `apply` by tests that run the same histories through both.
 */
export interface RedisScripts {
  run(name: ScriptName, keys: readonly string[], args: readonly ScriptArg[]): Promise<ScriptReply>;
}

/** A script, its keys and its arguments. */
export type ScriptRun = Parameters<RedisScripts['run']>;
export type ScriptArg = string | number;
/** A word for what came of it, and what belongs to that word. */
export type ScriptReply = [string, ...unknown[]];
export type ScriptName = keyof typeof scripts;

interface Script {
  /** Of `lua/`, in the order in which they are put together. */
  parts: readonly string[];
  /**
   * Redis runs it even when its memory is full: what finishes or repairs must never be refused, what starts or grants
   * must be.
   */
  flags: '' | 'flags=allow-oom' | 'flags=no-writes';
}

const step = (name: string, ...libraries: string[]): Script => ({
  parts: ['node', 'clock', 'shard', 'step', ...libraries, name],
  flags: 'flags=allow-oom',
});
const start = (name: string, ...libraries: string[]): Script => ({ ...step(name, ...libraries), flags: '' });
const read = (name: string, ...libraries: string[]): Script => ({
  parts: ['node', 'clock', 'shard', ...libraries, name],
  flags: 'flags=no-writes',
});

const repair = (...parts: string[]): Script => ({ parts: ['node', ...parts], flags: 'flags=allow-oom' });

const scripts = {
  reserve: start('reserve', 'periods', 'calls', 'videos'),
  renew: step('renew', 'calls'),
  finish: step('finish', 'calls'),
  settle: step('settle', 'periods', 'calls', 'videos', 'results'),
  grant: start('grant', 'credit'),
  expire: step('expire'),
  move_out: start('move_out', 'credit', 'trades'),
  move_in: step('move_in', 'credit', 'trades'),
  put_key: start('put_key', 'keys'),
  change_key: start('change_key', 'keys'),
  revoke_key: step('revoke_key', 'keys'),
  start_upload: start('start_upload'),
  claim_video: step('claim_video', 'videos', 'open_video'),
  submit_video: step('submit_video', 'videos', 'open_video'),
  withdraw_video: step('withdraw_video', 'videos', 'open_video'),
  set_agent: step('set_agent', 'credit'),
  ack: { ...read('ack'), flags: 'flags=allow-oom' },
  position: read('position'),
  read_agent: read('read_agent'),
  find_key: read('find_key'),
  key_status: read('key_status'),
  list_agents: read('list_agents'),
  list_open: read('list_open'),
  list_ended: read('list_ended'),
  read_video: read('read_video', 'videos'),
  list_videos: read('list_videos'),
  leftover: { parts: ['leftover'], flags: 'flags=no-writes' },
  lease: repair('clock', 'lease'),
  fence: repair('fence'),
  claim: repair('claim'),
  clear_agent: repair('claimed', 'clear_agent'),
  load: repair('claimed', 'load'),
  open: repair('clock', 'claimed', 'open'),
} satisfies Record<string, Script>;

/** `clock` takes the place of Redis' own time: for tests that move it. */
export function createRedisScripts(redis: RedisClient, options: { clock?: string } = {}): RedisScripts {
  const evaluate = createEvaluator(redis);
  const made = new Map<ScriptName, { text: string; sha: string }>();
  for (const name of scriptNames) {
    const text = scriptText(scripts[name], options.clock ?? part('clock'));
    made.set(name, { text, sha: createHash('sha1').update(text).digest('hex') });
  }
  return {
    run(name, keys, args) {
      const script = made.get(name);
      if (script === undefined) throw new Error(`no script ${name}`);
      return evaluate(script.sha, keys, args).then(parseReply, (error: unknown) => {
        // A node that has never run it, or has forgotten it: nothing of it has been done.
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return redis.eval(script.text, keys.length, ...keys, ...args).then(parseReply);
      });
    },
  };
}

/** Whether a script asks for the time: those that only rebuild a shard do not. */
export const asksTime = (name: ScriptName): boolean => {
  const script: Script = scripts[name];
  return script.parts.includes('clock');
};

const scriptNames = Object.keys(scripts) as ScriptName[];

function scriptText({ parts, flags }: Script, clock: string): string {
  const text = parts.map((name) => (name === 'clock' ? clock : part(name))).join('\n');
  const words = new Set(text.match(/[A-Z][A-Z0-9_]+/g));
  const named = numbers.filter(([name]) => words.has(name));
  const locals = named.map(([name, value]) => `local ${name} = ${value}`);
  return [`#!lua ${flags}`.trimEnd(), ...locals, text].join('\n');
}

/** The scripts' numbers are the state machine's. */
const numbers = Object.entries({
  ...limits,
  HOUR_MS,
  DONE_CLEARED_AT_ONCE: 16,
  LEASE_MAX_MS: 10_000,
  TRADES_CLEARED_AT_ONCE: 16,
}).filter(([, value]) => typeof value === 'number' || typeof value === 'bigint');

const part = (name: string): string => readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8');

function parseReply(reply: unknown): ScriptReply {
  if (!isReply(reply)) throw new Error('a script answered no word');
  return reply;
}

const isReply = (reply: unknown): reply is ScriptReply =>
  Array.isArray(reply) && typeof reply[0] === 'string';
