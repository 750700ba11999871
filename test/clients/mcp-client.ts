import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';

/** A client package as its users have it: only translated to what every one can do. */
export interface McpClient {
  name: string;
  open(account: McpAccount): Promise<McpClientCalls>;
}

export interface McpAccount {
  mcpUrl: string;
  key: string;
}

export interface McpClientCalls {
  toolNames(): Promise<string[]>;
  /** What a tool told its caller, in both forms; the clients check it against the tool's schema by themselves. */
  call(tool: string, args?: Record<string, unknown>): Promise<McpTold>;
  close(): Promise<void>;
}

export const mcpTold = z.object({
  isError: z.boolean(),
  text: z.string(),
  record: z.record(z.string(), z.unknown()).nullable(),
});
export type McpTold = z.infer<typeof mcpTold>;

const info = { name: 'faregate-test', version: '1' };
const headersOf = ({ key }: McpAccount) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

/** What went over the wire: they know more of it than they show. */
const answer = z.object({
  isError: z.boolean().optional(),
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
});

function toldOf(result: unknown): McpTold {
  const { isError = false, content, structuredContent = null } = answer.parse(result);
  return { isError, text: content[0].text, record: structuredContent };
}

/** The older line, which most hosts still have. */
export const sdkClient: McpClient = {
  name: '@modelcontextprotocol/sdk 1.x',
  async open(account) {
    const client = new Client1(info);
    // Its own types do not fit each other where optional means absent.
    await client.connect(new Transport1(new URL(account.mcpUrl), headersOf(account)) as never);
    return {
      toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, args = {}) => toldOf(await client.callTool({ name, arguments: args })),
      close: () => client.close(),
    };
  },
};

/** The newer line, in each of its ways to agree on a revision. */
export const newClients: readonly McpClient[] = [
  newClient('as it comes', {}),
  newClient('which looks for the newest revision', { versionNegotiation: { mode: 'auto' } }),
  newClient('of 2026-07-28 alone', { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
];

function newClient(way: string, options: ConstructorParameters<typeof Client2>[1]): McpClient {
  return {
    name: `@modelcontextprotocol/client 2.x ${way}`,
    async open(account) {
      const client = new Client2(info, options);
      await client.connect(new Transport2(new URL(account.mcpUrl), headersOf(account)));
      return {
        toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
        call: async (name, args = {}) => toldOf(await client.callTool({ name, arguments: args })),
        close: () => client.close(),
      };
    },
  };
}
