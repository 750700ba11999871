import { type Implementation, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { HOUR_MS } from '#core/clock.ts';
import { programVersion } from '#core/program-version.ts';
import type { AccountKey } from '../account/account-deps.ts';
import type { ToolDeps } from './tool.ts';
import { tools } from './tools.ts';

const info: Implementation = { name: 'faregate', title: 'Faregate', version: programVersion };

const instructions =
  'The account of one agent at a prepaid gateway for AI model calls: its credit, limits, usage, calls and keys. ' +
  'Amounts are US dollars as exact decimal text, times are ISO 8601 UTC. ' +
  'Only a key without a spending limit can create, change or revoke keys.';

/** The list changes only with a release. */
const cacheHint = { ttlMs: HOUR_MS, cacheScope: 'public' } as const;

const options = {
  capabilities: { tools: { listChanged: false } },
  cacheHints: { 'tools/list': cacheHint, 'server/discover': cacheHint },
  instructions,
};

const listed = { tools: tools.map((tool) => tool.listed) };
const byName = new Map(tools.map((tool) => [tool.listed.name, tool]));

/**
 * Of one request: the library wants a fresh one for each. The low-level class, because the list of tools never changes:
 * registering nine of them anew would cost a request a fifth more.
 */
export function buildServer(deps: ToolDeps, caller: AccountKey): Server {
  const server = new Server(info, options);
  server.setRequestHandler('tools/list', () => listed);
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args } }) => {
    const tool = byName.get(name);
    if (tool !== undefined) return tool.call(deps, caller, args);
    const shown = name.slice(0, NAME_CHARS_SHOWN);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${shown} not found`);
  });
  return server;
}

const NAME_CHARS_SHOWN = 64;
