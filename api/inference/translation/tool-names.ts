import { hash } from 'node:crypto';
import type { CallerTool, OwnToolType, ToolNames } from '#core/conversation/conversation.ts';
import { recordOf, records, textOf } from '../formats/values.ts';

export type { ToolNames } from '#core/conversation/conversation.ts';

/*
 * A provider of another format knows functions alone, each with one name. Tools in a namespace get a joined name there, a name
 * that vendors do not take gets a shorter one, and a custom tool, which takes a plain text, becomes a function of one text.
 */

export const NO_TOOL_NAMES: ToolNames = new Map();

/** Vendors take no longer names of functions, and no other letters in them. */
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;
const JOINT = '__';

const isFit = (name: string): boolean => name.length <= NAME_CHARS_MAX && /^[\w-]*$/.test(name);

/** The name that a tool has at the provider if no other tool is in its way. */
const wantedName = ({ namespace, name }: CallerTool): string =>
  namespace === null ? name : `${namespace}${JOINT}${name}`;

const identityOf = ({ namespace, name, ownType }: CallerTool): string =>
  JSON.stringify(ownType === null ? [namespace, name] : [ownType]);

/**
 * Gives the tools of one request the names that they have at the provider: no two tools the same name, and each tool the same name in
 * the list, in a choice and in the calls of earlier answers. The names depend on the tools alone, and not on their order.
 */
export class ToolNaming {
  /** The provider's names by the identities of the tools. */
  readonly #names = new Map<string, string>();
  readonly #tools = new Map<string, { tool: CallerTool; identity: string }>();

  /** @param tools All tools of the request, whichever member brings them. */
  constructor(tools: readonly CallerTool[]) {
    const claims = new Map<string, Set<string>>();
    const identified = tools.map((tool) => ({ tool, identity: identityOf(tool) }));
    for (const { tool, identity } of identified) {
      const claimants = claims.get(wantedName(tool)) ?? new Set();
      claims.set(wantedName(tool), claimants.add(identity));
    }
    // A tool that stands in no namespace keeps its name, because the caller's prompts speak of it.
    const isPlain = (tool: CallerTool): boolean =>
      tool.namespace === null && tool.ownType === null && isFit(tool.name);
    for (const { tool, identity } of identified) if (isPlain(tool)) this.#add(tool, identity, tool.name);
    for (const { tool, identity } of identified) {
      if (isPlain(tool)) continue;
      const isAlone = claims.get(wantedName(tool))?.size === 1;
      this.#add(tool, identity, isAlone ? wantedName(tool) : hashedName(tool, identity, 0));
    }
  }

  /** The provider's name of a tool, also of one that an earlier answer called and this request no longer has. */
  nameOf(tool: CallerTool): string {
    const identity = identityOf(tool);
    return this.#names.get(identity) ?? this.#add(tool, identity, wantedName(tool));
  }

  /** The tools that an answer must show in another way than the provider writes them. */
  get shown(): ToolNames {
    if (this.#tools.size === 0) return NO_TOOL_NAMES;
    const shown = [...this.#tools].map(([given, { tool }]) => [given, tool] as const);
    return new Map(shown.filter(([given, tool]) => differs(given, tool)));
  }

  #add(tool: CallerTool, identity: string, wanted: string): string {
    let name = this.#names.get(identity) ?? (isFit(wanted) ? wanted : hashedName(tool, identity, 0));
    for (let attempt = 0; this.#isOfAnother(name, identity); attempt++)
      name = hashedName(tool, identity, attempt);
    this.#names.set(identity, name);
    this.#tools.set(name, { tool, identity });
    return name;
  }

  #isOfAnother(name: string, identity: string): boolean {
    const other = this.#tools.get(name);
    return other !== undefined && other.identity !== identity;
  }
}

const differs = (given: string, { name, namespace, isCustom, isLegacy, ownType }: CallerTool): boolean =>
  isCustom || isLegacy || ownType !== null || namespace !== null || given !== name;

/** A name that two different tools share by chance alone. */
function hashedName(tool: CallerTool, identity: string, attempt: number): string {
  const text = attempt === 0 ? identity : `${identity} ${attempt}`;
  const digest = hash('sha256', text).slice(0, HASH_CHARS);
  const begin = wantedName(tool)
    .slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)
    .replaceAll(/[^\w-]/g, '_');
  return `${begin}_${digest}`;
}

/** The tools in a list of any format, those in namespaces included. */
export function callerToolsIn(tools: unknown, namespace: string | null = null): CallerTool[] {
  return records(tools).flatMap((tool) => {
    if (tool.type === 'namespace') return callerToolsIn(tool.tools, namespaceOf(tool.name));
    const ownType = ownTypeOf(tool);
    if (ownType !== null) return [ownTool(ownType)];
    return [{ ...callerTool(nameOfTool(tool), namespace), isCustom: isCustomTool(tool) }];
  });
}

/** The type of a tool that has no name. Policy serves those alone that the caller runs. */
export const ownTypeOf = ({ type }: Readonly<Record<string, unknown>>): OwnToolType | null =>
  OWN_TYPES.find((own) => own === type) ?? null;

const OWN_TYPES: readonly OwnToolType[] = ['tool_search', 'shell', 'local_shell', 'apply_patch'];

/** A custom tool of the messages format is a function with a schema, and its type may be left out. */
const isCustomTool = ({ type, input_schema }: Readonly<Record<string, unknown>>): boolean =>
  type === 'custom' && input_schema === undefined;

/** The name of a tool, or of one that a choice names: chats have it in a record that is named after the type. */
export const nameOfTool = ({ type, name, ...rest }: Readonly<Record<string, unknown>>): string => {
  if (typeof name === 'string') return name;
  return textOf(recordOf(type === 'custom' ? rest.custom : rest.function).name);
};

/** An empty name is no namespace. */
export const namespaceOf = (name: unknown): string | null => textOf(name) || null;

export const callerTool = (name: string, namespace: string | null = null): CallerTool => ({
  name,
  namespace,
  isCustom: false,
  isLegacy: false,
  ownType: null,
});

/** Its type is also its name at a provider that knows functions alone. */
export const ownTool = (ownType: OwnToolType): CallerTool => ({ ...callerTool(ownType), ownType });
