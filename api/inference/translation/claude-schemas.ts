import type { Conversation, FunctionTool } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import type { Steps, Work } from '#core/steps.ts';
import { FlatRoom, flatSchema } from '../formats/flat-schema.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';
import type { NumberMarks } from '../json/number-marks.ts';
import { type ArgumentNames, fitArgumentNames, NO_NAMES } from './argument-names.ts';
import { writeCache } from './cache-marks.ts';
import type { ClaudeLimits } from './claude-limits.ts';
import { modernSchema } from './modern-schema.ts';
import { structuredSchema } from './structured-schema.ts';
import { objectSchema } from './tool-words.ts';

/*
 * Claude compiles all the schemas that one request holds it to, and refuses the request where they are too many, too wide or refer
 * to themselves. The bounds stand on its vendor's page on structured outputs, and in public reports: camel-ai/camel#4171,
 * elizaOS/eliza#16499 and langchain4j/langchain4j#5128 (strict tools), elie222/inbox-zero#2323 (optional parameters),
 * mozilla/bugbug#6129 (unions). Models before 4.1 are held to none (envoyproxy/ai-gateway#1846).
 */

const STRICT_TOOLS_MAX = 20;
const OPTIONAL_MAX = 24;
const UNIONS_MAX = 16;

export interface WrittenSchemas {
  tools: readonly object[] | undefined;
  /** The shape of the answer, which the model is held to. */
  format: object | undefined;
  /** The same in words, where it cannot be held to it. */
  instruction: string | null;
  /** The names of arguments that it does not take. */
  argumentNames: ArgumentNames;
}

/**
 * Writes the tools and the shape of the answer. Schemas beyond what the model can be held to stay without `strict`, which is named: the
 * model reads them all the same.
 */
export function writeSchemas(
  { tools, answerFormat }: Pick<Conversation, 'tools' | 'answerFormat'>,
  limits: ClaudeLimits | null,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): Work<WrittenSchemas> {
  const room = new SchemaRoom(limits);
  const format = writeFormat(answerFormat, room, unsupported, marks);
  if (tools.length === 0) return { tools: undefined, ...format, argumentNames: NO_NAMES };
  return writeTools(tools, format, { limits, room, unsupported, marks });
}

interface Writing {
  limits: ClaudeLimits | null;
  room: SchemaRoom;
  unsupported: UnsupportedFields;
  marks: NumberMarks;
}

function* writeTools(
  tools: readonly FunctionTool[],
  format: Pick<WrittenSchemas, 'format' | 'instruction'>,
  { limits, room, unsupported, marks }: Writing,
): Steps<WrittenSchemas> {
  const flatRoom = new FlatRoom();
  const argumentNames = new Map<string, ReadonlyMap<string, string>>();
  yield 'format';
  const written: object[] = [];
  for (const tool of tools) {
    const modern = objectSchema(modernSchema(tool.parameters));
    yield 'modern schema';
    const schema = isRecord(modern) ? toolSchema(tool, modern, flatRoom, unsupported) : modern;
    yield 'flat schema';
    const fitted = limits === null ? null : yield* fitArgumentNames(schema);
    yield 'names of arguments';
    if (fitted !== null) argumentNames.set(tool.name, fitted.own);
    written.push(writeTool({ ...tool, parameters: fitted?.schema ?? schema }, room, unsupported, marks));
    yield 'tool';
  }
  return { tools: written, ...format, argumentNames };
}

/** @param tool With the schema that the model takes. */
function writeTool(
  tool: FunctionTool,
  room: SchemaRoom,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): object {
  const { name, description, parameters: schema, strict, strictAt } = tool;
  const structured = strict === true ? structuredSchema(schema, marks) : schema;
  const isHeld = strict === true && room.takes(structured, true);
  if (strict === true && !isHeld && strictAt !== undefined) unsupported.leaveOut(strictAt);
  return {
    name,
    description: description ?? undefined,
    input_schema: isHeld ? structured : schema,
    strict: isHeld ? true : undefined,
    ...writeCache(tool),
  };
}

function toolSchema(
  { parametersAt }: FunctionTool,
  schema: Readonly<Record<string, unknown>>,
  room: FlatRoom,
  unsupported: UnsupportedFields,
): unknown {
  const flat = flatSchema(schema, room);
  for (const keyword of SUMS)
    if (room.isUsedUp && schema[keyword] !== undefined && parametersAt !== undefined)
      unsupported.leaveOut(`${parametersAt}.${keyword}`);
  return flat;
}

const SUMS = ['anyOf', 'oneOf', 'allOf'] as const;

