import type { ServerTool, ToolDoor } from './server-tools.ts';

/** A server tool that is served, by the `type` of its entry in `tools`; `null`: none. */
export function serverToolType(type: string): ServerToolType | null {
  const exact = byType.get(type);
  if (exact !== undefined) return exact;
  if (ANTHROPIC_SEARCH.test(type)) return { kind: 'search', words: 'anthropic' };
  return ANTHROPIC_FETCH.test(type) ? { kind: 'fetch', words: 'anthropic' } : null;
}

export interface ServerToolType {
  kind: ServerTool['kind'];
  words: Extract<ToolDoor, { list: 'tools' }>['words'];
}

const byType: ReadonlyMap<string, ServerToolType> = new Map<string, ServerToolType>([
  ['openrouter:web_search', { kind: 'search', words: 'router' }],
  ['openrouter:web_fetch', { kind: 'fetch', words: 'router' }],
  ['openrouter:datetime', { kind: 'clock', words: 'router' }],
  ['web_search', { kind: 'search', words: 'shorthand' }],
  ['web_search_2025_08_26', { kind: 'search', words: 'shorthand' }],
  ['web_search_preview', { kind: 'search', words: 'shorthand' }],
  ['web_search_preview_2025_03_11', { kind: 'search', words: 'shorthand' }],
]);

/** Named one by one: a later edition may bill for more. */
const ANTHROPIC_SEARCH = /^web_search_(20250305|20260209|20260318)$/;
const ANTHROPIC_FETCH = /^web_fetch_(20250910|20260209|20260309|20260318)$/;
