import { isRecord } from '../is-record.ts';
import type { AgentState } from '../ledger/machine/state.ts';

/**
 * Where two records of one agent differ, as paths with both values where those are numbers or amounts; of texts, which may
 * be somebody's words or a hash, only the path. Slots are left out, and what only makes repeated commands known: the one is
 * not journaled, the other leaves each store at its own pace.
 */
export function compareAgents(one: AgentState, other: AgentState): string[] {
  return differences(comparable(one), comparable(other), '');
}

function comparable(agent: AgentState): unknown {
  const {
    leases: _,
    done,
    givenUp,
    keyVersions,
    grants,
    trades,
    mcpKeysMadeAtMs,
    uploads,
    prunedAtMs,
    ...rest
  } = agent;
  return {
    ...rest,
    statusBySource: Object.fromEntries([...rest.statusBySource].toSorted()),
    holds: Object.fromEntries(rest.holds),
    keys: Object.fromEntries(rest.keys),
    lots: Object.fromEntries(rest.lots.map((lot) => [lot.expiresAtMs, lot])),
  };
}

function differences(one: unknown, other: unknown, path: string): string[] {
  if (isRecord(one) && isRecord(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].flatMap((name) =>
      differences(one[name], other[name], path === '' ? name : `${path}.${name}`),
    );
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    const places = Array.from({ length: Math.max(one.length, other.length) }, (_, place) => place);
    return places.flatMap((place) => differences(one[place], other[place], `${path}[${place}]`));
  }
  if (one === other) return [];
  return [isNumber(one) && isNumber(other) ? `${path} is ${one} and ${other}` : `${path} differs`];
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';
