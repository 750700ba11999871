import { describe, expect, it } from 'vitest';
import { parseErrorBody } from '../../api/inference/upstream/error-body.ts';
import { readUpstreamError } from '../../api/inference/upstream/upstream-error.ts';

const ASKED = {
  provider: { id: 'acme', apiKey: 'token-q7w8e9', baseUrl: 'http://vllm-0.acme.internal:8000/v1' },
  upstreamModel: 'acme-internal/large-v2',
  publicModel: 'acme/large',
  contextTokens: 8_192,
};
const SAID = 'prompt is too long: 210000 tokens > 200000 maximum';
const ERROR = JSON.stringify({ error: { message: SAID } });

const read = (status: number, text: string) =>
  readUpstreamError(status, parseErrorBody(Buffer.from(text)), ASKED).error;

describe('a refusal is told by its sentence, so that a client shortens its prompt', () => {
  it.each<[string, string]>([
    ['an event of a stream, as servers answer what was asked as one', `data: ${ERROR}\n\n`],
    ['a named event with other line ends', `event: error\r\ndata:${ERROR}\r\n\r\n`],
    ['an event behind a comment', `: waiting\n\ndata: ${ERROR}\n\ndata: [DONE]\n\n`],
    ['plain text', SAID],
    ['a JSON text', JSON.stringify(SAID)],
    ['JSON behind a byte order mark', `\ufeff${ERROR}`],
    ['{code, msg}', JSON.stringify({ code: 400, msg: SAID, data: null })],
    ['{Message}', JSON.stringify({ Message: SAID })],
    ['{errors: [text]}', JSON.stringify({ errors: [SAID] })],
    ['{errors: [{message}]}', JSON.stringify({ errors: [{ message: SAID }] })],
    ['{error: [{message}]}', JSON.stringify({ error: [{ message: SAID }] })],
    ['{error: {errors: [{message}]}}', JSON.stringify({ error: { code: 400, errors: [{ message: SAID }] } })],
    ['{detail: {error: {message}}}', JSON.stringify({ detail: { error: { message: SAID } } })],
    ['{detail: {error}}', JSON.stringify({ detail: { error: SAID } })],
    ['{detail: [{loc, msg}]}', JSON.stringify({ detail: [{ loc: ['body', 'prompt'], msg: SAID }] })],
    ['[{error}]', `[${ERROR}]`],
  ])('in %s', (_shape, text) => {
    expect(read(400, text)).toMatchObject({
      code: 'request_too_large',
      message: expect.stringContaining('210000'),
    });
  });
});

it('a page of HTML is no sentence for a caller', () => {
  expect(parseErrorBody(Buffer.from('<html><body>Bad Request at 10.1.2.3</body></html>'))).toBeUndefined();
  expect(read(400, '<!doctype html>nginx/1.25')).toMatchObject({ code: 'invalid_request' });
});

it('errors inside errors without end are read a few levels deep', () => {
  let text = JSON.stringify({ message: SAID });
  for (let depth = 0; depth < 40; depth++) text = `{"detail":${text}}`;
  expect(read(400, text).code).toBe('invalid_request');
});

it.each<[string, object]>([
  ['a sentence', { detail: 'Request was throttled.', status: 429, retry_after: 9 }],
  ['an error', { error: { message: 'busy' }, retry_after: 9 }],
  ['a list of errors', { errors: [{ message: 'busy' }], retry_after: 9 }],
])('a wait that stands beside %s is told', (_what, body) => {
  expect(read(429, JSON.stringify(body))).toMatchObject({ code: 'model_busy', retryAfterMs: 9_000 });
});

describe('an error inside an answer, whose name blames the request or the server whatever happened', () => {
  it.each(['invalid_request_error', 'api_error', 'server_error', 'permission_error'])('%s', (type) => {
    const codeOf = (message: string) =>
      readUpstreamError(200, { type: 'error', error: { type, message } }, ASKED).error.code;
    expect(codeOf(SAID)).toBe('request_too_large');
    expect(codeOf('Output blocked by content filtering policy')).toBe('provider_refused');
    expect(codeOf('Content Exists Risk')).toBe('provider_refused');
    expect(codeOf('Your credit balance is too low to access the API.')).toBe('gateway_capacity');
  });

  it('keeps the code of its name where its words tell nothing', () => {
    const codeOf = (type: string) =>
      readUpstreamError(200, { error: { type, message: 'x' } }, ASKED).error.code;
    expect(['invalid_request_error', 'server_error', 'not_found_error', 'timeout_error'].map(codeOf)).toEqual(
      ['invalid_request', 'upstream_error', 'no_provider', 'timeout'],
    );
  });
});
