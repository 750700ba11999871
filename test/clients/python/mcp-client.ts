import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type McpAccount, type McpClient, type McpClientCalls, mcpTold } from '../mcp-client.ts';

/** `legacy` begins as clients of 2025 do; `auto` looks for the newest revision. */
export const pythonMcpClients = (python: string): McpClient[] =>
  (['legacy', 'auto', '2026-07-28'] as const).map((mode) => ({
    name: `mcp (Python, ${mode})`,
    open: async (account) => openClient(python, { ...account, mode }),
  }));

/** In a process of its own. */
function openClient(python: string, account: McpAccount & { mode: string }): McpClientCalls {
  const child = spawn(python, [join(import.meta.dirname, 'mcp_client.py')], {
    stdio: ['pipe', 'pipe', 'ignore'],
    // Neither a proxy nor a key of this machine's.
    env: { PATH: process.env.PATH },
  });
  const exited = once(child, 'exit');
  // Of one that has ended: its next answer says so.
  child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const write = (what: object) => void child.stdin.write(`${JSON.stringify(what)}\n`);
  write(account);
  async function ask<Result>(what: object, result: z.ZodType<Result>): Promise<Result> {
    write(what);
    const line = await lines.next();
    if (line.done === true) throw new Error('Python has ended.');
    const told = z
      .object({ result: z.unknown(), error: z.string().optional() })
      .parse(JSON.parse(line.value));
    if (told.error !== undefined) throw new Error(told.error);
    return result.parse(told.result);
  }
  return {
    toolNames: () => ask({ call: 'tools' }, z.array(z.string())),
    call: (tool, args = {}) => ask({ call: 'tool', tool, args }, mcpTold),
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
