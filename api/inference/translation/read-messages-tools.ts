import type { FunctionTool, ToolChoice } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { HINTS, typeName, type UnsupportedFields } from '../formats/unsupported-fields.ts';
import { recordOf, records, textOf } from '../formats/values.ts';
import { cacheOf } from './cache-marks.ts';
import { isStrictSchema } from './strict-schema.ts';
import { callerTool, type ToolNaming } from './tool-names.ts';

interface SentTool {
  tool: Record<string, unknown>;
  /** The place of the tool in the body, with a dot at its end. */
  path: string;
}

/** The tools of a request: those of the list, and those that blocks of messages bring. */
export const messagesTools = ({ tools, messages }: Readonly<Record<string, unknown>>): SentTool[] => [
  ...records(tools).map((tool, index) => ({ tool, path: `tools[${index}].` })),
  ...records(messages).flatMap(({ content }, index) => addedTools(content, `messages[${index}].content`)),
];

/** The tools that blocks of a message bring in the middle of a conversation; those that `tools` has are merely named again. */
function addedTools(content: unknown, path: string): SentTool[] {
  return records(content).flatMap((block, index) => {
    if (block.type === 'compaction') return addedTools(block.tool_changes, `${path}[${index}].tool_changes`);
    const { type, definition } = block.type === 'tool_addition' ? recordOf(block.tool) : {};
    return type === 'tool_definition' && isRecord(definition)
      ? [{ tool: definition, path: `${path}[${index}].tool.definition.` }]
      : [];
  });
}

/** The same as functions. What is defined again later replaces what was defined before. */
export function readMessagesTools(
  tools: readonly SentTool[],
  naming: ToolNaming,
  unsupported: UnsupportedFields,
): FunctionTool[] {
  const functions = tools.map(({ tool, path }) => readTool(tool, path, naming, unsupported));
  return [...new Map(functions.map((each) => [each.name, each])).values()];
}

function readTool(
  tool: Record<string, unknown>,
  path: string,
  naming: ToolNaming,
  unsupported: UnsupportedFields,
): FunctionTool {
  if (typeof tool.type === 'string' && tool.type !== 'custom')
    unsupported.add(`${path}type`, `a tool of the type ${typeName(tool.type)}`);
  unsupported.unknown(tool, path, TOOL, HINTS);
  const strict = unsupported.boolean(tool.strict, `${path}strict`);
  const isTooWide = strict === true && !isStrictSchema(tool.input_schema);
  if (isTooWide) unsupported.leaveOut(`${path}strict`);
  return {
    name: naming.nameOf(callerTool(textOf(tool.name))),
    description: withExamples(
      unsupported.text(tool.description, `${path}description`),
      unsupported.records(tool.input_examples, `${path}input_examples`),
    ),
    parameters: tool.input_schema ?? null,
    parametersAt: `${path}input_schema`,
    strict: isTooWide ? null : strict,
    strictAt: `${path}strict`,
    ...cacheOf(tool),
  };
}

/** No other format has a place for examples. */
function withExamples(description: string | null, examples: readonly object[]): string | null {
  if (examples.length === 0) return description;
  const inputs = examples.map((each) => JSON.stringify(each)).join('\n');
  return `${description === null ? '' : `${description}\n\n`}Examples of the input:\n${inputs}`;
}

const TOOL = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  // How the provider hands the input over, and who may call: of no effect on what is called.
  'eager_input_streaming',
  'allowed_callers',
  // It says only when the schema is read: the tool is sent in full.
  'defer_loading',
  'input_examples',
]);

export function readMessagesChoice(
  choice: Readonly<Record<string, unknown>>,
  naming: ToolNaming,
  unsupported: UnsupportedFields,
): ToolChoice | null {
  unsupported.unknown(choice, 'tool_choice.', CHOICE);
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      if (textOf(choice.name) === '') unsupported.add('tool_choice.name', 'a choice that names no tool');
      return { type: 'tool', name: naming.nameOf(callerTool(textOf(choice.name))) };
    case undefined:
      return null;
    default:
      unsupported.leaveOut('tool_choice.type');
      return null;
  }
}

const CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use']);
