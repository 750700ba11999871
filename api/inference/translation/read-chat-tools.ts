import type { Conversation, FunctionTool, ToolChoice } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { HINTS, typeName, type UnsupportedFields } from '../formats/unsupported-fields.ts';
import { recordOf, records, textOf } from '../formats/values.ts';
import { cacheOf } from './cache-marks.ts';
import { CUSTOM_PARAMETERS, customDescription } from './custom-tools.ts';
import { FUNCTION, readFunctionChoice, readFunctions } from './legacy-functions.ts';
import { callerTool, nameOfTool, type ToolNaming } from './tool-names.ts';

/** The tools that may be called, and the choice among them: one that allows some leaves the others out. */
export function readChatTools(
  body: Readonly<Record<string, unknown>>,
  naming: ToolNaming,
  unsupported: UnsupportedFields,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  const sent = records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, unsupported));
  const sentNames = new Set(sent.map(({ name }) => name));
  const functions = readFunctions(body.functions, unsupported).filter(({ name }) => !sentNames.has(name));
  const tools = [...sent, ...functions].map((tool) => ({
    ...tool,
    name: naming.nameOf(callerTool(tool.name)),
  }));
  const choice = body.tool_choice ?? null;
  if (choice === null)
    return { tools, toolChoice: chosen(readFunctionChoice(body.function_call, unsupported), naming) };
  if ((body.function_call ?? null) !== null) unsupported.leaveOut('function_call');
  if (!isRecord(choice) || choice.type !== 'allowed_tools')
    return { tools, toolChoice: chosen(readToolChoice(choice, unsupported), naming) };
  const { mode, tools: allowed } = recordOf(choice.allowed_tools);
  const names = new Set(records(allowed).map((tool) => naming.nameOf(callerTool(nameOfTool(tool)))));
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    toolChoice: { type: mode === 'required' ? 'required' : 'auto' },
  };
}

const chosen = (choice: ToolChoice | null, naming: ToolNaming): ToolChoice | null =>
  choice?.type === 'tool' ? { type: 'tool', name: naming.nameOf(callerTool(choice.name)) } : choice;

function readTool(tool: Record<string, unknown>, path: string, unsupported: UnsupportedFields): FunctionTool {
  unsupported.unknown(tool, path, TOOL, HINTS);
  const cached = cacheOf(tool);
  if (isRecord(tool.custom)) {
    const description = unsupported.text(tool.custom.description, `${path}custom.description`);
    return {
      name: textOf(tool.custom.name),
      description: customDescription(description, tool.custom.format),
      parameters: CUSTOM_PARAMETERS,
      strict: null,
      ...cached,
    };
  }
  const named = isRecord(tool.function) ? tool.function : null;
  if (tool.type !== 'function' || named === null)
    unsupported.add(`${path}type`, `a tool of the type ${typeName(tool.type)}`);
  if (named !== null) unsupported.unknown(named, `${path}function.`, FUNCTION, HINTS);
  return {
    name: textOf(named?.name),
    description: unsupported.text(named?.description, `${path}function.description`),
    parameters: named?.parameters ?? null,
    parametersAt: `${path}function.parameters`,
    strict: unsupported.boolean(named?.strict, `${path}function.strict`),
    strictAt: `${path}function.strict`,
    ...(cached.cache === undefined && named !== null ? cacheOf(named) : cached),
  };
}

const TOOL = new Set(['type', 'function', 'custom']);

function readToolChoice(choice: unknown, unsupported: UnsupportedFields): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isRecord(choice)) return null;
  unsupported.unknown(choice, 'tool_choice.', CHOICE);
  const kind = textOf(choice.type);
  unsupported.unknown(recordOf(choice[kind]), `tool_choice.${kind}.`, CHOSEN);
  const name = nameOfTool(choice);
  if (name === '') unsupported.add('tool_choice', 'a choice that names no tool');
  return { type: 'tool', name };
}

const CHOICE = new Set(['type', 'name', 'function', 'custom']);
const CHOSEN = new Set(['name']);
