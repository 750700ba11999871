import { isRecord } from '#core/is-record.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The names of the reasoning in a chat's message. Some servers write the same text under several of them. GitHub Copilot has
 * `reasoning_text`, and `cot_summary` for models of Azure; servers in front of Claude have `thinking`.
 */
export const REASONING_NAMES = [
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'thinking',
  'cot_summary',
] as const;

/** The reasoning of a message, under whichever name its server has it; empty: it stands under none. */
export function reasoningTextOf(message: Members): string {
  for (const name of REASONING_NAMES) {
    const text = textIn(message[name]);
    if (text !== '') return text;
  }
  return '';
}

/** The blocks in which LiteLLM has the reasoning of several vendors. */
export function thinkingBlocksOf({ thinking_blocks, provider_specific_fields: fields }: Members): Members[] {
  const blocks = records(thinking_blocks);
  return blocks.length === 0 && isRecord(fields) ? records(fields.thinking_blocks) : blocks;
}

/** The reasoning in the details or blocks of a message, which most servers repeat as a text. */
export function reasoningInDetails(message: Members): string {
  const details = records(message.reasoning_details);
  if (details.length > 0) return details.map(({ text, summary }) => textOf(text) || textOf(summary)).join('');
  return thinkingBlocksOf(message)
    .map(({ thinking }) => textOf(thinking))
    .join('');
}

/** One part of a chat's content, where a server answers with a list of parts. */
export interface SaidPart {
  type: 'text' | 'refusal' | 'reasoning';
  text: string;
  /** Reasoning may be told as a summary, and not as the reasoning itself. */
  isSummary: boolean;
}

/** `null`: a part of another kind, such as a reference. */
export function readAnswerPart(part: Members): SaidPart | null {
  switch (part.type) {
    case 'text':
    case 'output_text':
      return said('text', textIn(part.text));
    case 'refusal':
      return said('refusal', textIn(part.refusal));
    case 'thinking':
      return said('reasoning', textIn(part.thinking));
    case 'reasoning':
    case 'reasoning_text': {
      const text = textIn(part.text) || textIn(part.reasoning) || textIn(part.content);
      return text === '' ? said('reasoning', textIn(part.summary), true) : said('reasoning', text);
    }
    default:
      return null;
  }
}

/** The reasoning in a list of parts, as some vendors' answers have it. */
export function reasoningInParts(content: unknown): string {
  if (!Array.isArray(content)) return '';
  const parts = content.map((part) => (isRecord(part) ? readAnswerPart(part) : null));
  return parts.map((part) => (part?.type === 'reasoning' ? part.text : '')).join('');
}

const said = (type: SaidPart['type'], text: string, isSummary = false): SaidPart => ({
  type,
  text,
  isSummary,
});

/** A text, or the texts of a list of parts. */
function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((each) => (isRecord(each) ? textOf(each.text) : '')).join('');
  return isRecord(value) ? textOf(value.text) || textOf(value.content) : '';
}

const records = (value: unknown): Members[] =>
  Array.isArray(value) ? value.filter((each) => isRecord(each)) : [];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
