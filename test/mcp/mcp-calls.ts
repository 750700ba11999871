import type { CallToolResult } from '@modelcontextprotocol/client';
import { z } from 'zod';

export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

/** The tools of `/mcp`, in the order of the spec. */
export const TOOL_NAMES = [
  'get_balance',
  'get_limits',
  'get_usage',
  'list_calls',
  'list_keys',
  'create_key',
  'update_key',
  'revoke_key',
  'create_upload',
];

/** A message as a client of this revision writes it. */
export function messageOf(revision: Revision, method: string, params: object = {}): object {
  const message = { jsonrpc: '2.0', id: 1, method };
  if (revision !== '2026-07-28') return { ...message, params };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { ...message, params: { ...params, _meta } };
}

export function headersOf(revision: Revision, method: string, name?: string): Record<string, string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  if (revision === '2024-11-05' || revision === '2025-03-26') return headers;
  if (revision !== '2026-07-28') return { ...headers, 'mcp-protocol-version': revision };
  return {
    ...headers,
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  };
}

export interface McpAccess {
  mcpUrl: string;
  key: string;
}

/** One call of a tool, by nothing but `fetch`. */
export async function callTool(
  { mcpUrl, key }: McpAccess,
  name: string,
  args: unknown = {},
  revision: Revision = '2026-07-28',
): Promise<CallToolResult> {
  const res = await fetch(mcpUrl, {
    method: 'POST',
    headers: { ...headersOf(revision, 'tools/call', name), authorization: `Bearer ${key}` },
    body: JSON.stringify(messageOf(revision, 'tools/call', { name, arguments: args })),
  });
  const text = await res.text();
  const { result } = z.object({ result: toolResult }).parse(JSON.parse(text), { error: () => text });
  if (res.status !== 200) throw new Error(`${name} answered ${res.status}: ${text}`);
  return result;
}

const toolResult = z.looseObject({
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});

/** The record that a tool answered; fails on a refusal, and where the two copies differ. */
export async function recordOf(
  access: McpAccess,
  name: string,
  args: unknown = {},
  revision?: Revision,
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at what it expects of a record.
): Promise<any> {
  const { content, structuredContent, isError } = await callTool(access, name, args, revision);
  const [block] = content;
  if (isError === true || block?.type !== 'text')
    throw new Error(`${name} was refused: ${JSON.stringify(content)}`);
  const text = JSON.stringify(structuredContent);
  if (block.text !== text) throw new Error(`${name} answered ${block.text} and ${text}.`);
  return structuredContent;
}

/** The one sentence of a refusal. */
export async function sentenceOf(
  access: McpAccess,
  name: string,
  args: unknown = {},
  revision?: Revision,
): Promise<string> {
  const result = await callTool(access, name, args, revision);
  const [block] = result.content;
  if (result.isError !== true || block?.type !== 'text') throw new Error(`${name} was not refused.`);
  if (result.content.length !== 1 || result.structuredContent !== undefined)
    throw new Error(`${name} answered more than a sentence: ${JSON.stringify(result)}`);
  return block.text;
}
