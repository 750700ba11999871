import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError, hasToBe, refuseEach } from '../../contract/errors.ts';
import { serverToolType } from '../server-tools/tool-types.ts';

/*
 * Tools by type, default deny: a type that stands in no row is refused, because new server tools appear monthly
 * and each could run other models, keep files, or loop without a bound. Searches, fetches and the clock are served in
 * the body's own list alone, where they are given bounds (`server-tools/`).
 */

const isChatTool: IsServed = (type) => CALLER_DEFINED.has(type);
const isResponsesTool: IsServed = (type, { execution, environment }) =>
  CALLER_DEFINED.has(type) ||
  type === 'apply_patch' ||
  type === 'local_shell' ||
  (type === SHELL && isCallerShell(environment)) ||
  (type === TOOL_SEARCH && execution === 'client') ||
  /^computer(_use_preview|_\d{8})?$/.test(type);
const TOOL_SEARCH = 'tool_search';
const SHELL = 'shell';

/** The caller runs a shell that names no environment, and the gateway writes that for the provider (`caller-shells.ts`). */
export const isCallerShell = (environment: unknown): boolean =>
  (environment ?? null) === null || (isRecord(environment) && environment.type === 'local');

/** The gateway writes nothing into the tools of an item, so a shell there must say that the caller runs it. */
const isBroughtTool: IsServed = (type, tool) =>
  isResponsesTool(type, tool) && (type !== SHELL || isRecord(tool.environment));
const isMessagesTool = (type: string): boolean =>
  type === 'custom' || /^(bash|text_editor|computer|computer_toolset|browser_toolset)_\d{8}$/.test(type);

const isServerTool = (type: string): boolean => serverToolType(type) !== null;
const CALLER_DEFINED: ReadonlySet<string> = new Set(['function', 'custom', 'namespace']);
/** @param tool The whole of it, because some say in a member who runs them. */
type IsServed = (type: string, tool: Readonly<Record<string, unknown>>) => boolean;
const never: IsServed = () => false;

/** Plugins that reach no shared state, and cost nothing or have bounds. `enabled: false` switches any other off. */
const servedPlugins: ReadonlySet<string> = new Set([
  'response-healing',
  'context-compression',
  'web',
  'web-fetch',
]);
const routerPlugins: ReadonlySet<string> = new Set(['auto-router', 'auto-beta-router', 'pareto-router']);

/** Every door by which a tool can enter a chat body. `null`: all are served. */
export const refuseChatTools = (body: Readonly<Record<string, unknown>>): ApiError | null =>
  refuseOwnTools(body, isChatTool);

const refuseOwnTools = (
  { tools, tool_choice: choice, plugins }: Readonly<Record<string, unknown>>,
  isServed: IsServed,
): ApiError | null =>
  refuseToolList(tools, 'tools', isServed, isServerTool) ??
  refuseToolChoice(choice, orSent(isServed, tools)) ??
  refusePlugins(plugins);

/** An input item may bring tools, too. */
export function refuseResponsesTools(body: Readonly<Record<string, unknown>>): ApiError | null {
  return (
    refuseEach(body.input, 'input', ({ tools }, param) =>
      refuseToolList(tools, `${param}.tools`, isBroughtTool),
    ) ?? refuseOwnTools(body, isResponsesTool)
  );
}

export function refuseMessagesTools(body: Readonly<Record<string, unknown>>): ApiError | null {
  return (
    refuseEach(body.tools, 'tools', (tool, param) => refuseMessagesTool(tool, param)) ??
    refuseEach(body.messages, 'messages', ({ content }, param) =>
      refuseEach(content, `${param}.content`, refuseToolsOfBlock),
    ) ??
    refuseMessagesToolChoice(body.tool_choice) ??
    refusePlugins(body.plugins)
  );
}

/**
 * A message may change the tools for the turns after it, and a summary of earlier turns brings the changes that stood in them. A
 * tool of the body's own list may be named. What is defined there is never one that the provider runs, because bounds are
 * written in the body's list alone.
 */
function refuseToolsOfBlock(block: Record<string, unknown>, param: string): ApiError | null {
  switch (block.type) {
    case 'tool_addition':
    case 'tool_removal':
      return refuseToolChange(block.tool, `${param}.tool`);
    case 'compaction':
      return refuseToolChanges(block.tool_changes, `${param}.tool_changes`);
    default:
      return null;
  }
}

function refuseToolChanges(changes: unknown, param: string): ApiError | null {
  if (changes === undefined || changes === null) return null;
  if (!Array.isArray(changes)) return hasToBe(param, 'a list');
  for (const [index, change] of changes.entries()) {
    const at = `${param}[${index}].tool`;
    const refusal = refuseToolChange(isRecord(change) ? change.tool : undefined, at);
    if (refusal !== null) return refusal;
  }
  return null;
}

function refuseToolChange(tool: unknown, param: string): ApiError | null {
  const { type, definition } = isRecord(tool) ? tool : {};
  switch (type) {
    case 'tool_reference':
      return null;
    case 'tool_definition':
      return isRecord(definition)
        ? refuseMessagesTool(definition, `${param}.definition`, never)
        : hasToBe(`${param}.definition`, 'an object, as in `tools`');
    default:
      return typeof type === 'string'
        ? notServed(type, param)
        : hasToBe(`${param}.type`, '`tool_reference` or `tool_definition`');
  }
}

