import { isRecord } from '#core/is-record.ts';

/** One part of a chat's content, where a server answers with a list of parts. */
export interface SaidPart {
  type: 'text' | 'refusal' | 'reasoning';
  text: string;
  /** Reasoning may be told as a summary, and not as the reasoning itself. */
  isSummary: boolean;
}

/** `null`: a part of another kind, such as a reference. */
export function readAnswerPart(part: Readonly<Record<string, unknown>>): SaidPart | null {
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
  return isRecord(value) ? textOf(value.text) : '';
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
