import type { Balance } from './balance.ts';

const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14, cost: 0.0000023 };
const chunk = { id: 'gen-1', object: 'chat.completion.chunk' };

/** Shown in the document, and validated against its schemas by the linter. */
export const chatExamples = {
  request: {
    model: 'acme/small',
    messages: [{ role: 'user', content: 'Say hello.' }],
    max_tokens: 64,
  },
  answer: {
    id: 'gen-1790000000-a1B2c3D4e5F6g7H8i9J0',
    object: 'chat.completion',
    created: 1790000000,
    model: 'acme/small',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
    usage,
  },
  events: [
    JSON.stringify({
      ...chunk,
      choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello!' }, finish_reason: null }],
    }),
    JSON.stringify({ ...chunk, choices: [], usage }),
    '[DONE]',
  ],
};

export const balanceExample: Balance = {
  object: 'balance',
  agent: { id: 7, name: 'demo', token: null, status: 'active' },
  spendable_usd: '4.9877',
  balance_usd: '5',
  reserved_usd: '0.0123',
  running_calls: 1,
  expiring: [{ at: '2026-11-29T00:00:00.000Z', usd: '4.9877' }],
  key_limit: {
    limit_usd: '10',
    reset: 'daily',
    spent_usd: '1.5',
    reserved_usd: '0.0123',
    remaining_usd: '8.4877',
    resets_at: '2026-11-22T00:00:00.000Z',
  },
};
