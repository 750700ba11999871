import { deflateSync, inflateSync } from 'node:zlib';
import type { Client } from 'cassandra-driver';
import { z } from 'zod';
import { placeTimestamp } from '../../drivers/cassandra-timestamp.ts';
import { limitTasks } from '../../limit-tasks.ts';
import { AgentSnapshotError, deserializeAgent, serializeAgent } from '../machine/agent-snapshot.ts';
import type { AgentState } from '../machine/state.ts';
import type { AgentStates } from './agent-states.ts';
import type { LogPosition } from './effective-log.ts';

/**
 * Copies in Cassandra. An agent is one row of its shard; what is longer than a piece, a busy hour or many trades, goes on
 * in a table of its own under the copy's seq, because no size of an agent is certain and a mutation has one.
 */
export function createCassandraAgentStates(client: Client): AgentStates {
  const inTurn = limitTasks(WRITES_AT_ONCE);

  return {
    async readCheckpoint(shard) {
      const [row] = (await client.execute(READ_CHECKPOINT, [shard])).rows;
      if (row === undefined) return null;
      const { epoch, nonce, seq, log_offset, last_at_ms } = checkpointRow.parse(row);
      const position = { epoch: Number(epoch), nonce, seq: Number(seq) };
      return { position, offset: log_offset, lastAtMs: Number(last_at_ms) };
    },
    async readAgents(shard, onAgent) {
      const pages = await client.execute(READ_AGENTS, [shard], { fetchSize: PAGE_ROWS });
      for await (const each of pages) {
        const row = agentRow.parse(each);
        onAgent((await readState(client, row)) ?? (await readWhole(client, shard, row)));
      }
    },
    async writeAgents(shard, at, agents) {
      const groups = groupsOf(agents);
      const writer = async () => {
        for (const group of groups) {
          const [first] = group;
          if (first === undefined) continue;
          await inTurn(() =>
            first.pieces.length > 1
              ? writePieces(client, shard, at, first)
              : writeRows(client, shard, at, group),
          );
        }
      };
      await Promise.all(Array.from({ length: WRITES_AT_ONCE }, writer));
    },
    async writeCheckpoint(shard, { position: { epoch, nonce, seq }, offset, lastAtMs }) {
      const at = placeTimestamp(epoch, seq);
      const values = [shard, BigInt(epoch), nonce, BigInt(seq), offset, BigInt(lastAtMs), at];
      await client.execute(PUT_CHECKPOINT, values);
    },
  };
}

async function readState(client: Client, row: AgentRow): Promise<AgentState | null> {
  const parts = [row.state];
  if (row.pieces > 1) {
    const pages = await client.execute(READ_PIECES, [row.agent_id, row.seq], { fetchSize: PAGE_ROWS });
    for await (const each of pages) parts.push(stateOf.parse(each.get('state')));
    if (parts.length !== row.pieces) return null;
  }
  return deserializeAgent(inflateSync(Buffer.concat(parts)).toString('utf8'));
}

/** A copy whose pieces have gone has been replaced since its row was read. */
async function readWhole(client: Client, shard: number, row: AgentRow): Promise<AgentState> {
  for (let tries = 0; tries < REREADS_MAX; tries++) {
    const { rows } = await client.execute(READ_AGENT, [shard, row.agent_id]);
    const state = await readState(client, agentRow.parse(rows[0]));
    if (state !== null) return state;
  }
  throw new AgentSnapshotError(`agent ${row.agent_id} lacks some of its pieces`);
}

/** Whole agents: their rows share a partition, so that a batch of them is one mutation. */
async function writeRows(
  client: Client,
  shard: number,
  { epoch, seq }: LogPosition,
  copies: readonly Copy[],
): Promise<void> {
  const at = placeTimestamp(epoch, seq);
  const statements = copies.map(({ agentId, pieces: [first] }) => ({
    query: PUT_AGENT,
    params: [shard, agentId, BigInt(epoch), BigInt(seq), 1, first, at],
  }));
  await client.batch(statements, { prepare: true, logged: false });
}

async function writePieces(
  client: Client,
  shard: number,
  place: LogPosition,
  { agentId, pieces }: Copy,
): Promise<void> {
  const at = placeTimestamp(place.epoch, place.seq);
  const seq = BigInt(place.seq);
  const [first, ...others] = pieces;
  // Before the row that names them.
  for (const [i, piece] of others.entries())
    await client.execute(PUT_PIECE, [agentId, seq, i + 1, piece, at]);
  await client.execute(PUT_AGENT, [shard, agentId, BigInt(place.epoch), seq, pieces.length, first, at]);
  // The only deletion there is: of pieces that nothing names any more.
  await client.execute(DROP_PIECES, [at, agentId, seq]);
}

interface Copy {
  agentId: bigint;
  pieces: Buffer[];
}

function toCopy(agent: AgentState): Copy {
  const bytes = deflateSync(serializeAgent(agent), { level: 1 });
  const count = Math.ceil(bytes.length / PIECE_BYTES);
  const pieces = Array.from({ length: count }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
  return { agentId: BigInt(agent.agentId), pieces };
}

/** Agents that fit into a piece together; one that does not by itself alone. Made when they are asked for. */
function* groupsOf(agents: readonly AgentState[]): Generator<Copy[]> {
  let group: Copy[] = [];
  let bytes = 0;
  for (const agent of agents) {
    const copy = toCopy(agent);
    const length = copy.pieces[0]?.length ?? 0;
    if (copy.pieces.length > 1) {
      yield [copy];
      continue;
    }
    if (bytes + length > PIECE_BYTES) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(copy);
    bytes += length;
  }
  yield group;
}

/** Small enough for a page of rows to be one answer. */
const PIECE_BYTES = 64 * 1024;
const PAGE_ROWS = 64;
const WRITES_AT_ONCE = 16;
const REREADS_MAX = 5;

const PUT_AGENT = `
  INSERT INTO agent_state (shard, agent_id, epoch, seq, pieces, state) VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ?`;
const PUT_PIECE =
  'INSERT INTO agent_state_pieces (agent_id, seq, piece, state) VALUES (?, ?, ?, ?) USING TIMESTAMP ?';
const DROP_PIECES = 'DELETE FROM agent_state_pieces USING TIMESTAMP ? WHERE agent_id = ? AND seq < ?';
const READ_AGENTS = 'SELECT agent_id, seq, pieces, state FROM agent_state WHERE shard = ?';
const READ_AGENT = `${READ_AGENTS} AND agent_id = ?`;
const READ_PIECES = 'SELECT state FROM agent_state_pieces WHERE agent_id = ? AND seq = ?';
/** Of two at one place Cassandra keeps the greater value, which is the offset that is further. */
const PUT_CHECKPOINT = `
  INSERT INTO shard_ckpt (shard, epoch, nonce, seq, log_offset, last_at_ms) VALUES (?, ?, ?, ?, ?, ?)
  USING TIMESTAMP ?`;
const READ_CHECKPOINT = 'SELECT epoch, nonce, seq, log_offset, last_at_ms FROM shard_ckpt WHERE shard = ?';

const stateOf = z.instanceof(Buffer);
const agentRow = z.object({ agent_id: z.bigint(), seq: z.bigint(), pieces: z.int(), state: stateOf });
type AgentRow = z.infer<typeof agentRow>;
const checkpointRow = z.object({
  epoch: z.bigint(),
  nonce: z.string(),
  seq: z.bigint(),
  log_offset: z.bigint(),
  last_at_ms: z.bigint(),
});
