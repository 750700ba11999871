/*
 * The kind of an answer, as its first bytes say. Servers send events under another type, or none, and a whole answer where a stream
 * was asked for.
 */

export type AnswerShape = 'events' | 'json';

/** @param first The first bytes of the body. */
export function shapeOf(contentType: string, first: Buffer): AnswerShape {
  if (first[0] === OPEN_BRACE) return 'json';
  const begin = first.toString('latin1', 0, SNIFFED_BYTES).replace(/^(?:\xef\xbb\xbf)?\s+|^\xef\xbb\xbf/, '');
  if (begin.startsWith('{') || begin.startsWith('[')) return 'json';
  if (EVENT_FIELD.test(begin)) return 'events';
  // Too little came to tell, or a part of a field's name.
  const isBeginOfField = begin !== '' && EVENT_FIELDS.some((field) => field.startsWith(begin));
  return isBeginOfField || contentType.toLowerCase().startsWith('text/event-stream') ? 'events' : 'json';
}

const OPEN_BRACE = 0x7b;
const SNIFFED_BYTES = 64;
const EVENT_FIELD = /^(?:data|event|id|retry)?:/;
const EVENT_FIELDS = ['data:', 'event:', 'id:', 'retry:'];
