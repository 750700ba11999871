import OpenAI from 'openai';
import { afterEach, describe, expect, test } from 'vitest';
import { type ApiError, apiError } from '../../api/contract/errors.ts';
import { type EdgeApp, startEdge } from '../support/edge-app.ts';

let edge: EdgeApp;
let calls = 0;
afterEach(() => edge.stop());

async function callWith(refusal: ApiError, key?: string): Promise<unknown> {
  calls = 0;
  edge = await startEdge({
    useCases: {
      async runCall() {
        calls += 1;
        return refusal;
      },
    },
  });
  const client = new OpenAI({ baseURL: `${edge.url}/v1`, apiKey: key ?? edge.key });
  return client.chat.completions
    .create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    .catch((error) => error);
}

describe('the official openai client', () => {
  test('shows code, type, field, status and call id of a refusal', async () => {
    const error = await callWith(apiError('unknown_model', { message: 'No such model.', param: 'model' }));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({
      status: 400,
      code: 'unknown_model',
      type: 'invalid_request_error',
      param: 'model',
      message: '400 No such model.',
      requestID: expect.stringMatching(/^\d+$/),
    });
    expect(calls).toBe(1);
  });

  test('takes a wrong key for what it is', async () => {
    const error = await callWith(apiError('gateway_error'), 'sk-of-another-service');
    expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(calls).toBe(0);
  });

  test('waits as it is told and tries again', async () => {
    const startedAtMs = performance.now();
    const error = await callWith(apiError('rate_limited', { retryAfterMs: 40 }));
    expect(error).toMatchObject({ status: 429, code: 'rate_limited' });
    expect(calls).toBe(3);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(80);
  });

  test('does not sleep through the hours of daily_share_used', async () => {
    const error = await callWith(apiError('daily_share_used', { retryAfterMs: 3_600_000 }));
    expect(error).toMatchObject({ status: 429, code: 'daily_share_used' });
    expect(calls).toBe(1);
  });

  test.each([
    'insufficient_balance',
    'key_limit',
    'no_provider',
    'unprocessable',
    'request_too_large',
  ] as const)('does not try %s again', async (code) => {
    expect(await callWith(apiError(code))).toMatchObject({ code });
    expect(calls).toBe(1);
  });
});
