import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type ErrorBody, errorBody, refusal } from './error-body.ts';
import type { Rule } from './script-rule.ts';
import type { Answer, Piece } from './send.ts';

const SCRIPTED_ERROR_STATUS = 500;

/** A record as JSON. */
export const recordAnswer = (record: unknown): Answer => jsonAnswer(200, JSON.stringify(record));

export const notFound = (message: string): Answer => textAnswer(404, refusal(404, message));

export function jsonAnswer(status: number, text: string, headers: Record<string, string> = {}): Answer {
  return textAnswer(status, { contentType: 'application/json', text }, headers);
}

export function textAnswer(status: number, body: ErrorBody, headers: Record<string, string> = {}): Answer {
  const length = Buffer.byteLength(body.text);
  return {
    status,
    headers: { 'content-type': body.contentType, 'content-length': String(length), ...headers },
    pieces: length === 0 ? [] : [{ data: body.text, textBytes: 0 }],
    endless: null,
  };
}

/** The answer that would have been, with what the rule says about its status, headers, body and encoding. */
export function scripted(answer: Answer, rule: Rule, errorOf = errorBody): Answer {
  const changed = encoded(withContent(answer, rule, errorOf), rule);
  const headers = { ...changed.headers };
  for (const [name, value] of Object.entries(rule.headers)) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value;
  }
  return { ...changed, headers };
}

function withContent(answer: Answer, rule: Rule, errorOf: typeof errorBody): Answer {
  if (rule.error?.at === 'body') {
    const status = rule.status ?? SCRIPTED_ERROR_STATUS;
    return textAnswer(status, errorOf(status, rule.error));
  }
  // Inside a good answer the status belongs to the error that it carries.
  const status = rule.error === undefined ? (rule.status ?? answer.status) : answer.status;
  if (rule.body === undefined) return { ...answer, status };
  const pieces = rule.body === '' ? [] : [{ data: rule.body, textBytes: 0 }];
  return withLength({ ...answer, status, pieces, endless: null });
}

function encoded(answer: Answer, rule: Rule): Answer {
  if (rule.encoding === undefined) return answer;
  if (rule.encoding === 'lie')
    return { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' } };
  const plain = Buffer.concat(answer.pieces.map((piece) => Buffer.from(piece.data)));
  const textBytes = answer.pieces.reduce((sum, piece) => sum + piece.textBytes, 0);
  const piece: Piece = { data: compressors[rule.encoding](plain), textBytes };
  const headers = { ...answer.headers, 'content-encoding': rule.encoding };
  return withLength({ ...answer, headers, pieces: [piece] });
}

const compressors = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };

/** A stream has no length; where there was one it has to be right again. */
function withLength(answer: Answer): Answer {
  if (!('content-length' in answer.headers)) return answer;
  const length = answer.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece.data), 0);
  return { ...answer, headers: { ...answer.headers, 'content-length': String(length) } };
}
