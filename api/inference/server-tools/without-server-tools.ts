import { isRecord } from '#core/is-record.ts';
import { serverToolType } from './tool-types.ts';

/** A body as a translation reads it: what the provider runs by itself is written into the result (`write-server-tools.ts`). */
export function withoutServerTools(
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const {
    plugins,
    web_search_options: _,
    max_tool_calls: _steps,
    stop_server_tools_when: _ends,
    ...rest
  } = body;
  const { tools } = rest;
  const others = Array.isArray(plugins) ? plugins.filter((plugin) => !isSearchPlugin(plugin)) : [];
  return {
    ...rest,
    ...(Array.isArray(tools) ? { tools: tools.filter((tool) => !isServerTool(tool)) } : {}),
    ...(others.length === 0 ? {} : { plugins: others }),
  };
}

const isServerTool = (tool: unknown): boolean =>
  isRecord(tool) && typeof tool.type === 'string' && serverToolType(tool.type) !== null;

const isSearchPlugin = (plugin: unknown): boolean =>
  isRecord(plugin) && (plugin.id === 'web' || plugin.id === 'web-fetch');
