import type { ScriptRule } from '../../api/simulator/script-rule.ts';

type Rules = Readonly<Record<string, ScriptRule>>;

/** Letters of one to four bytes, so that a cut anywhere may fall inside one. */
export const manyByteText = 'Grüße aus der 東京 🚇 ende';

/** Good streams in every way that a server may write them: the same text arrives, the same cost is charged. */
export const oddStreams: Rules = {
  'one byte per write': { writeBytes: 1 },
  'split inside a letter and inside an event': { writeBytes: 7, splitAt: [1, 11, 300, 301] },
  'CRLF line ends': { lineEnd: '\r\n' },
  'CRLF line ends, one byte per write': { lineEnd: '\r\n', writeBytes: 1 },
  'many comments first': { comments: 500 },
  'no comment': { comments: 0 },
  'usage on the last content chunk': { usageAt: 'last_chunk' },
  'usage on every chunk, growing': { usageAt: 'every_chunk' },
  'usage twice': { usageAt: 'twice' },
  'early hints first': { informational: [103, 102] },
  'no DONE at the end': { done: false },
};

/** What a provider may claim as `usage.cost`, as raw JSON text; `null` leaves the field out. None is a cost. */
export const wrongCosts: Readonly<Record<string, string | null>> = {
  missing: null,
  null: 'null',
  negative: '-0.5',
  'no JSON': 'NaN',
  huge: '1e30',
  'beyond every float': '1e999',
  text: '"free"',
  record: '{}',
  list: '[0.1]',
  boolean: 'true',
};

/** Answers that never become one. The provider bills nothing for them. */
export const deadAnswers: Rules = {
  'reset before the headers': { cutAt: 'headers' },
  'closed before the headers': { cutAt: 'headers', cutWith: 'fin' },
  'reset unread': { request: 'close' },
  'refused unread': { request: 'answer_early' },
  'an HTML page': { status: 502, error: { style: 'html' } },
  'an empty 503': { status: 503, error: { style: 'empty' } },
  'a plain-text 500': { status: 500, error: { style: 'text' } },
  'a list with an error': { status: 429, error: { style: 'google' } },
  'an error that is a word': { status: 500, error: { style: 'string' } },
  'a redirect': {
    status: 307,
    headers: { location: 'http://127.0.0.1:1/elsewhere' },
    error: { style: 'empty' },
  },
  '200 with an error': { status: 200, error: { code: 502 } },
};

/** JSON answers that break after their headers. */
export const brokenJson: Rules = {
  'reset in the body': { cutAt: 40 },
  'closed in the body': { cutAt: 40, cutWith: 'fin' },
  'half the JSON, whole by its length': { body: '{"id":"gen-1","choices":[{"ind' },
  'no JSON': { body: 'Service is fine' },
  'JSON, but no object': { body: '[1,2,3]' },
  'an empty body': { body: '' },
  'called HTML': { headers: { 'content-type': 'text/html' } },
  'called gzip, but plain': { encoding: 'lie' },
  'an error inside the choice': { error: { at: 'choice' } },
};

/** Streams that begin well. `cutAt` is behind the first chunks of any answer. */
export const brokenStreams: Rules = {
  'reset in the middle': { chunks: 50, cutAt: 2_000 },
  'closed in the middle': { chunks: 50, cutAt: 2_000, cutWith: 'fin' },
  'an error chunk': { chunks: 50, error: { at: 'stream', afterChunks: 5 } },
  'a chunk that is no JSON': { chunks: 50, malformedChunk: 10 },
  'ends before its usage': { chunks: 50, usageAt: 'missing' },
  'ends before its usage and DONE': { chunks: 50, usageAt: 'missing', done: false },
  'usage after DONE': { chunks: 50, usageAt: 'after_done' },
  'an event of more than a megabyte': { chunks: 1, text: 'x'.repeat(1_200_000) },
};

export const errorStatuses = [
  400, 401, 402, 403, 404, 408, 412, 413, 422, 429, 500, 502, 503, 504, 524, 529,
] as const;
