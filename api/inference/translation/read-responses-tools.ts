import type { CallerTool, Conversation, FunctionTool, ToolChoice } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { HINTS, typeName, type UnsupportedFields } from '../formats/unsupported-fields.ts';
import { recordOf, records } from '../formats/values.ts';
import { cacheOf } from './cache-marks.ts';
import { CLIENT_TOOLS, type ClientToolType, describe } from './client-tools.ts';
import { CUSTOM_PARAMETERS, customDescription } from './custom-tools.ts';
import { callerTool, nameOfTool, namespaceOf, ownTool, ownTypeOf, type ToolNaming } from './tool-names.ts';

export interface ToolReading {
  /** Tools that items bring, such as those that an earlier search for tools found. */
  tools: FunctionTool[];
  naming: ToolNaming;
  unsupported: UnsupportedFields;
}

/** The tools that may be called, and the choice among them: one that allows some leaves the others out. */
export function readTools(
  body: Readonly<Record<string, unknown>>,
  reading: ToolReading,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  const { naming, unsupported } = reading;
  const sent = readToolList(body.tools, 'tools', reading);
  const tools = [...new Map([...sent, ...reading.tools].map((tool) => [tool.name, tool])).values()];
  const choice = body.tool_choice;
  if (!isRecord(choice) || choice.type !== 'allowed_tools')
    return { tools, toolChoice: readToolChoice(choice, naming, unsupported) };
  const names = new Set(records(choice.tools).map((tool) => naming.nameOf(chosenTool(tool))));
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    toolChoice: { type: choice.mode === 'required' ? 'required' : 'auto' },
  };
}

function chosenTool(choice: Readonly<Record<string, unknown>>): CallerTool {
  const ownType = ownTypeOf(choice);
  return ownType === null ? callerTool(nameOfTool(choice), namespaceOf(choice.namespace)) : ownTool(ownType);
}

export const readToolList = (
  tools: unknown,
  path: string,
  reading: ToolReading,
  namespace: string | null = null,
): FunctionTool[] =>
  records(tools).flatMap((tool, index) => readTool(tool, `${path}[${index}].`, namespace, reading));

/** A namespace is all the tools in it. */
function readTool(
  tool: Record<string, unknown>,
  path: string,
  namespace: string | null,
  reading: ToolReading,
): FunctionTool[] {
  const { naming, unsupported } = reading;
  if (tool.type === 'namespace') {
    unsupported.unknown(tool, path, NAMESPACE, HINTS);
    const inside = readToolList(tool.tools, `${path}tools`, reading, namespaceOf(tool.name));
    return describedTogether(inside, unsupported.text(tool.description, `${path}description`));
  }
  const ownType = ownTypeOf(tool);
  const isSearch = ownType === 'tool_search';
  if (ownType !== null && !isSearch) return [readClientTool(tool, path, ownType, reading)];
  const name = naming.nameOf(isSearch ? ownTool(ownType) : callerTool(nameOfTool(tool), namespace));
  const description = unsupported.text(tool.description, `${path}description`);
  unsupported.unknown(tool, path, isSearch ? SEARCH : TOOL, HINTS);
  if (tool.type === 'custom') {
    return [
      {
        name,
        description: customDescription(description, tool.format),
        parameters: CUSTOM_PARAMETERS,
        strict: null,
        ...cacheOf(tool),
      },
    ];
  }
  if (tool.type !== 'function' && !isSearch)
    unsupported.add(`${path}type`, `a tool of the type ${typeName(tool.type)}`);
  return [
    {
      name,
      description,
      parameters: tool.parameters ?? null,
      parametersAt: `${path}parameters`,
      strict: unsupported.boolean(tool.strict, `${path}strict`),
      strictAt: `${path}strict`,
      ...cacheOf(tool),
    },
  ];
}

function readClientTool(
  tool: Record<string, unknown>,
  path: string,
  type: ClientToolType,
  { naming, unsupported }: ToolReading,
): FunctionTool {
  unsupported.unknown(tool, path, CLIENT_TOOL, HINTS);
  return {
    name: naming.nameOf(ownTool(type)),
    description: describe(type, tool),
    parameters: CLIENT_TOOLS[type].parameters,
    strict: null,
    ...cacheOf(tool),
  };
}

/**
 * Puts the description of a namespace before that of each of its functions, because a model of another format does not see them as a
 * group. A long one stands before the first alone: before each of thousands it would make gigabytes.
 */
function describedTogether(functions: readonly FunctionTool[], about: string | null): FunctionTool[] {
  if (about === null || about === '') return [...functions];
  const isShort = about.length * functions.length <= REPEATED_CHARS_MAX;
  return functions.map((each, index) =>
    isShort || index === 0
      ? { ...each, description: each.description === null ? about : `${about}\n\n${each.description}` }
      : each,
  );
}

const REPEATED_CHARS_MAX = 64 * 1024;

const NAMESPACE = new Set(['type', 'name', 'description', 'tools']);
// A tool whose loading is deferred is sent in full: the field says only when its schema is read.
const TOOL = new Set(['type', 'name', 'description', 'parameters', 'strict', 'format', 'defer_loading']);
// Programs that call tools are not served, so only the model calls it.
const CLIENT_TOOL = new Set(['type', 'environment', 'allowed_callers']);
const SEARCH = new Set(['type', 'execution', 'description', 'parameters']);

function readToolChoice(
  choice: unknown,
  naming: ToolNaming,
  unsupported: UnsupportedFields,
): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (choice === undefined || choice === null) return null;
  const chosen = chosenTool(recordOf(choice));
  unsupported.unknown(recordOf(choice), 'tool_choice.', CHOICE);
  if (chosen.name === '') {
    unsupported.add('tool_choice', 'a choice that names no tool');
    return null;
  }
  return { type: 'tool', name: naming.nameOf(chosen) };
}

const CHOICE = new Set(['type', 'name', 'namespace']);
