import { after, does, type LedgerCase, ok, refused, repeated, START_MS, sees, seesNoAgent } from '../case.ts';
import { grant, moveOut, setAgent } from '../commands.ts';

export const setAgentCases: readonly LedgerCase[] = [
  {
    promise: 'an agent is made with its name, its token and its status',
    rows: [
      does(setAgent({ mode: 'create', name: 'Ada', token: '0xabc', status: 'inactive' }), ok),
      sees(1, { agentId: 1, name: 'Ada', token: '0xabc', status: 'inactive', createdAtMs: START_MS }),
    ],
  },
  {
    promise: 'an agent that exists is not made again, and one that does not is not changed',
    rows: [
      does(setAgent({ mode: 'update' }), refused('unknown_agent')),
      seesNoAgent(1),
      does(setAgent({ mode: 'create' }), ok),
      does(setAgent({ mode: 'create', sourceVersion: 2 }), refused('exists')),
      does(setAgent({ mode: 'create', source: 'launches' }), refused('exists')),
      does(setAgent({ mode: 'update', sourceVersion: 2, status: 'suspended' }), ok),
      sees(1, { status: 'suspended' }),
    ],
  },
  {
    promise: 'an update of the status that arrives late brings no older name or token back',
    rows: [
      does(setAgent({ source: 'launches', name: 'Ada', token: 'ADA' }), ok),
      does(setAgent({ source: 'launches', sourceVersion: 2, name: 'Eve', token: 'EVE' }), ok),
      does(setAgent({ mode: 'update', status: 'suspended', name: 'Ada', token: 'ADA' }), ok),
      sees(1, { name: 'Eve', token: 'EVE', status: 'suspended' }),
    ],
  },
  {
    promise:
      'an agent that only credit, or a refused sale, has made can still be created and keeps its credit',
    rows: [
      does(grant(10n), ok),
      does(moveOut('t1', 1n, { agentId: 2 }), { ok: false, repeated: false, reason: 'unknown_agent' }),
      after(1_000),
      does(setAgent({ mode: 'create', name: 'Ada' }), ok),
      does(setAgent({ mode: 'create', agentId: 2, name: 'Eve' }), ok),
      sees(1, { name: 'Ada', status: 'active', grantedNanoUsd: 10n, createdAtMs: START_MS }),
      sees(2, { name: 'Eve', status: 'active' }),
    ],
  },
  {
    promise: 'what a source said earlier, or the same again, changes nothing',
    rows: [
      does(setAgent({ sourceVersion: 5 }), ok),
      does(setAgent({ sourceVersion: 5, name: 'Eve', status: 'suspended' }), repeated),
      does(setAgent({ sourceVersion: 4, name: 'Eve', status: 'suspended' }), repeated),
      does(setAgent({ sourceVersion: 4, mode: 'create' }), repeated),
      sees(1, { name: 'Ada', status: 'active', version: 1 }),
      does(setAgent({ sourceVersion: 6, name: 'Eve' }), ok),
      sees(1, { name: 'Eve', version: 2 }),
    ],
  },
  {
    promise: 'each source counts its own versions',
    rows: [
      does(setAgent({ source: 'launches', sourceVersion: 900, status: 'inactive' }), ok),
      does(setAgent({ source: 'operator', sourceVersion: 1, status: 'active' }), ok),
      sees(1, { status: 'active' }),
      does(setAgent({ source: 'launches', sourceVersion: 899, status: 'suspended' }), repeated),
      sees(1, { status: 'active' }),
    ],
  },
  {
    promise: 'a suspension wins over any number of sources that say active, until its own source lifts it',
    rows: [
      does(setAgent({ source: 'launches', status: 'active' }), ok),
      does(setAgent({ source: 'operator', status: 'suspended' }), ok),
      does(setAgent({ source: 'abuse', status: 'active' }), ok),
      does(setAgent({ source: 'launches', sourceVersion: 2, status: 'active' }), ok),
      sees(1, { status: 'suspended' }),
      does(setAgent({ source: 'operator', sourceVersion: 2, status: 'inactive' }), ok),
      sees(1, { status: 'active' }),
    ],
  },
  {
    promise: 'one source that says active is enough',
    rows: [
      does(setAgent({ source: 'launches', status: 'inactive' }), ok),
      sees(1, { status: 'inactive' }),
      does(setAgent({ source: 'operator', status: 'active' }), ok),
      sees(1, { status: 'active' }),
    ],
  },
];