/** It can only name a tool of the same body. */
function refuseMessagesToolChoice(choice: unknown): ApiError | null {
  if (!isRecord(choice) || MESSAGES_CHOICES.includes(String(choice.type))) return null;
  return hasToBe('tool_choice.type', `one of ${MESSAGES_CHOICES.join(', ')}`);
}

const MESSAGES_CHOICES = ['auto', 'any', 'tool', 'none'];

function refuseMessagesTool(
  tool: Record<string, unknown>,
  param: string,
  isBound: IsServed = isServerTool,
): ApiError | null {
  const type = tool.type ?? 'custom';
  if (typeof type === 'string' && isBound(type, tool)) return null;
  if (typeof type !== 'string' || !isMessagesTool(type)) return notServed(String(type), param);
  // Called from a program, which the provider would run on the account that all agents share.
  const callers = tool.allowed_callers ?? [];
  const other = Array.isArray(callers) ? callers.find((caller) => caller !== 'direct') : callers;
  return other === undefined ? null : notServed(String(other), `${param}.allowed_callers`);
}

/**
 * A choice may name a tool that stands in the list, with bounds or with the word that the caller runs it; by itself it could switch
 * one on.
 */
const orSent =
  (isServed: IsServed, tools: unknown): IsServed =>
  (type) =>
    isServed(type, NO_MEMBERS) ||
    (Array.isArray(tools) &&
      tools.some(
        (tool) => isRecord(tool) && tool.type === type && (isServerTool(type) || isServed(type, tool)),
      ));

/** A choice does not say who runs a tool. */
const NO_MEMBERS = {};

function refuseToolList(
  tools: unknown,
  param: string,
  isServed: IsServed,
  isBound: IsServed = never,
): ApiError | null {
  if (tools === undefined || tools === null) return null;
  if (!Array.isArray(tools)) return hasToBe(param, 'a list of tools');
  for (const [index, tool] of tools.entries()) {
    if (isRecord(tool) && typeof tool.type === 'string' && isBound(tool.type, tool)) continue;
    const refusal = refuseTool(tool, `${param}[${index}]`, isServed);
    if (refusal !== null) return refusal;
  }
  return null;
}

function refuseTool(tool: unknown, param: string, isServed: IsServed): ApiError | null {
  if (!isRecord(tool) || typeof tool.type !== 'string') {
    return hasToBe(param, 'an object with a `type`, such as `function`');
  }
  if (!isServed(tool.type, tool))
    return isServed(tool.type, { ...tool, execution: 'client', environment: { type: 'local' } })
      ? hostedOnly(tool.type, param)
      : notServed(tool.type, param);
  return tool.type === 'namespace' ? refuseToolList(tool.tools, `${param}.tools`, isServed) : null;
}

/** `{type: "function"}`, `{type: "custom"}` and `{type: "allowed_tools"}` name tools of the same body. */
function refuseToolChoice(choice: unknown, isServed: IsServed): ApiError | null {
  if (choice === undefined || choice === null || choice === 'auto') return null;
  if (choice === 'none' || choice === 'required') return null;
  if (!isRecord(choice) || typeof choice.type !== 'string') {
    return hasToBe('tool_choice', '`auto`, `none`, `required`, or an object that names one function');
  }
  if (choice.type === 'allowed_tools') {
    const allowed = isRecord(choice.allowed_tools) ? choice.allowed_tools.tools : undefined;
    return (
      refuseToolList(allowed, 'tool_choice.allowed_tools.tools', isServed) ??
      refuseToolList(choice.tools, 'tool_choice.tools', isServed)
    );
  }
  return isServed(choice.type, choice) ? null : notServed(choice.type, 'tool_choice');
}

function refusePlugins(plugins: unknown): ApiError | null {
  if (plugins === undefined || plugins === null) return null;
  if (!Array.isArray(plugins)) return hasToBe('plugins', 'a list');
  for (const [index, plugin] of plugins.entries()) {
    const param = `plugins[${index}]`;
    if (!isRecord(plugin) || typeof plugin.id !== 'string') return hasToBe(param, 'an object with an `id`');
    if (plugin.enabled === false) continue;
    if (servedPlugins.has(plugin.id)) {
      const refusal = refusePluginSettings(plugin, param);
      if (refusal !== null) return refusal;
      continue;
    }
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

/** Of a search or a fetch they are read with its bounds. */
function refusePluginSettings(plugin: Record<string, unknown>, param: string): ApiError | null {
  if (plugin.id === 'web' || plugin.id === 'web-fetch') return null;
  const other = Object.keys(plugin).find((key) => !PLUGIN_SETTINGS.includes(key));
  if (other === undefined) return null;
  return apiError('invalid_request', {
    param: `${param}.${other}`,
    message: `\`${other}\` of a plugin is not served: what it may cost is not known beforehand.`,
  });
}

function hostedOnly(type: string, param: string): ApiError {
  const member = type === SHELL ? '"environment": {"type": "local"}' : '"execution": "client"';
  return apiError('tool_not_served', {
    param,
    message: `The tool \`${type}\` is served where the caller runs it. Send it with \`${member}\`, or leave it out.`,
  });
}

const PLUGIN_SETTINGS = ['id', 'enabled', 'engine'];
const TOOL_NAME_CHARS = 64;

function notServed(type: string, param: string): ApiError {
  const name = type.slice(0, TOOL_NAME_CHARS);
  return apiError('tool_not_served', {
    param,
    message: `The tool \`${name}\` is not served. Send your own functions, or in \`tools\` a web search or web fetch.`,
  });
}
