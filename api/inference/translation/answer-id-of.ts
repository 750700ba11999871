import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { textOf } from '../formats/values.ts';

/**
 * A provider's id for its answer; empty where it has none. Some formats repeat it in every event: one of a megabyte would
 * make gigabytes of an answer.
 */
export function answerIdOf(id: unknown): string {
  const text = textOf(id);
  return text.length > UPSTREAM_TEXT_CHARS_MAX ? '' : text;
}
