import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { findKey } from '#core/ledger/machine/agent-queries.ts';
import { AgentSnapshotError, deserializeAgent, serializeAgent } from '#core/ledger/machine/agent-snapshot.ts';
import { addAgent, emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { charged, day, does, ok, START_MS } from './case.ts';
import {
  agentWith,
  finish,
  grant,
  moveIn,
  moveOut,
  putKey,
  renew,
  reserve,
  revokeKey,
  settle,
  startUpload,
} from './commands.ts';

/** An agent that has some of everything. */
async function busyAgent(): Promise<AgentState> {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const world = { ledger, clock, callIds: new Map() };
  const limit = { limitNanoUsd: 50n, reset: 'monthly' } as const;
  for (const row of [
    ...agentWith(100n),
    does(grant(10n, { grantId: 'soon', expiresAtMs: day(2) }), ok),
    does(putKey(2, { actingKeyId: 1, madeOverMcp: true, limit }), ok),
    does(putKey(3), ok),
    does(revokeKey(3), ok),
    does(reserve(1, 20n, { keyId: 2 }), ok),
    does(renew(1, { generationId: 'gen-1' }), { ok: true }),
    does(reserve(2, 20n), ok),
    does(finish(2), ok),
    does(reserve(3, 20n, { kind: 'video' }), ok),
    does(reserve(4, 20n), ok),
    does(settle(4, 7n), charged(7n)),
    does(moveOut('t1', 5n), ok),
    does(moveIn('t2', 6n), { ok: true, repeated: false, expiredNanoUsd: 0n }),
    does(startUpload('upl_1'), ok),
    does(startUpload('upl_2'), ok),
    does(moveOut('t3', 999n), { ok: false, repeated: false, reason: 'balance' }),
  ]) {
    await row(world);
  }
  const agent = ledger.state.agents.get(1);
  if (agent === undefined) throw new Error('no agent');
  return agent;
}

describe('the snapshot of an agent', () => {
  let agent: AgentState;
  let text: string;

  beforeAll(async () => {
    agent = await busyAgent();
    text = serializeAgent(agent);
  });

  test('reads back as the agent, to the last slot and counter', () => {
    expect(deserializeAgent(text)).toStrictEqual(agent);
  });

  test('says of no key that it has changed since the snapshot', () => {
    const { version, keys, keyVersions } = deserializeAgent(text);
    expect([...keys.keys()].map((keyId) => keyVersions.of(keyId))).toEqual([version, version, version]);
  });

  test('is one line', () => {
    expect(text).not.toContain('\n');
  });

  test('gives its keys back to the ledger that it is put into', () => {
    const state = emptyLedger();
    addAgent(state, deserializeAgent(text));
    expect(findKey(state, ['hash-2'])).toEqual({
      found: true,
      agentId: 1,
      keyId: 2,
      revoked: false,
      agentStatus: 'active',
    });
    expect(findKey(state, ['hash-3'])).toMatchObject({ revoked: true });
  });

  test('is refused when any one character of it is another', () => {
    for (let i = 0; i < text.length; i++) {
      const other = text[i] === '7' ? '8' : '7';
      const damaged = `${text.slice(0, i)}${other}${text.slice(i + 1)}`;
      expect(() => deserializeAgent(damaged), `character ${i}`).toThrow(AgentSnapshotError);
    }
  });

  test('is refused when it is cut anywhere', () => {
    for (let length = 0; length < text.length; length += 7) {
      expect(() => deserializeAgent(text.slice(0, length))).toThrow(AgentSnapshotError);
    }
  });

  test('is refused when it is of another version, or no snapshot at all', () => {
    for (const other of [
      text.replace('{"v":1', '{"v":2'),
      '{}',
      'null',
      '[]',
      '"text"',
      '{"v":1,"agent":{}}',
    ]) {
      expect(() => deserializeAgent(other)).toThrow(AgentSnapshotError);
    }
  });

  test.each(['holds', 'leases', 'keys', 'uploads'])(
    'is refused when one of its %s stands in it twice, though its checksum is right',
    (list) => {
      const { v, agent: whole } = JSON.parse(serializeAgent(agent));
      const twice = { ...whole, [list]: [...whole[list], whole[list][0]] };
      const text = JSON.stringify({ v, crc32: crc32(JSON.stringify(twice)), agent: twice });
      expect(() => deserializeAgent(text)).toThrow(/twice/);
    },
  );

  test('of a release that knew no uploads is read as of an agent without any, which is still written so', () => {
    const none = serializeAgent({ ...agent, uploads: new Map() });
    expect(none).not.toContain('uploads');
    expect(deserializeAgent(none)).toStrictEqual({ ...agent, uploads: new Map() });
  });

  test('is refused when its sums do not add up, though its checksum does', () => {
    const wrong = serializeAgent({ ...agent, grantedNanoUsd: agent.grantedNanoUsd + 1n });
    expect(() => deserializeAgent(wrong)).toThrow(/granted and moved in/);
  });
});
