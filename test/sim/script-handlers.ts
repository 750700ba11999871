import { type AgentKey, agentKeyNames } from '#core/ledger/cluster/redis-keys.ts';
import type { ScriptName, ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import { videoFields } from '#core/ledger/cluster/redis-videos.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import { findVideo, findVideoByKey, openVideos } from '#core/ledger/machine/agent-queries.ts';
import { agentStatus } from '#core/ledger/machine/agent-status.ts';
import { apply, applyUnjournaled } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { CLOCK_APART_MAX_MS, GATE_TIMEOUT_MS, ORPHAN_GRACE_MS, OUTBOX_BYTES_MAX } from '#core/limits.ts';
import { toCommand } from './script-commands.ts';
import { toReply } from './script-replies.ts';
import { fill, type RedisKey, type ShardStore, toRedisKeys } from './shard-store.ts';

const LEFTOVER_PAGE = 2;

/** One script on one node. */
export interface ScriptRun {
  name: ScriptName;
  store: ShardStore;
  /** Of the node: `run_id` and `master_replid`. */
  identity: string;
  /** Redis `TIME`. */
  clockMs: number;
  keys: readonly string[];
  args: readonly string[];
  publish(channel: string, message: string): void;
}

export type ScriptHandler = (run: ScriptRun) => ScriptReply;
export type ScriptHandlers = Readonly<Record<ScriptName, ScriptHandler>>;

/** Longest lease of a recoverer, as in the scripts. */
const LEASE_MAX_MS = 10_000;

const whenOpen =
  (handler: ScriptHandler): ScriptHandler =>
  (run) =>
    run.store.meta.fence === run.identity ? handler(run) : ['FENCED'];

const whenClaimed =
  (handler: ScriptHandler): ScriptHandler =>
  (run) => {
    const { claim, claimedBy, fence } = run.store.meta;
    const mine = claim === run.args[0] && claimedBy === run.identity && fence === null;
    return mine ? handler(run) : ['LOST'];
  };

const step = (name: Command['type']): ScriptHandler =>
  whenOpen((run) => runCommand(run, toCommand(name, run.args)));

/** What `lua/*.lua` do, decided by the state machine that they are kept equal to. */
export const scriptHandlers: ScriptHandlers = {
  reserve: step('reserve'),
  renew: step('renew'),
  finish: step('finish'),
  settle: step('settle'),
  grant: step('grant'),
  expire: step('expire'),
  move_out: step('move_out'),
  move_in: step('move_in'),
  put_key: step('put_key'),
  change_key: step('change_key'),
  revoke_key: step('revoke_key'),
  start_upload: step('start_upload'),
  claim_video: step('claim_video'),
  submit_video: step('submit_video'),
  withdraw_video: step('withdraw_video'),
  set_agent: step('set_agent'),

  ack: whenOpen(({ store, args: [epoch, seq, offset = '', after, count], keys: [channel], publish }) => {
    const { meta } = store;
    if (String(meta.epoch) !== epoch) return ['OK', String(meta.epoch), []];
    const behind = (at: string | undefined) =>
      store.outbox.filter((entry) => entry.epoch > meta.epoch || entry.seq > Number(at));
    if (Number(seq) > meta.acked) {
      for (const { seq: at, text } of store.outbox) if (at <= Number(seq)) meta.outboxBytes -= text.length;
      store.outbox = behind(seq);
      meta.acked = Number(seq);
      meta.offset = offset;
      publish(`${channel}:acked`, `${epoch}-${seq}`);
    }
    const next = behind(after).slice(0, Number(count));
    return ['OK', epoch, next.flatMap((entry) => [String(entry.seq), entry.text])];
  }),
  position: whenOpen(({ store: { meta }, clockMs }) => [
    'OK',
    String(meta.epoch),
    String(meta.acked),
    meta.offset,
    meta.nonce,
    String(clockMs),
    String(meta.lastMs),
  ]),
  read_agent: whenOpen((run) => {
    const { store, keys } = run;
    const agentId = Number(/:a:(\d+)$/.exec(keys[2] ?? '')?.[1]);
    const agent = store.state.agents.get(agentId);
    if (agent === undefined) return ['NONE'];
    const raw = toRedisKeys(store.keys, { agents: new Map([[agentId, agent]]), keysByHash: new Map() });
    const flat = (part: AgentKey): string[] => [...(raw.get(store.keys.agent(agentId, part)) ?? [])].flat();
    const nowMs = timeOf(run);
    const slots: RedisKey = raw.get(store.keys.agent(agentId, ':slots')) ?? new Map();
    const live = [...slots].filter(([, endsAtMs]) => Number(endsAtMs) > nowMs).flat();
    return [
      'OK',
      latest(store),
      String(nowMs),
      flat(''),
      flat(':holds'),
      live,
      flat(':keys'),
      flat(':sources'),
    ];
  }),
  find_key: whenOpen(({ store, args: [hash = ''] }) => {
    const owner = store.state.keysByHash.get(hash);
    return ['OK', latest(store), owner === undefined ? '' : `${owner.agentId}:${owner.keyId}`];
  }),
  key_status: whenOpen(({ store, keys, args: [keyId, hash] }) => {
    const agent = store.state.agents.get(Number(/:a:(\d+)$/.exec(keys[2] ?? '')?.[1]));
    const key = agent?.keys.get(Number(keyId));
    if (agent === undefined || key?.hash !== hash) return ['OK', latest(store), 'unknown', ''];
    return ['OK', latest(store), key?.revokedAtMs === null ? 'live' : 'revoked', agentStatus(agent)];
  }),
  list_agents: whenOpen(({ store }) => ['OK', [...store.state.agents.keys()].map(String)]),
  list_open: whenOpen(({ store }) => [
    'OK',
    [...store.state.agents.values()].flatMap(({ agentId, holds }) =>
      holds.keys().map((callId) => `${agentId}:${callId}`),
    ),
  ]),
  read_video: whenOpen((run) => {
    const { store, args } = run;
    const [agentId, videoId = '', key = ''] = args;
    const agent = store.state.agents.get(Number(agentId));
    const job =
      videoId === '' ? findVideoByKey(agent, key, timeOf(run)) : findVideo(agent, videoId, timeOf(run));
    if (job === null) return ['NONE', latest(store)];
    const fields = new Map<string, string>();
    const all = videoFields('', job).map(String);
    for (let i = 0; i < all.length; i += 2) fields.set(all[i] ?? '', all[i + 1] ?? '');
    const texts = ['', ':claim', ':submitted', ':end'].map((name) => fields.get(name) ?? '');
    return ['OK', latest(store), ...texts];
  }),
  list_videos: whenOpen(({ store }) => [
    'OK',
    latest(store),
    openVideos(store.state).flatMap((job) => videoFields(`${job.agentId}:${job.videoId}`, job).map(String)),
  ]),
  list_ended: whenOpen(({ store, args: [byMs] }) => {
    const agents = [...store.state.agents.values()];
    const ended = agents.filter(
      ({ lots: [first] }) => first !== undefined && first.expiresAtMs <= Number(byMs),
    );
    return ['OK', ended.map(({ agentId }) => String(agentId))];
  }),

  leftover: ({ store, args: [begin = '-', count] }) => {
    const [epoch = 0, seq = 0] = begin.slice(1).split('-').map(Number);
    const behind = store.outbox.filter(
      (entry) => entry.epoch > epoch || (entry.epoch === epoch && entry.seq > seq),
    );
    // Fewer than were asked for, as a node may answer: what a claim or another worker does between two pages has to occur.
    const page = behind.slice(0, Math.min(Number(count), LEFTOVER_PAGE));
    return [
      'OK',
      page.map(({ epoch, seq, text, atMs }) => [`${epoch}-${seq}`, ['event', text, 'at', String(atMs)]]),
    ];
  },
  lease: ({ store: { meta }, clockMs, keys: [channel], args: [who = '', leaseMs], publish }) => {
    const leftMs = meta.leaseUntilMs - clockMs;
    if (meta.lease !== null && meta.lease !== who && leftMs > 0 && leftMs <= LEASE_MAX_MS) return ['BUSY'];
    if (leaseMs === '0') publish(`${channel}:wake`, 'free');
    meta.lease = who;
    meta.leaseUntilMs = clockMs + Number(leaseMs);
    return ['OK'];
  },
  fence: ({ store: { meta }, args: [epoch] }) => {
    if (meta.epoch === 0 || meta.epoch >= Number(epoch)) return ['NEWER'];
    meta.fence = null;
    return ['OK'];
  },
  claim: ({ store, identity, args: [nonce = ''] }) => {
    const { meta, raw, keys } = store;
    if (meta.fence === identity) return ['OPEN'];
    meta.fence = null;
    meta.claim = nonce;
    meta.claimedBy = identity;
    store.outbox = [];
    raw.delete(keys.keyHashes);
    raw.delete(keys.open);
    raw.delete(keys.ends);
    raw.delete(keys.videos);
    return ['OK', [...(raw.get(keys.agents)?.keys() ?? [])]];
  },
  clear_agent: whenClaimed(({ store: { raw, keys }, args: [, agentId = ''] }) => {
    for (const part of agentKeyNames) raw.delete(keys.agent(Number(agentId), part));
    raw.get(keys.agents)?.delete(agentId);
    return ['OK'];
  }),
  load: whenClaimed(({ store, keys: [, key = ''], args: [, command = '', ...values] }) => {
    fill(store.raw, key, command, values);
    return ['OK'];
  }),
  open: whenClaimed(({ store, identity, clockMs, args: [nonce = '', epoch, seq, lastMs, offset = ''] }) => {
    store.outbox = [];
    Object.assign(store.meta, {
      fence: identity,
      epoch: Number(epoch),
      seq: Number(seq),
      acked: Number(seq),
      // Its time goes on from its last event's, unless a wrong clock has made that one.
      lastMs: Number(lastMs) > clockMs + CLOCK_APART_MAX_MS ? clockMs : Number(lastMs),
      offset,
      nonce,
      outboxBytes: 0,
      openedMs: clockMs,
      claim: null,
      claimedBy: null,
    });
    return ['OK'];
  }),
};

/** Of an open shard; its time never steps back, whatever the node's clock does. */
const timeOf = ({ store, clockMs }: ScriptRun): number => Math.max(clockMs, store.meta.lastMs);

const latest = ({ meta }: ShardStore): string => `${meta.epoch}-${meta.seq}`;

/** Checks, event, change, in one go. */
export function runCommand(run: ScriptRun, command: Command): ScriptReply {
  const { store } = run;
  const { meta } = store;
  const nowMs = timeOf(run);
  const [oldest] = store.outbox;
  const lagMs = oldest === undefined ? 0 : Math.max(0, nowMs - oldest.atMs);
  if (command.type === 'reserve' && (lagMs >= GATE_TIMEOUT_MS || meta.outboxBytes >= OUTBOX_BYTES_MAX)) {
    return ['LAGS'];
  }
  if (command.type === 'settle' && command.cause === 'orphan' && inGrace(run)) {
    if (store.state.agents.get(command.agentId)?.holds.has(command.callId)) return ['NOT_ORPHANED'];
  }
  const decision = decide(store.state, command, nowMs);
  const { result, events } = decision;
  if (command.type === 'reserve') {
    if (!result.ok && result.reason === 'clock_apart') return ['CLOCK_APART'];
    meta.lastMs = nowMs;
  }
  const restsOn = meta.outboxBytes > 0 && !isUntimely(result) ? latest(store) : '';
  let place = command.type === 'expire' || command.type === 'renew' ? '' : latest(store);
  for (const event of events) {
    place = emit(run, JSON.stringify(event), nowMs);
    apply(store.state, event);
  }
  applyUnjournaled(store.state, decision);
  return toReply(command, result, place, lagMs, restsOn);
}

/** What a clock alone decides rests on no event. */
const isUntimely = (result: ResultOf<Command>): boolean =>
  !result.ok &&
  (result.reason === 'clock_apart' || result.reason === 'stale_id' || result.reason === 'not_orphaned');

/** Processes that still run their calls settle them first. */
function inGrace({ store, clockMs }: ScriptRun): boolean {
  const leftMs = store.meta.openedMs + ORPHAN_GRACE_MS - clockMs;
  return leftMs > 0 && leftMs <= ORPHAN_GRACE_MS;
}

function emit({ store, keys: [channel], publish }: ScriptRun, text: string, atMs: number): string {
  const { meta, outbox } = store;
  const seq = meta.seq + 1;
  const last = outbox.at(-1);
  if (last !== undefined && (last.epoch > meta.epoch || (last.epoch === meta.epoch && last.seq >= seq))) {
    throw new Error('ERR The ID specified in XADD is equal or smaller than the target stream top item');
  }
  if (outbox.length === 0) publish(`${channel}:wake`, String(seq));
  outbox.push({ epoch: meta.epoch, seq, text, atMs });
  meta.seq = seq;
  meta.outboxBytes += text.length;
  return latest(store);
}
