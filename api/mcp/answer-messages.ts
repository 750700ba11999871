import type { IncomingHttpHeaders } from 'node:http';
import {
  createMcpHandler,
  isLegacyRequest,
  PROTOCOL_VERSION_META_KEY,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isRecord } from '#core/is-record.ts';

export interface ProtocolAnswer {
  status: number;
  contentType: string | null;
  body: string;
  /** Why it is a 500. What a message is refused for is its sender's business, and has the sender's words in it. */
  fault: Error | null;
}

/** What the protocol reads of the headers of a request; the key and all else stay outside. */
export const PROTOCOL_HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/** The library wants an address; it looks at none of its parts. */
const ADDRESS = 'http://mcp.invalid/mcp';

/**
 * One body of one message, or several, as the revision has it that it is written in: 2026-07-28 by its envelope, every
 * older one without a session. Both answer JSON.
 */
export async function answerMessages(
  build: () => Server,
  headers: IncomingHttpHeaders,
  body: unknown,
): Promise<ProtocolAnswer> {
  let last: Error | null = null;
  const onerror = (error: Error) => {
    last = error;
  };
  const request = toRequest(headers);
  const isLegacy = !namesItsRevision(body) && (await isLegacyRequest(request, body));
  const response = isLegacy
    ? await answerLegacy(build(), request, body)
    : await createMcpHandler(build, { legacy: 'reject', onerror }).fetch(request, { parsedBody: body });
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    // No answer goes on for long: where nothing changes, a stream of changes ends with its beginning.
    body: await response.text(),
    fault: response.status >= 500 ? last : null,
  };
}

/** A message of 2026 says in itself what it is; the library would look at all of it, and then once more to answer it. */
function namesItsRevision(body: unknown): boolean {
  if (!isRecord(body) || body.method === 'initialize' || !isRecord(body.params)) return false;
  const { _meta: meta } = body.params;
  return isRecord(meta) && PROTOCOL_VERSION_META_KEY in meta;
}

function toRequest(headers: IncomingHttpHeaders): Request {
  // Whoever cannot read events as well gets JSON all the same.
  const given: [string, string][] = [['accept', 'application/json, text/event-stream']];
  for (const name of PROTOCOL_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') given.push([name, value]);
  }
  // Without the body: it would be written, read and parsed once more.
  return new Request(ADDRESS, { method: 'POST', headers: given });
}

async function answerLegacy(server: Server, request: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  // Never closed: nothing is open once it has answered, and the end would make an error, with its stack, that nobody reads.
  return transport.handleRequest(request, { parsedBody: withoutCancellations(body) });
}

/**
 * Beside what it cancels in one batch, a cancellation would leave all of it without an answer, for ever. Nothing that could be
 * cancelled runs for long.
 */
function withoutCancellations(body: unknown): unknown {
  if (!Array.isArray(body)) return body;
  const kept = body.filter((message) => !isRecord(message) || message.method !== CANCELLATION);
  return kept.length === 0 ? body : kept;
}

const CANCELLATION = 'notifications/cancelled';
