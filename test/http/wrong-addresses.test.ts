import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('whoever has the base URL of a client wrong is told the right address', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startTestGateway();
  });

  afterAll(async () => {
    await gateway.stop();
  });

  const refusal = async (method: string, path: string): Promise<string> => {
    const answer = await fetch(gateway.baseUrl.replace('/v1', path), { method });
    expect(answer.status).toBe(404);
    const { error } = JSON.parse(await answer.text());
    expect(error.code).toBe('not_found');
    return error.message;
  };

  it.each([
    ['POST', '/v1/v1/messages', 'POST /v1/messages'],
    ['POST', '/messages', 'POST /v1/messages'],
    ['POST', '/chat/completions', 'POST /v1/chat/completions'],
    ['POST', '/api/v1/responses', 'POST /v1/responses'],
    ['POST', '/v1/chat/completions/', 'POST /v1/chat/completions'],
    ['POST', '/v1//chat/completions', 'POST /v1/chat/completions'],
    ['POST', '/v1/chat/completions/chat/completions', 'POST /v1/chat/completions'],
    ['GET', '/v1/chat/completions', 'POST /v1/chat/completions'],
    ['GET', '/models', 'GET /v1/models'],
  ])('%s %s', async (method, path, right) => {
    expect(await refusal(method, path)).toContain(`\`${right}\``);
  });

  it.each(['/v1/completions', '/v1/embeddings', '/v1/messages/count_tokens', '/', '/v1'])(
    'and of what is not served at all, nothing: %s',
    async (path) => {
      expect(await refusal('POST', path)).not.toContain('`');
    },
  );
});
