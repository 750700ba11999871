import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../contract/errors.ts';

/**
 * Tools by type, default deny: a type that stands in no row is refused, because new server tools appear monthly
 * and each could run other models, keep files, or loop without a bound.
 */
const servedToolTypes: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);

/** Plugins that cost nothing and reach no shared state. `enabled: false` switches any other off. */
const servedPlugins: ReadonlySet<string> = new Set(['response-healing', 'context-compression']);
const routerPlugins: ReadonlySet<string> = new Set(['auto-router', 'auto-beta-router', 'pareto-router']);

/** Every door by which a tool can enter a chat body. `null`: all are served. */
export function refuseTools(body: Readonly<Record<string, unknown>>): ApiError | null {
  return (
    refuseToolList(body.tools, 'tools') ?? refuseToolChoice(body.tool_choice) ?? refusePlugins(body.plugins)
  );
}

function refuseToolList(tools: unknown, param: string): ApiError | null {
  if (tools === undefined || tools === null) return null;
  if (!Array.isArray(tools)) {
    return apiError('invalid_request', { param, message: `\`${param}\` has to be a list of tools.` });
  }
  for (const [index, tool] of tools.entries()) {
    const refusal = refuseTool(tool, `${param}[${index}]`);
    if (refusal !== null) return refusal;
  }
  return null;
}

function refuseTool(tool: unknown, param: string): ApiError | null {
  if (!isRecord(tool) || typeof tool.type !== 'string') {
    return apiError('invalid_request', {
      param,
      message: `\`${param}\` has to be an object with a \`type\`, such as \`function\`.`,
    });
  }
  if (!servedToolTypes.has(tool.type)) return notServed(tool.type, param);
  return tool.type === 'namespace' ? refuseToolList(tool.tools, `${param}.tools`) : null;
}

/** `{type: "function"}`, `{type: "custom"}` and `{type: "allowed_tools"}` name tools of the same body. */
function refuseToolChoice(choice: unknown): ApiError | null {
  if (choice === undefined || choice === null || typeof choice === 'string') return null;
  if (!isRecord(choice) || typeof choice.type !== 'string') {
    return apiError('invalid_request', {
      param: 'tool_choice',
      message: '`tool_choice` has to be `auto`, `none`, `required`, or an object that names one function.',
    });
  }
  if (choice.type === 'allowed_tools') {
    const allowed = isRecord(choice.allowed_tools) ? choice.allowed_tools.tools : undefined;
    return (
      refuseToolList(allowed, 'tool_choice.allowed_tools.tools') ??
      refuseToolList(choice.tools, 'tool_choice.tools')
    );
  }
  return servedToolTypes.has(choice.type) ? null : notServed(choice.type, 'tool_choice');
}

function refusePlugins(plugins: unknown): ApiError | null {
  if (plugins === undefined || plugins === null) return null;
  if (!Array.isArray(plugins)) {
    return apiError('invalid_request', { param: 'plugins', message: '`plugins` has to be a list.' });
  }
  for (const [index, plugin] of plugins.entries()) {
    const param = `plugins[${index}]`;
    if (!isRecord(plugin) || typeof plugin.id !== 'string') {
      return apiError('invalid_request', {
        param,
        message: `\`${param}\` has to be an object with an \`id\`.`,
      });
    }
    if (plugin.enabled === false || servedPlugins.has(plugin.id)) continue;
    if (routerPlugins.has(plugin.id)) {
      return apiError('model_not_served', {
        param,
        message: 'Routers that pick the model after the call are not served. Name one model.',
      });
    }
    return notServed(plugin.id, param);
  }
  return null;
}

const TOOL_NAME_CHARS = 64;

function notServed(type: string, param: string): ApiError {
  const name = type.slice(0, TOOL_NAME_CHARS);
  return apiError('tool_not_served', {
    param,
    message: `The tool \`${name}\` is not served. Send your own functions: \`{"type": "function", ...}\`.`,
  });
}
