import { isRecord } from '#core/is-record.ts';
import { serverToolType } from './tool-types.ts';

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
