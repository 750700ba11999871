import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { hashApiKey, type Pepper } from '#core/accounts/api-key.ts';
import { createAgent } from '#core/accounts/create-agent.ts';
import { createKey } from '#core/accounts/create-key.ts';
import { grantCredit } from '#core/accounts/grant-credit.ts';
import { readPrivateFile, writePrivateFile } from '#core/accounts/private-file.ts';
import type { AuditLine, AuditLog, AuditSubject } from '#core/audit-log/audit-log.ts';
import type { Clock } from '#core/clock.ts';
import type { IdSource } from '#core/ids.ts';
import { JournalError } from '#core/ledger/embedded/journal-errors.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { defaultLimits, GRANT_DAYS_MAX } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import type { Secret } from '#core/secret.ts';
import type { DemoMode } from '../config/config.ts';
import { shapeBalance } from '../contract/balance.ts';

/** The addresses that `demo.json` tells, and the token of the admin API. */
export interface DemoAddresses {
  /** Ends in `/v1`. */
  baseUrl: string;
  mcpUrl: string;
  /** Ends in `/admin`. */
  adminUrl: string;
  adminToken: Secret;
}

export interface DemoOptions extends DemoAddresses {
  ledger: Ledger;
  audit: Pick<AuditLog, 'write'>;
  ids: IdSource;
  clock: Clock;
  /** The one that new keys are hashed with. */
  pepper: Pepper;
  dataDir: string;
}

export interface Demo {
  agentId: number;
  /** `demo.json`. */
  file: string;
  /** `lost`: no file holds the key, or the file's key is of another ledger. */
  key: 'usable' | 'revoked' | 'lost';
  status: AgentStatus;
  spendableUsd: string;
}

export const DEMO_FILE = 'demo.json';
const NAME = 'demo';
/** Tells the demo's agent from any other agent that is named demo. */
const SOURCE = 'demo';
const CREDIT_NANO_USD = 5_000_000_000n;
/** The balance is read for the agent, not for one key's limit. */
const NO_KEY = -1;

const demoFile = z.looseObject({ agent_id: z.int(), key: z.string() });

/**
 * An agent to try things with, or `null` where none is made. It is made once in a ledger's life, with one key and $5. The ledger
 * decides that, not `demo.json`: a deleted file brings neither new credit nor a new key, and a revoked key stays revoked. A crash
 * at any step is repaired by the next start, because the key is written to the file before the ledger hears of it.
 * Throws when the ledger or the audit log does not answer.
 */
export async function ensureDemo(options: DemoOptions, mode: DemoMode): Promise<Demo | null> {
  const file = join(options.dataDir, DEMO_FILE);
  // Ports change, whoever starts the gateway: the operator's command reads them here.
  refreshDemoFile(file, options);
  if (mode === 'off') return null;
  const agentId = await makeDemo(options, mode, file);
  if (agentId === null) return null;
  const view = await readAgent(options.ledger, agentId);
  return {
    agentId,
    file,
    key: await stateOfKey(options, agentId, file),
    status: view.status,
    spendableUsd: shapeBalance(view, NO_KEY, options.clock.now()).spendable_usd,
  };
}

type DemoFile = z.infer<typeof demoFile>;

