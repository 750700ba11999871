import { isRecord } from '#core/is-record.ts';
import { ROUTER_TOOLS } from '../../providers/router-tools.ts';
import type { ServerTool, ToolDoor } from './server-tools.ts';

/** A server tool that is served, by the `type` of its entry in `tools`; `null`: none. */
export function serverToolType(type: string): ServerToolType | null {
  const exact = byType.get(type);
  if (exact !== undefined) return exact;
  if (MESSAGES_SEARCH.test(type)) return { kind: 'search', words: 'messages' };
  return MESSAGES_FETCH.test(type) ? { kind: 'fetch', words: 'messages' } : null;
}

export interface ServerToolType {
  kind: ServerTool['kind'];
  words: Extract<ToolDoor, { list: 'tools' }>['words'];
}

const byType: ReadonlyMap<string, ServerToolType> = new Map<string, ServerToolType>([
  [ROUTER_TOOLS.search, { kind: 'search', words: 'router' }],
  [ROUTER_TOOLS.fetch, { kind: 'fetch', words: 'router' }],
  [ROUTER_TOOLS.clock, { kind: 'clock', words: 'router' }],
  ['web_search', { kind: 'search', words: 'shorthand' }],
  ['web_search_2025_08_26', { kind: 'search', words: 'shorthand' }],
  ['web_search_preview', { kind: 'search', words: 'shorthand' }],
  ['web_search_preview_2025_03_11', { kind: 'search', words: 'shorthand' }],
]);

/** Named one by one: a later edition may bill for more. */
const MESSAGES_SEARCH = /^web_search_(20250305|20260209|20260318)$/;
const MESSAGES_FETCH = /^web_fetch_(20250910|20260209|20260309|20260318)$/;

/** A body as a translation reads it: what the provider runs by itself is written into the result (`write-server-tools.ts`). */
export function withoutServerTools(
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { web_search_options: _, ...rest } = body;
  const { tools } = rest;
  return Array.isArray(tools) ? { ...rest, tools: tools.filter((tool) => !isServerTool(tool)) } : rest;
}

const isServerTool = (tool: unknown): boolean =>
  isRecord(tool) && typeof tool.type === 'string' && serverToolType(tool.type) !== null;
