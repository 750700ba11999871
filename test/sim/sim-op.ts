import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { shardOfKeyHash } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { newestVersion } from '#core/ledger/machine/key-versions.ts';
import { pick } from '../ledger/history/random.ts';
import { UPLOADS_PER_DAY } from './oracle-agent.ts';
import type { SimHost } from './sim-host.ts';
import type { SimWorld } from './sim-world.ts';

export type OpKind =
  | 'grant'
  | 'move'
  | 'put_key'
  | 'change_key'
  | 'revoke_key'
  | 'start_upload'
  | 'set_agent';

/** Something that is no call, asked for by a feed or an operator: carried on until it is answered, by whoever lives. */
export class SimOp {
  readonly kind: OpKind;
  readonly commands: readonly Command[];
  readonly bornAtMs: number;
  done = false;
  /** A refusal that ends it. */
  refusal: string | null = null;
  host: SimHost | null = null;
  /** Its caller was told that nobody knows, and does not ask again. */
  gaveUpAtMs: number | null = null;
  /** Asked for once. */
  impatient = false;

  constructor(kind: OpKind, commands: readonly Command[], bornAtMs: number) {
    this.kind = kind;
    this.commands = commands;
    this.bornAtMs = bornAtMs;
  }

  /** In a process; where that dies, another one begins anew, with the same ids. */
  async performIn(host: SimHost, onRead = () => {}): Promise<void> {
    const { world } = host;
    this.host = host;
    for (const command of this.commands) {
      for (;;) {
        const read = await readFor(host, command);
        onRead();
        const result = read === 'unavailable' ? UNAVAILABLE : await executeDurably(host.ledger, read);
        if (this.done) return;
        if (result.ok) break;
        if (this.impatient) {
          world.count(`gave up ${command.type}`);
          this.gaveUpAtMs = world.time.nowMs;
          this.refusal = result.reason;
          this.done = true;
          return;
        }
        if (isFinal(command, result.reason)) {
          world.count(`${command.type} ${result.reason}`);
          this.refusal = result.reason;
          this.done = true;
          return;
        }
        world.count(`${command.type} tried again: ${result.reason}`);
        await host.sleep(100 + world.draw(900));
      }
    }
    this.done = true;
    world.onOpDone(this);
  }
}

const UNAVAILABLE = { ok: false, reason: 'unavailable' } as const;

/** As `core/accounts` does: a change of a key rests on what was read of it. */
async function readFor({ ledger }: SimHost, command: Command): Promise<Command | 'unavailable'> {
  if (!('readVersion' in command)) return command;
  const agent = await ledger.readAgent(command.agentId);
  if (agent === 'unavailable') return agent;
  const keys = agent?.keys ?? [];
  const readVersion =
    command.type === 'put_key'
      ? newestVersion(keys.map(({ version }) => version))
      : (keys.find(({ keyId }) => keyId === command.keyId)?.version ?? 0);
  return { ...command, readVersion };
}

/** A refused sale is an event: what it says stands, whoever says it. */
const isFinal = ({ type }: Command, reason: string): boolean =>
  type === 'move_out' ? reason !== 'unavailable' : ENDS.has(reason);

/** Others are a stale or a wrongly timed node's word, and a later one's is different. */
const ENDS: ReadonlySet<string> = new Set([
  'lot_ended',
  'acting_key_revoked',
  'too_many_active_keys',
  'key_revoked',
  'agent_suspended',
  'balance',
  'uploads_per_day',
]);

const UNIT_NANO_USD = 1_000_003n;

export function drawOp(world: SimWorld, kind: OpKind, agentId: number): SimOp | null {
  const { draw } = world;
  switch (kind) {
    case 'grant':
      return grantOp(world, agentId, BigInt(1 + draw(60)) * UNIT_NANO_USD, 1 + draw(3));
    case 'move':
      return moveOp(world, agentId);
    case 'put_key':
      return keyOp(world, agentId, draw(4) === 0);
    case 'change_key':
      return changeOp(world, agentId);
    case 'start_upload': {
      const uploadId = `upl_${world.nextId()}`;
      const limits = { uploadsPerDay: UPLOADS_PER_DAY };
      return opOf(world, kind, [{ type: kind, agentId, uploadId, limits }]);
    }
    case 'revoke_key': {
      const [first, ...others] = world.keysOf(agentId);
      // One stays, so that there are calls to come.
      if (first === undefined || others.length === 0) return null;
      return opOf(world, kind, [
        { type: 'revoke_key', readVersion: null, agentId, keyId: first, actingKeyId: null },
      ]);
    }
    case 'set_agent':
      return statusOp(world, agentId, draw(5) === 0 ? 'suspended' : 'active');
    default:
      return kind satisfies never;
  }
}

