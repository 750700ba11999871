import { join, relative } from 'node:path';
import { z } from 'zod';
import { hashApiKey, type Pepper } from '#core/accounts/api-key.ts';
import { createAgent } from '#core/accounts/create-agent.ts';
import { createKey } from '#core/accounts/create-key.ts';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { grantCredit } from '#core/accounts/grant-credit.ts';
import { readPrivateFile, writePrivateFile } from '#core/accounts/private-file.ts';
import type { Model } from '#core/catalog/catalog.ts';
import type { Clock } from '#core/clock.ts';
import type { IdSource } from '#core/ids.ts';
import { JournalError } from '#core/ledger/journal-errors.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import type { AgentStatus } from '#core/ledger/state.ts';
import { defaultLimits, GRANT_DAYS_MAX } from '#core/limits.ts';
import type { Secret } from '#core/secret.ts';
import { shapeBalance } from './contract/balance.ts';
import { smallModelId } from './simulator/models.ts';

export interface DemoOptions {
  ledger: Ledger;
  ids: IdSource;
  clock: Clock;
  /** The one that new keys are hashed with. */
  pepper: Pepper;
  dataDir: string;
  /** Ends in `/v1`. */
  baseUrl: string;
  mcpUrl: string;
  /** Ends in `/admin`. */
  adminUrl: string;
  adminToken: Secret;
}

export interface Demo {
  baseUrl: string;
  mcpUrl: string;
  adminUrl: string;
  agentId: number;
  key: string;
  /** `demo.json`, where all of this stands. */
  file: string;
  status: AgentStatus;
  spendableUsd: string;
}

export const DEMO_FILE = 'demo.json';
const NAME = 'demo';
/** Tells the demo's agent from any other that somebody has named demo. */
const SOURCE = 'demo';
const CREDIT_NANO_USD = 5_000_000_000n;
/** The balance is asked for the agent, not for one key's limit. */
const NO_KEY = -1;

const demoFile = z.object({ agent_id: z.int(), key: z.string() });

/**
 * An agent to try things with: made at the first start, with $5 that are granted once in its life. Every step
 * can be repeated after a crash: the agent is found again, and of the keys made
 * here only the one in the file lives.
 * Throws when the ledger does not answer.
 */
export async function ensureDemo(options: DemoOptions): Promise<Demo> {
  const file = join(options.dataDir, DEMO_FILE);
  const written = readDemoFile(file);
  const alive = written !== null && (await isAlive(options, written));
  const { agent_id: agentId, key } = alive ? written : await makeDemo(options);
  const text = {
    base_url: options.baseUrl,
    mcp_url: options.mcpUrl,
    agent_id: agentId,
    key,
    admin_url: options.adminUrl,
    admin_token: options.adminToken.reveal(),
  };
  // At every start, because ports change.
  writePrivateFile(file, `${JSON.stringify(text, null, 2)}\n`);
  const view = await readAgent(options.ledger, agentId);
  return {
    baseUrl: options.baseUrl,
    mcpUrl: options.mcpUrl,
    adminUrl: options.adminUrl,
    agentId,
    key,
    file,
    status: view.status,
    spendableUsd: shapeBalance(view, NO_KEY, options.clock.now()).spendable_usd,
  };
}

type DemoKey = z.infer<typeof demoFile>;

