import { isRecord } from '#core/is-record.ts';

/**
 * Returns the text in a value of a shape that no vendor documents: a text itself, or what stands under names of text, at any depth.
 * Clients are shown such a value as it came, so it counts. Empty: there is none.
 */
export function shownTextIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shownTextIn).join('');
  if (!isRecord(value)) return '';
  let text = '';
  for (const name of TEXT_NAMES) if (value[name] !== undefined) text += shownTextIn(value[name]);
  return text;
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
