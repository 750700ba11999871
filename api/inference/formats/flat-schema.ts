import { isRecord } from '#core/is-record.ts';

/*
 * Claude refuses a call for one tool whose schema is a choice or a sum of schemas at the top (claude-code#5973,
 * mobile-next/mobile-mcp#344), and it wants the type `object` there. So the schemas are joined to one: it has the properties of all
 * of them, and what must be given together stands in its description, where the model reads it.
 *
 * A choice in a choice is joined once for each level, so what all tools of a request may take of that has a bound (`FlatRoom`).
 */

type Schema = Readonly<Record<string, unknown>>;

/** The conditions of an object. */
interface Shape {
  properties: ReadonlyMap<string, unknown>;
  required: ReadonlySet<string>;
  /** It takes no other properties. */
  isClosed: boolean;
}

/** Bounds how much the schemas of one request may join. Real ones join some hundred names, and 25,000 take some ten milliseconds. */
export class FlatRoom {
  #names = 25_000;
  #textLength = 1_000_000;

  get isUsedUp(): boolean {
    return this.#names < 0 || this.#textLength < 0;
  }

  takeNames(count: number): void {
    this.#names -= count;
  }

  takeText(length: number): void {
    this.#textLength -= length;
  }
}

interface Walk {
  root: Schema;
  room: FlatRoom;
  /** References that were followed; each is followed once, because a schema may refer to itself. */
  followed: Set<string>;
  /** Conditions that one schema cannot hold; the description says them. */
  told: Set<string>;
}

const NOTHING: Shape = { properties: new Map(), required: new Set(), isClosed: false };
const CHOICES = ['anyOf', 'oneOf'] as const;
/** References may lead on to references. */
const DEPTH_MAX = 64;

/**
 * The schema of a tool without a choice or a sum at its top. One that has neither is returned with its type alone, and so is one for
 * which there is no room: it loses its choice, and `room` is used up.
 */
export function flatSchema(schema: Schema, room: FlatRoom): Schema {
  if (schema.anyOf === undefined && schema.oneOf === undefined && schema.allOf === undefined)
    return isOfObjects(schema) ? { ...schema, type: 'object' } : schema;
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const typed = { ...rest, type: 'object' };
  const walk: Walk = { root: schema, room, followed: new Set(), told: new Set() };
  const { properties, required, isClosed } = shapeOf({ ...schema, type: 'object' }, walk, 0) ?? NOTHING;
  if (room.isUsedUp) return typed;
  const description = typeof schema.description === 'string' ? [schema.description] : [];
  if (walk.told.size > 0) description.push(`{${[...walk.told].join('; ')}}`);
  return {
    ...typed,
    ...(description.length > 0 && { description: description.join('\n\n') }),
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
    ...(isClosed && { additionalProperties: false }),
  };
}

/** The schema has no type, or several of which one is right. */
const isOfObjects = ({ type }: Schema): boolean =>
  type === undefined || type === null || (Array.isArray(type) && type.includes('object'));

/** @returns `null`: it takes no object. */
function shapeOf(schema: unknown, walk: Walk, depth: number): Shape | null {
  if (!isRecord(schema) || depth > DEPTH_MAX || walk.room.isUsedUp) return NOTHING;
  if (!isOfObjects(schema) && schema.type !== 'object') return null;
  const shapes: Shape[] = [ownShape(schema, walk.room)];
  const target = depth === 0 ? undefined : followed(schema.$ref, walk);
  if (target !== undefined) shapes.push(shapeOf(target, walk, depth + 1) ?? NOTHING);
  if (Array.isArray(schema.allOf))
    for (const each of schema.allOf) shapes.push(shapeOf(each, walk, depth + 1) ?? NOTHING);
  for (const keyword of CHOICES) {
    const choice = schema[keyword];
    if (Array.isArray(choice)) shapes.push(eitherOf(keyword, choice, walk, depth));
  }
  return allOf(shapes, walk.room);
}

function ownShape({ properties, required, additionalProperties }: Schema, room: FlatRoom): Shape {
  const names = isRecord(properties) ? Object.keys(properties).length : 0;
  room.takeNames(names + (Array.isArray(required) ? required.length : 0));
  if (room.isUsedUp) return NOTHING;
  return {
    properties: new Map(isRecord(properties) ? Object.entries(properties) : []),
    required: new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []),
    isClosed: additionalProperties === false,
  };
}

/** A definition inside of the schema itself. */
function followed(reference: unknown, { root, followed: before }: Walk): unknown {
  if (typeof reference !== 'string' || before.has(reference)) return undefined;
  const [, list, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = list === undefined ? undefined : root[list];
  if (!isRecord(definitions) || name === undefined || !Object.hasOwn(definitions, name)) return undefined;
  before.add(reference);
  return definitions[name];
}

function allOf(shapes: readonly Shape[], room: FlatRoom): Shape {
  const [first, ...others] = shapes;
  if (first === undefined || others.length === 0) return first ?? NOTHING;
  takeAll(shapes, room);
  if (room.isUsedUp) return NOTHING;
  return {
    properties: joined(shapes, 'allOf', room),
    required: new Set(shapes.flatMap(({ required }) => [...required])),
    isClosed: shapes.some(({ isClosed }) => isClosed),
  };
}

function eitherOf(keyword: string, choice: readonly unknown[], walk: Walk, depth: number): Shape {
  const shapes = choice.flatMap((each) => shapeOf(each, walk, depth + 1) ?? []);
  const [first, ...others] = shapes;
  takeAll(shapes, walk.room);
  if (first === undefined || walk.room.isUsedUp) return NOTHING;
  const always = new Set(
    [...first.required].filter((name) => others.every(({ required }) => required.has(name))),
  );
  const sets = shapes.map(({ required }) => [...required].filter((name) => !always.has(name)));
  if (sets.some((set) => set.length > 0)) {
    const texts = new Set(sets.map((set) => JSON.stringify(set)));
    walk.told.add(`${keyword}, by what is required: ${[...texts].join(' or ')}`);
  }
  return {
    properties: joined(shapes, 'anyOf', walk.room),
    required: always,
    isClosed: shapes.every(({ isClosed }) => isClosed),
  };
}

function takeAll(shapes: readonly Shape[], room: FlatRoom): void {
  for (const { properties, required } of shapes) room.takeNames(properties.size + required.size);
}

/** The properties of all shapes; one that several have is all of its schemas, or any of them. */
function joined(
  shapes: readonly Shape[],
  keyword: 'allOf' | 'anyOf',
  room: FlatRoom,
): ReadonlyMap<string, unknown> {
  const schemas = new Map<string, unknown[]>();
  for (const { properties } of shapes)
    for (const [name, schema] of properties) {
      const others = schemas.get(name);
      if (others === undefined) schemas.set(name, [schema]);
      else others.push(schema);
    }
  return new Map([...schemas].map(([name, list]) => [name, oneOfAll(list, keyword, room)]));
}

function oneOfAll(schemas: readonly unknown[], keyword: 'allOf' | 'anyOf', room: FlatRoom): unknown {
  if (schemas.length === 1 || room.isUsedUp) return schemas[0];
  const byText = new Map<string, unknown>();
  for (const schema of schemas) {
    const text = JSON.stringify(schema);
    room.takeText(text.length);
    byText.set(text, schema);
  }
  // A schema without keywords takes everything, so it adds nothing to a sum.
  if (keyword === 'allOf') byText.delete('{}');
  const different = [...byText.values()];
  return different.length === 1 ? different[0] : { [keyword]: different };
}