/** `null` when there is no file, or none that this release can read. */
function readDemoFile(file: string): DemoFile | null {
  const text = readPrivateFile(file);
  if (text === null) return null;
  try {
    return demoFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Tells today's addresses. Agent and key stay as they are. */
function refreshDemoFile(file: string, addresses: DemoAddresses): void {
  const written = readDemoFile(file);
  if (written !== null) writeDemoFile(file, addresses, written);
}

function writeDemoFile(file: string, addresses: DemoAddresses, { agent_id, key }: DemoFile): void {
  const content = {
    base_url: addresses.baseUrl,
    mcp_url: addresses.mcpUrl,
    agent_id,
    key,
    admin_url: addresses.adminUrl,
    admin_token: addresses.adminToken.reveal(),
  };
  writePrivateFile(file, `${JSON.stringify(content, null, 2)}\n`);
}

async function stateOfKey(
  { ledger, pepper }: DemoOptions,
  agentId: number,
  file: string,
): Promise<Demo['key']> {
  const written = readDemoFile(file);
  if (written === null) return 'lost';
  const owner = await ledger.findKey([hashApiKey(written.key, pepper)]);
  if (owner === 'unavailable') throw unavailable();
  if (!owner.found || owner.agentId !== agentId) return 'lost';
  return owner.revoked ? 'revoked' : 'usable';
}

/** Does what is missing of agent, credit and key. Resolves with the agent's id, or `null` where no demo agent is wanted. */
async function makeDemo(
  options: DemoOptions,
  mode: Exclude<DemoMode, 'off'>,
  file: string,
): Promise<number | null> {
  const { ledger } = options;
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') throw unavailable();
  const existing = await findDemoAgent(ledger, agents);
  // A ledger that knows other agents is somebody's real one.
  if (existing === null && mode === 'first-start' && agents.length > 0) return null;
  const agent = existing ?? (await makeAgent(options));
  if (agent.grantedNanoUsd === 0n) await grantDemoCredit(options, agent.agentId);
  const hasHadKey = agent.keys.some(({ label, createdByKeyId }) => label === NAME && createdByKeyId === null);
  if (!hasHadKey) await makeKey(options, agent.agentId, file);
  return agent.agentId;
}

async function findDemoAgent(
  ledger: Ledger,
  agents: readonly { agentId: number; name: string }[],
): Promise<AgentView | null> {
  for (const { agentId, name } of agents) {
    if (name !== NAME) continue;
    const view = await readAgent(ledger, agentId);
    if (view.statusBySource.some(({ source }) => source === SOURCE)) return view;
  }
  return null;
}

async function makeAgent(options: DemoOptions): Promise<AgentView> {
  const subject = { name: NAME, status: 'active' };
  const agentId = await audited(options, { action: 'agents.create', subject }, async () => {
    const made = await createAgent(options, { name: NAME, status: 'active', source: SOURCE });
    return made.ok ? { value: made.agentId, subject: { id: made.agentId } } : null;
  });
  return readAgent(options.ledger, agentId);
}

async function grantDemoCredit(options: DemoOptions, agentId: number): Promise<void> {
  const days = GRANT_DAYS_MAX;
  const subject = { agent_id: agentId, usd: formatUsd(CREDIT_NANO_USD), days, grant_id: NAME };
  await audited(options, { action: 'credit.grant', subject }, async () => {
    const granted = await grantCredit(options, { agentId, nanoUsd: CREDIT_NANO_USD, days, grantId: NAME });
    return granted.ok ? { value: null, subject: { repeated: granted.repeated } } : null;
  });
}

async function makeKey(options: DemoOptions, agentId: number, file: string): Promise<void> {
  const { ledger, ids, pepper } = options;
  // A start must not fail because somebody gave the demo agent ten keys of their own.
  const limits = { ...defaultLimits, activeKeys: Number.POSITIVE_INFINITY };
  const subject = { agent_id: agentId, label: NAME, spending_limit: 'none' };
  await audited(options, { action: 'keys.create', subject }, async () => {
    const made = await createKey(
      { ledger, ids, pepper, onDrawn: (key) => writeDemoFile(file, options, { agent_id: agentId, key }) },
      { agentId, label: NAME, limit: null, limits, actingKeyId: null },
    );
    return made.ok ? { value: null, subject: { id: made.keyId } } : null;
  });
}

interface Done<T> {
  value: T;
  /** The second line names the new key, the first line only the agent. */
  subject: AuditSubject;
}

/** The two lines that the admin API writes for such a change. `work` resolves with `null` when the ledger does not answer. */
async function audited<T>(
  { audit, ids, clock }: DemoOptions,
  { action, subject }: Pick<AuditLine, 'action' | 'subject'>,
  work: () => Promise<Done<T> | null>,
): Promise<T> {
  const act = { id: ids.next(), operator: 'gateway start', address: hostname(), action };
  await audit.write({ ...act, atMs: clock.now(), subject, result: 'started' });
  const done = await work();
  const result = done === null ? 'service_unavailable' : 'ok';
  await audit.write({ ...act, atMs: clock.now(), subject: { ...subject, ...done?.subject }, result });
  if (done === null) throw unavailable();
  return done.value;
}

async function readAgent(ledger: Ledger, agentId: number): Promise<AgentView> {
  const view = await ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') throw unavailable();
  return view;
}

const unavailable = (): JournalError =>
  new JournalError('the demo agent could not be prepared, because the ledger does not answer');
