import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { pathOf } from '../support/path-of.ts';
import { plays } from '../support/raw-provider.ts';
import { modelOf, type ProviderKind } from './format-gateway.ts';
import { useRawFormatGateway } from './raw-format-gateway.ts';
import { FORMATS, requestIn } from './requests.ts';

/* Servers say with status 200 that they have failed, in a body or an event of their own shape. */

const raw = useRawFormatGateway();

async function ask(format: FormatName, kind: ProviderKind, extra: object = {}) {
  const body = requestIn(format, modelOf[kind], {
    ...(format === 'messages' && { max_tokens: 100 }),
    ...extra,
  });
  const response = await raw.gateway.post(body, { path: pathOf(format) });
  const text = await response.text();
  return { status: response.status, text, told: text.startsWith('{') ? JSON.parse(text) : null };
}

const eventsOf = (...events: object[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

const LONG = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
const NATIVE = [
  ['chat', 'chat only'],
  ['messages', 'messages only'],
  ['responses', 'all formats'],
] as const;

describe.each(NATIVE)('asked in %s of a provider that speaks %s', (format, kind) => {
  it.each<[string, object]>([
    ['vLLM', { object: 'error', message: LONG, type: 'BadRequestError', param: null, code: 400 }],
    ['DashScope', { code: 'InvalidParameter', message: 'Range of input length should be [1, 98304]' }],
    ['FastAPI', { detail: LONG }],
    ['Bedrock', { __type: 'ValidationException', message: 'Input is too long for requested model.' }],
    ['an official error', { type: 'error', error: { type: 'invalid_request_error', message: LONG } }],
  ])('the prompt is too long in the words of %s', async (_who, body) => {
    raw.provider.answers = plays(JSON.stringify(body), 'application/json');
    const { status, told } = await ask(format, kind);
    expect([status, told.error.code]).toEqual([413, 'request_too_large']);
  });
});

it.each(FORMATS)('a stream that Groq stops early is no good answer, asked in %s', async (format) => {
  const frame = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const half = { index: 0, delta: { role: 'assistant', content: 'Half of' }, finish_reason: null };
  raw.provider.answers = plays(
    eventsOf(
      { ...frame, choices: [half], x_groq: { id: 'req' } },
      {
        ...frame,
        choices: [{ index: 0, delta: {}, finish_reason: null }],
        x_groq: { error: 'over capacity' },
      },
    ),
  );
  const whole = await ask(format, 'chat only');
  expect(whole.status).toBe(502);
  const streamed = await ask(format, 'chat only', { stream: true });
  expect(streamed.text).toMatch(/"error":\{/);
  expect(streamed.text).not.toContain('over capacity');
});

describe('a message that its server ends by a word of its own has one of the format for callers of messages', () => {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'c', stop_sequence: null };
  const usage = { input_tokens: 10, output_tokens: 5 };

  it('as a whole', async () => {
    const content = [{ type: 'text', text: 'Hi' }];
    raw.provider.answers = plays(
      JSON.stringify({ ...message, content, stop_reason: 'MAX_TOKENS', usage }),
      'application/json',
    );
    expect((await ask('messages', 'messages only')).told.stop_reason).toBe('max_tokens');
  });

  it('as a stream', async () => {
    raw.provider.answers = plays(
      eventsOf(
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'sensitive', stop_sequence: null }, usage },
        { type: 'message_stop' },
      ),
    );
    expect((await ask('messages', 'messages only', { stream: true })).text).toContain(
      '"stop_reason":"refusal"',
    );
    expect((await ask('messages', 'messages only')).told.stop_reason).toBe('refusal');
  });
});

// These tests are the last because the gateway then skips each provider for a while.
describe.each(NATIVE)('asked in %s of a provider that speaks %s and wants money', (format, kind) => {
  it('an account of the operator without money is no fault of the request', async () => {
    const message = 'Your credit balance is too low to access the API. Please go to Plans & Billing.';
    raw.provider.answers = plays(
      eventsOf({ type: 'error', error: { type: 'invalid_request_error', message } }),
    );
    const { text, told } = await ask(format, kind);
    expect(told.error.code).toBe('gateway_capacity');
    expect(text).not.toContain('credit balance');
  });
});
