import { expect, it } from 'vitest';
import { z } from 'zod';
import type { AccountDeps } from '../../api/account/account-deps.ts';
import { defineTool, readsOnly, type ToolDeps } from '../../api/mcp/tool.ts';

async function call(record: unknown) {
  const logged: string[] = [];
  const deps: ToolDeps = {
    account: {} as AccountDeps,
    startUpload: async () => ({ ok: false, reason: 'unavailable' }),
    log: { info() {}, warn() {}, error: (event) => void logged.push(event) },
  };
  const tool = defineTool({
    name: 'x',
    title: 'x',
    description: 'x',
    input: z.object({}),
    output: z.object({ count: z.int() }),
    annotations: readsOnly,
    run: async () => ({ ok: true, record: record as { count: number } }),
  });
  return { answer: await tool.call(deps, { agentId: 1, keyId: 1 }, {}), logged };
}

it('a record has the members of its schema, and no other that came with it', async () => {
  const { answer, logged } = await call({ count: 5, internal: 'x' });
  expect(answer).toEqual({
    structuredContent: { count: 5 },
    content: [{ type: 'text', text: '{"count":5}' }],
  });
  expect(logged).toEqual([]);
});

it('a record that does not fit its schema is never sent, and is logged as a fault', async () => {
  const { answer, logged } = await call({ count: '5' });
  expect(answer.isError).toBe(true);
  expect(JSON.stringify(answer)).toContain('could not finish this right now');
  expect(logged).toEqual(['mcp tool failed']);
});