function writeFormat(
  format: Conversation['answerFormat'],
  room: SchemaRoom,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): Pick<WrittenSchemas, 'format' | 'instruction'> {
  if (format === null) return { format: undefined, instruction: null };
  if (format.type === 'json_object') return { format: undefined, instruction: JSON_INSTRUCTION };
  const { description, at } = format;
  const modern = modernSchema(format.schema);
  // The format has no other place for what an answer is meant for.
  const described = description !== null && isRecord(modern) ? { description, ...modern } : modern;
  const schema = structuredSchema(described, marks);
  if (room.takes(schema, false)) return { format: { type: 'json_schema', schema }, instruction: null };
  unsupported.leaveOut(at);
  return {
    format: undefined,
    instruction: `${JSON_INSTRUCTION} It must match this JSON schema:\n${marks.print(described).toString()}`,
  };
}

const JSON_INSTRUCTION = 'Answer with one JSON object, without a word before or behind it.';

/** The room that the schemas of one request have left. */
class SchemaRoom {
  readonly #limits: ClaudeLimits | null;
  #tools = STRICT_TOOLS_MAX;
  #optional = OPTIONAL_MAX;
  #unions = UNIONS_MAX;

  constructor(limits: ClaudeLimits | null) {
    this.#limits = limits;
  }

  /** @returns Whether the model can be held to a schema beside those before it; only such a schema takes room. */
  takes(schema: unknown, isTool: boolean): boolean {
    if (this.#limits === null) return true;
    if (!this.#limits.holdsToSchemas || (isTool && this.#tools === 0)) return false;
    const { optional, unions, isPlain } = measured(schema);
    if (!isPlain || optional > this.#optional || unions > this.#unions) return false;
    if (isTool) this.#tools -= 1;
    this.#optional -= optional;
    this.#unions -= unions;
    return true;
  }
}

interface Measures {
  /** Properties that may be missing. */
  optional: number;
  /** Schemas of more than one type. */
  unions: number;
  /** No reference in it leads outside, to a schema around itself, or stands in a sum. */
  isPlain: boolean;
}

function measured(schema: unknown): Measures {
  const measures: Measures = { optional: 0, unions: 0, isPlain: true };
  const references = new Map<string, Set<string>>();
  const measure = (value: unknown, owner: string, inSum: boolean): void => {
    if (Array.isArray(value)) for (const each of value) measure(each, owner, inSum);
    if (!isRecord(value)) return;
    const { $ref, type, properties, anyOf } = value;
    if ($ref !== undefined) {
      const target = typeof $ref === 'string' && DEFINITION.test($ref) ? $ref : null;
      if (target === null || inSum) measures.isPlain = false;
      else references.set(owner, (references.get(owner) ?? new Set()).add(target));
    }
    if (anyOf !== undefined || (Array.isArray(type) && type.length > 1)) measures.unions += 1;
    if (isRecord(properties)) {
      const required = new Set(Array.isArray(value.required) ? value.required : []);
      for (const name of Object.keys(properties)) if (!required.has(name)) measures.optional += 1;
      for (const each of Object.values(properties)) measure(each, owner, false);
    }
    for (const keyword of ['items', 'anyOf']) measure(value[keyword], owner, false);
    measure(value.allOf, owner, true);
    for (const list of ['$defs', 'definitions']) {
      const named = value[list];
      if (isRecord(named))
        for (const [name, each] of Object.entries(named)) measure(each, `#/${list}/${name}`, false);
    }
  };
  measure(schema, '#', false);
  if (measures.isPlain && leadsBack(references)) measures.isPlain = false;
  return measures;
}

const DEFINITION = /^#\/(?:\$defs|definitions)\/[^/]+$/;

/** @returns Whether a definition refers to itself, over others or not. Those that refer to nothing further are taken away until none is left. */
function leadsBack(references: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const owners = new Map<string, string[]>();
  const open = new Map<string, number>();
  const done = new Set<string>();
  for (const [owner, targets] of references) {
    open.set(owner, targets.size);
    for (const target of targets) {
      const others = owners.get(target);
      if (others === undefined) owners.set(target, [owner]);
      else others.push(owner);
      if (!references.has(target)) done.add(target);
    }
  }
  // The loop reads those that are added meanwhile, too.
  for (const target of done)
    for (const owner of owners.get(target) ?? []) {
      const left = (open.get(owner) ?? 0) - 1;
      open.set(owner, left);
      if (left === 0) done.add(owner);
    }
  return [...references.keys()].some((owner) => !done.has(owner));
}
