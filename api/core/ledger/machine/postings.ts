import type { LedgerEvent } from '../../events/ledger-event.ts';
import { minBigint, type NanoUsd } from '../../money.ts';
import type { AgentState, Hold, LedgerState } from './state.ts';

/** An amount that left one account of an agent and entered another, so that all postings sum to zero. */
export interface Posting {
  from: string;
  to: string;
  nanoUsd: NanoUsd;
}

/** Credit by the end of its lot, in milliseconds: `free:1795824000000`. */
const free = (expiresAtMs: number): string => `free:${expiresAtMs}`;
const held = (expiresAtMs: number): string => `held:${expiresAtMs}`;

/** What the event moved; nothing for one that is not about money. `state` is the ledger before it. */
export function postingsOf(state: LedgerState, event: LedgerEvent): Posting[] {
  switch (event.type) {
    case 'granted':
      return [{ from: 'granted', to: free(event.expiresAtMs), nanoUsd: BigInt(event.nanoUsd) }];
    case 'reserved':
      return event.allocations.map(({ expiresAtMs, nanoUsd }) => ({
        from: free(expiresAtMs),
        to: held(expiresAtMs),
        nanoUsd: BigInt(nanoUsd),
      }));
    case 'settled': {
      const hold = state.agents.get(event.agentId)?.holds.get(event.callId);
      return hold === undefined ? [] : settled(hold, BigInt(event.chargedNanoUsd));
    }
    case 'expired':
    case 'moved_out':
      return event.lots.map((lot) => ({
        from: free(lot.expiresAtMs),
        to: event.type === 'expired' ? 'expired' : 'moved',
        nanoUsd: BigInt(lot.nanoUsd),
      }));
    case 'moved_in': {
      const expired = BigInt(event.expiredNanoUsd);
      return [
        { from: 'moved', to: free(event.expiresAtMs), nanoUsd: BigInt(event.nanoUsd) - expired },
        { from: 'moved', to: 'expired', nanoUsd: expired },
      ].filter(({ nanoUsd }) => nanoUsd > 0n);
    }
    case 'renewed':
    case 'finished':
    case 'move_refused':
    case 'key_put':
    case 'key_revoked':
    case 'upload_started':
    case 'video_claimed':
    case 'video_submitted':
    case 'video_withdrawn':
    case 'agent_set':
      return [];
    default:
      return event satisfies never;
  }
}

/** All that was ever moved for an agent, summed up: where its books begin anew. */
export function openingPostings(agent: AgentState): Posting[] {
  const from = [
    { account: 'granted', nanoUsd: agent.grantedNanoUsd },
    { account: 'moved', nanoUsd: agent.movedInNanoUsd },
  ];
  const to = [
    ...agent.lots.flatMap(({ expiresAtMs, freeNanoUsd, heldNanoUsd }) => [
      { account: free(expiresAtMs), nanoUsd: freeNanoUsd },
      { account: held(expiresAtMs), nanoUsd: heldNanoUsd },
    ]),
    { account: 'charged', nanoUsd: agent.chargedNanoUsd },
    { account: 'expired', nanoUsd: agent.expiredNanoUsd },
    { account: 'moved', nanoUsd: agent.movedOutNanoUsd },
  ];
  const postings: Posting[] = [];
  for (const target of to) {
    let left = target.nanoUsd;
    for (const source of from) {
      const nanoUsd = minBigint(left, source.nanoUsd);
      left -= nanoUsd;
      source.nanoUsd -= nanoUsd;
      if (nanoUsd > 0n) postings.push({ from: source.account, to: target.account, nanoUsd });
    }
  }
  return postings;
}

/** The charge takes what ends soonest; the rest goes back to its lot. */
function settled(hold: Hold, chargedNanoUsd: NanoUsd): Posting[] {
  let left = chargedNanoUsd;
  return hold.allocations.flatMap(({ expiresAtMs, nanoUsd }) => {
    const taken = minBigint(left, nanoUsd);
    left -= taken;
    const from = held(expiresAtMs);
    return [
      { from, to: 'charged', nanoUsd: taken },
      { from, to: free(expiresAtMs), nanoUsd: nanoUsd - taken },
    ].filter((posting) => posting.nanoUsd > 0n);
  });
}
