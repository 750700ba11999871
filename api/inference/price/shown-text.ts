import { isRecord } from '#core/is-record.ts';

/**
 * Returns the text in a value of a shape that no vendor documents: a text itself, or what stands under names of text, at any depth.
 * Clients are shown such a value as it came, so it counts. Empty: there is none.
 */
export function shownTextIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shownTextIn).join('');
  if (!isRecord(value)) return '';
  const texts: string[] = [];
  for (const name of TEXT_NAMES) {
    const text = value[name] === undefined ? '' : shownTextIn(value[name]);
    // Some servers say the same text under two names.
    if (text !== '' && !texts.includes(text)) texts.push(text);
  }
  return texts.join('');
}

const TEXT_NAMES = [
  'text',
  'content',
  'output_text',
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'refusal',
  'summary',
  'thinking',
  'thought',
  'thoughts',
  'transcript',
] as const;