/** `null` when there is none, or none that this release can read: then it is made anew. */
function readDemoFile(file: string): DemoKey | null {
  const text = readPrivateFile(file);
  if (text === null) return null;
  try {
    return demoFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** False for a key of another data folder, of another pepper, or that was revoked. */
async function isAlive({ ledger, pepper }: DemoOptions, written: DemoKey): Promise<boolean> {
  const owner = await ledger.findKey([hashApiKey(written.key, pepper)]);
  if (owner === 'unavailable') throw unavailable();
  return owner.found && !owner.revoked && owner.agentId === written.agent_id;
}

async function makeDemo(options: DemoOptions): Promise<DemoKey> {
  const { ledger, ids, pepper } = options;
  const agent = (await findDemoAgent(ledger)) ?? (await makeDemoAgent(options));
  const { agentId } = agent;
  if (agent.grantedNanoUsd === 0n) {
    const grant = { agentId, nanoUsd: CREDIT_NANO_USD, days: GRANT_DAYS_MAX, grantId: NAME };
    if (!(await grantCredit(options, grant)).ok) throw unavailable();
  }
  // Of a file that was lost, or of a start that ended before it wrote one: nobody can know them any more.
  for (const { keyId, label, revokedAtMs } of agent.keys) {
    if (label !== NAME || revokedAtMs !== null) continue;
    const revoked = await executeDurably(ledger, { type: 'revoke_key', agentId, keyId, actingKeyId: null });
    if (!revoked.ok) throw unavailable();
  }
  // A start must not fail because somebody gave the demo agent ten keys of their own.
  const limits = { ...defaultLimits, activeKeys: Number.POSITIVE_INFINITY };
  const made = await createKey(
    { ledger, ids, pepper },
    { agentId, label: NAME, limit: null, limits, actingKeyId: null },
  );
  if (!made.ok) throw unavailable();
  return { agent_id: agentId, key: made.key };
}

async function findDemoAgent(ledger: Ledger): Promise<AgentView | null> {
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') throw unavailable();
  for (const { agentId, name } of agents) {
    if (name !== NAME) continue;
    const view = await readAgent(ledger, agentId);
    if (view.statusBySource.some((said) => said.source === SOURCE)) return view;
  }
  return null;
}

async function makeDemoAgent(options: DemoOptions): Promise<AgentView> {
  const made = await createAgent(options, { name: NAME, status: 'active', source: SOURCE });
  if (!made.ok) throw unavailable();
  return readAgent(options.ledger, made.agentId);
}

async function readAgent(ledger: Ledger, agentId: number): Promise<AgentView> {
  const view = await ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') throw unavailable();
  return view;
}

const unavailable = (): JournalError =>
  new JournalError('the demo agent could not be made ready, for the ledger does not answer');

/** What a start prints: where everything is, and a first call to paste. */
export function banner(demo: Demo, models: readonly Pick<Model, 'id'>[]): string {
  const { agentId, spendableUsd } = demo;
  const model = models.find(({ id }) => id === smallModelId) ?? models[0];
  return [
    '',
    'Faregate is running.',
    '',
    `  API         ${demo.baseUrl}`,
    `  MCP         ${demo.mcpUrl}`,
    `  OpenAPI     ${demo.baseUrl.replace(/\/v1$/, '')}/openapi.json`,
    `  Docs        ${demo.baseUrl.replace(/\/v1$/, '/docs')}`,
    `  Console     ${demo.baseUrl.replace(/\/v1$/, '/console')}`,
    `  Admin API   ${demo.adminUrl}`,
    `  Demo agent  ${agentId}, with $${spendableUsd} to spend; its key is in ${shown(demo.file)}`,
    '',
    ...creditLines(demo),
    ...(model === undefined ? balanceCall(demo) : chatCall(demo, model.id)),
    '',
    'Operate it:',
    '',
    `  ${command(demo, 'agents list')}`,
    '',
  ].join('\n');
}

function creditLines(demo: Demo): string[] {
  if (demo.status !== 'active') {
    return [`It is ${demo.status}: ${command(demo, `agents activate ${demo.agentId}`)}`, ''];
  }
  if (demo.spendableUsd !== '0') return [];
  return [`It has no credit left: ${command(demo, `credit grant ${demo.agentId} 5`)}`, ''];
}

function chatCall({ baseUrl, key }: Demo, modelId: string): string[] {
  const body = JSON.stringify({ model: modelId, messages: [{ role: 'user', content: 'Say hello.' }] });
  return [
    'Try it:',
    '',
    `  curl ${baseUrl}/chat/completions \\`,
    `    -H 'Authorization: Bearer ${key}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body.replaceAll("'", "'\\''")}'`,
  ];
}

const balanceCall = ({ baseUrl, key }: Demo): string[] => [
  'No model is served yet. Try the balance:',
  '',
  `  curl ${baseUrl}/balance -H 'Authorization: Bearer ${key}'`,
];

/** The command of a checkout; another data folder than the default has to be named to it. */
function command({ file }: Demo, args: string): string {
  const folder = shown(file).slice(0, -`/${DEMO_FILE}`.length);
  return `${folder === '.faregate' ? '' : `FAREGATE_DATA=${folder} `}make cli ARGS="${args}"`;
}

/** Short where the folder is below the one that we were started in. */
function shown(file: string): string {
  const short = relative('', file);
  return short.startsWith('..') ? file : short;
}
