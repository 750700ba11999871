import { isRecord } from '#core/is-record.ts';
import { parseExact } from '../json/exact-json.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { argumentsIn } from '../price/call-arguments.ts';
import { CallIds } from './call-ids.ts';
import { inputOf } from './tool-input.ts';
import { textOf } from './values.ts';

/*
 * The blocks of a whole message as every client can read them. Clients name the result of a call by its id, call a tool with the members
 * of its input, and go through the list of blocks, all without asking what is there.
 */

type Block = Record<string, unknown>;

/** Whether clients can read the blocks as they came, as those of most servers. */
export function areBlocksReadable(content: unknown): boolean {
  if (!Array.isArray(content)) return false;
  const ids = new CallIds();
  return content.every((block) => {
    if (!isRecord(block)) return false;
    if (block.type !== 'tool_use') return block.type !== 'text' || typeof block.text === 'string';
    return ids.keeps(textOf(block.id)) && isRecord(block.input);
  });
}

/** @param json The blocks, whose numbers keep their digits. A server may write one block, or a text, in the place of a list. */
export function readableBlocks(json: string, messageId: string): string {
  const content = parseExact(json) ?? [];
  const marks = new NumberMarks();
  const ids = new CallIds();
  let callCount = 0;
  const blocks = (Array.isArray(content) ? content : [content]).flatMap((block: unknown): Block[] => {
    if (typeof block === 'string')
      return block === '' ? [] : [{ type: 'text', text: block, citations: null }];
    if (!isRecord(block)) return [];
    if (block.type === 'text') return [{ ...block, text: textOf(block.text) }];
    if (block.type !== 'tool_use') return [block];
    const id = ids.idOf(textOf(block.id), messageId, callCount++);
    return [{ ...block, id, input: readableInput(block.input, marks) }];
  });
  return marks.print(blocks).toString();
}

/** Some servers write an input as a text, or `null` where there is none. */
export const readableInput = (input: unknown, marks: NumberMarks): unknown =>
  isRecord(input) ? input : inputOf(argumentsIn(input), marks);
