import { MESSAGE_BLOCKS_MAX } from '#core/limits.ts';

/** A kind of blocks that a piece alone can begin. */
export type BlockKind = 'text' | 'thinking' | 'tool_use';

/**
 * Tells which block of a message each piece belongs to. Some servers give all blocks one number, leave numbers out, or send the pieces
 * of a block that they have not begun.
 */
export class MessageBlocks<Block extends { readonly type: unknown }> {
  /** The newest block under each number. */
  readonly #byIndex = new Map<unknown, Block>();
  /** The newest block of each kind, for a signature or a citation that comes under the number of another block. */
  readonly #byKind = new Map<unknown, Block>();

  get(index: unknown): Block | undefined {
    return this.#byIndex.get(index);
  }

  begin(index: unknown, block: Block): void {
    this.#byIndex.delete(index);
    this.#byIndex.set(index, block);
    if (KINDS_ALONE.has(block.type)) this.#byKind.set(block.type, block);
    if (this.#byIndex.size <= MESSAGE_BLOCKS_MAX) return;
    for (const oldest of this.#byIndex.keys()) {
      this.#byIndex.delete(oldest);
      return;
    }
  }

  /** The block that a piece belongs to, or the kind of the block that begins with it; `undefined`: no block has such pieces. */
  blockOf(index: unknown, pieceType: unknown): Block | BlockKind | undefined {
    const known = this.#byIndex.get(index);
    const kind = KINDS.get(pieceType);
    if (kind === undefined || (known !== undefined && hasPieces(known.type, pieceType))) return known;
    const earlier = pieceType === 'signature_delta' || pieceType === 'citations_delta';
    return (earlier ? this.#byKind.get(kind) : undefined) ?? kind;
  }
}

/** Whether a block may have such pieces. Blocks of other types may have any: some are inputs of tools that the provider runs itself. */
export function hasPieces(type: unknown, pieceType: unknown): boolean {
  const kind = KINDS.get(pieceType);
  return kind === undefined || type === kind || !KINDS_ALONE.has(type);
}

const KINDS: ReadonlyMap<unknown, BlockKind> = new Map([
  ['text_delta', 'text'],
  ['citations_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
  ['input_json_delta', 'tool_use'],
]);
const KINDS_ALONE: ReadonlySet<unknown> = new Set(KINDS.values());

/** The members that clients add the pieces of a block to, as the block begins. */
export const emptyMembers = (type: unknown): Readonly<Record<string, unknown>> =>
  EMPTY.get(type) ?? NO_MEMBERS;

const EMPTY: ReadonlyMap<unknown, Readonly<Record<string, unknown>>> = new Map<unknown, object>([
  ['text', { text: '' }],
  ['thinking', { thinking: '', signature: '' }],
  ['tool_use', { input: {} }],
  ['server_tool_use', { input: {} }],
]) as ReadonlyMap<unknown, Readonly<Record<string, unknown>>>;
const NO_MEMBERS = {};

/** The members that clients read of every message, as it begins. */
export const EMPTY_MESSAGE: Readonly<Record<string, unknown>> = {
  type: 'message',
  role: 'assistant',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

/** The block that begins with a piece of this kind. */
export function blockOfKind(kind: BlockKind, callId: string): Record<string, unknown> {
  const named = kind === 'tool_use' ? { id: callId, name: '' } : {};
  const cited = kind === 'text' ? { citations: null } : {};
  return { type: kind, ...named, ...cited, ...structuredClone(emptyMembers(kind)) };
}