const opOf = ({ time }: SimWorld, kind: OpKind, commands: Command[]): SimOp =>
  new SimOp(kind, commands, time.nowMs);

const lotOf = ({ time }: SimWorld, days: number): number => startOfDayMs(time.nowMs) + days * DAY_MS;

export function grantOp(world: SimWorld, agentId: number, nanoUsd: bigint, days: number): SimOp {
  const expiresAtMs = lotOf(world, days);
  const grantId = `grant-${world.nextId()}`;
  return opOf(world, 'grant', [{ type: 'grant', agentId, grantId, expiresAtMs, nanoUsd }]);
}

function moveOp(world: SimWorld, agentId: number): SimOp {
  const { draw } = world;
  const buyer = pick(
    draw,
    world.agentIds.filter((each) => each !== agentId),
  );
  const nanoUsd = BigInt(1 + draw(30)) * UNIT_NANO_USD;
  const trade = { tradeId: `move-${world.nextId()}`, expiresAtMs: lotOf(world, 1 + draw(3)), nanoUsd };
  return opOf(world, 'move', [
    { type: 'move_out', agentId, buyerAgentId: buyer, ...trade },
    { type: 'move_in', agentId: buyer, ...trade },
  ]);
}

export function keyOp(world: SimWorld, agentId: number, limited: boolean): SimOp {
  const keyId = world.nextId();
  const reset = pick(world.draw, ['daily', 'weekly'] as const);
  const command: Command = {
    type: 'put_key',
    readVersion: null,
    agentId,
    keyId,
    label: `key ${keyId}`,
    prefix: 'fg_simulated',
    hash: world.hashOf(keyId, agentId),
    limit: limited ? { limitNanoUsd: 40n * UNIT_NANO_USD, reset } : null,
    actingKeyId: null,
    madeOverMcp: false,
    limits: { activeKeys: 100, mcpKeysPerDay: 100 },
  };
  return opOf(world, 'put_key', [command]);
}

function changeOp(world: SimWorld, agentId: number): SimOp | null {
  const keys = world.keysOf(agentId);
  return keys.length === 0 ? null : changeOfKey(world, agentId, pick(world.draw, keys));
}

export function changeOfKey(world: SimWorld, agentId: number, keyId: number): SimOp {
  const { draw } = world;
  const limit = {
    limitNanoUsd: BigInt(20 + draw(60)) * UNIT_NANO_USD,
    reset: pick(draw, ['daily', 'weekly'] as const),
  };
  const command: Command = {
    type: 'change_key',
    readVersion: null,
    agentId,
    keyId,
    label: `key ${keyId}, ${world.nextId()}`,
    limit: pick(draw, ['keep', null, limit]),
    actingKeyId: null,
  };
  return opOf(world, 'change_key', [command]);
}

export function statusOp(world: SimWorld, agentId: number, status: 'active' | 'suspended'): SimOp {
  const source = pick(world.draw, ['dex', 'operator']);
  const sourceVersion = world.nextId();
  const name = `agent ${agentId}`;
  const command = { type: 'set_agent', mode: 'upsert', agentId, source, sourceVersion } as const;
  return opOf(world, 'set_agent', [{ ...command, status, name, token: null }]);
}

/** As keys are drawn: until it falls into its agent's shard. */
export function hashOf(keyId: number, agentId: number, shards: number): string {
  for (let salt = 0; ; salt++) {
    const hash = `hash-${keyId}-${salt}`;
    if (shardOfKeyHash(hash, shards) === agentId % shards) return hash;
  }
}
