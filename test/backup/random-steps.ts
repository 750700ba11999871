import { HOUR_MS } from '#core/clock.ts';
import type { Command } from '#core/ledger/command.ts';
import { callIdAt, type World } from '../ledger/case.ts';
import { finish, reserve, settle } from '../ledger/commands.ts';
import type { Draw } from '../ledger/history/random.ts';
import { randomCommand } from '../ledger/random-command.ts';
import { ownKey } from './small-gateway.ts';

/**
 * Commands of any kind, half of them calls by keys that are never revoked, most of which end; the clock goes on before
 * each. The agents have been opened.
 */
export function createSteps(random: Draw, world: World): () => Command {
  const open: { agentId: number; callId: number }[] = [];
  function callStep(): Command {
    const call = open[random(12)];
    if (call !== undefined) {
      if (random(2) === 0) return finish(0, call)(world);
      open.splice(open.indexOf(call), 1);
      return settle(0, BigInt(random(30)), call)(world);
    }
    const started = { agentId: 1 + random(3), callId: callIdAt(world.clock.now(), random(4096)) };
    open.push(started);
    return reserve(0, BigInt(random(30)), { ...started, keyId: ownKey(started.agentId) })(world);
  }
  return () => {
    const { clock } = world;
    clock.set(clock.now() + random(10_000));
    if (random(60) === 0) clock.set(clock.now() + random(24) * HOUR_MS);
    return random(2) === 0 ? callStep() : randomCommand(random, world);
  };
}
