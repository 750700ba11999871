import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOOL_NAMES } from '../mcp/mcp-calls.ts';
import { hello, MODEL, startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import type { McpClient, McpClientCalls } from './mcp-client.ts';

/** The table: what every client of the protocol can do, on a real gateway. */
export function testMcpClient({ name, open }: McpClient): void {
  let gateway: TestGateway;
  let agent: TestAgent;
  let calls: McpClientCalls;

  describe(`by MCP with ${name}`, () => {
    beforeAll(async () => {
      gateway = await startTestGateway();
      agent = await gateway.newAgent();
      calls = await open({ mcpUrl: gateway.running.mcpUrl, key: agent.key });
    });
    afterAll(async () => {
      await calls?.close();
      await gateway?.stop();
    });

    // biome-ignore lint/suspicious/noExplicitAny: a test looks at what it expects of a record.
    async function record(tool: string, args?: Record<string, unknown>): Promise<any> {
      const { isError, text, record: found } = await calls.call(tool, args);
      if (isError || found === null) throw new Error(`${tool} was refused: ${text}`);
      expect(JSON.parse(text)).toEqual(found);
      return found;
    }

    it('finds every tool', async () => {
      expect(await calls.toolNames()).toEqual(TOOL_NAMES);
    });

    it('reads balance and limits', async () => {
      expect(await record('get_balance')).toEqual(await gateway.balance(agent));
      expect((await record('get_limits')).key).toMatchObject({ id: agent.keyId, can_manage_keys: true });
    });

    it('reads calls and usage', async () => {
      expect((await gateway.post(hello(), { agent })).status).toBe(200);
      await gateway.settled(agent);
      await gateway.calls(agent);
      const { calls: found, next } = await record('list_calls', { limit: 5 });
      expect([found.length, next, found[0].model, found[0].outcome]).toEqual([1, null, MODEL, 'ok']);
      const { total } = await record('get_usage', { days: 2 });
      expect(total).toMatchObject({ calls: 1, usd: found[0].charge_usd });
    });

    it('makes a key, changes it and revokes it', async () => {
      const spending_limit = { usd: '1.5', reset: 'weekly' };
      const made = await record('create_key', { label: 'made by MCP', spending_limit });
      const { keys } = await record('list_keys');
      expect(keys.at(-1)).toMatchObject({ id: made.id, created_by_key_id: agent.keyId, this_key: false });
      const changed = await record('update_key', { key_id: made.id, label: 'changed', spending_limit: null });
      expect(changed).toMatchObject({ label: 'changed', spending_limit: null });
      const revoked = await record('revoke_key', { key_id: made.id });
      expect(revoked).toEqual({ key_id: made.id, revoked: true, this_key: false });
    });

    it('starts an upload', async () => {
      const asked = { content_type: 'image/png', size: 68 };
      expect(await record('create_upload', asked)).toMatchObject({
        object: 'upload',
        upload_method: 'PUT',
        ...asked,
      });
    });

    it('hears a refusal in a sentence', async () => {
      const told = await calls.call('revoke_key', { key_id: 1 });
      expect(told).toEqual({
        isError: true,
        record: null,
        text: expect.stringMatching(/^No key 1 belongs to this agent/),
      });
      const wrong = await calls.call('get_usage', { days: 1_000_000_000 });
      expect(wrong.text).toMatch(/^Input validation error/);
    });

    it('is kept out with a wrong key', async () => {
      const account = { mcpUrl: gateway.running.mcpUrl, key: `fg_${'a'.repeat(38)}` };
      await expect(open(account).then((opened) => opened.toolNames())).rejects.toThrow();
    });
  });
}
