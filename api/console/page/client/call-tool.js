import { ask } from './ask.js';
import { problem } from './problem.js';

/** Any of 2025 does; with the newest of them each message stands alone as well. */
const REVISION = '2025-11-25';
let lastId = 0;

/**
 * Calls one of the gateway's MCP tools: a plain POST of one message.
 *
 * @template T
 * @param {string} key
 * @param {string} name
 * @param {Record<string, unknown>} [args]
 * @returns {Promise<import('./problem.js').Result<T>>}
 */
export function callTool(key, name, args = {}) {
  lastId += 1;
  const request = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: lastId,
      method: 'tools/call',
      params: { name, arguments: args },
    }),
  };
  return ask('/mcp', request, readAnswer);
}

/** @param {any} answer */
function readAnswer({ result, error }) {
  if (result === undefined)
    return problem('refused', String(error?.message ?? 'The gateway gave no answer.'));
  // A refusal is an answer too: one sentence, made to be shown.
  if (result.isError === true)
    return problem('refused', String(result.content?.[0]?.text ?? 'It was refused.'));
  return { ok: /** @type {const} */ (true), value: result.structuredContent };
}
