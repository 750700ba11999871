import type { Dispatcher, Pool } from 'undici';
import type { FormatName } from '#core/catalog/catalog.ts';
import { attoToNanoUp, type NanoUsd, parseAttoUsd, parseNanoUsd } from '#core/money.ts';

/** Where calls go: straight to the provider, through the bare proxy, or through the gateway. */
export interface Target {
  name: string;
  pid: number;
  origin: string;
  path: string;
  /** One caller after the other takes the next; the gateway has an agent behind each. */
  authorizations: readonly string[];
  /** The gateway promises whole nano-dollars; the provider itself does not. */
  showsNanoUsd: boolean;
  /** A peer is told with each call which provider to ask. */
  headers?: Readonly<Record<string, string>>;
}

export interface CallResult {
  /** 200, whole, and with a cost. */
  ok: boolean;
  status: number;
  costNanoUsd: NanoUsd;
  firstByteMs: number;
}

const PROMPT = 'Once upon a time at a fare gate. '.repeat(22);
export const OUTPUT_TOKENS_MAX = 400;

/** About 950 bytes, as a short chat has. */
export function callBody(model: string, stream: boolean, format: FormatName = 'chat'): Buffer {
  return Buffer.from(
    JSON.stringify({ model, ...promptIn(format, stream), temperature: 0.7, ...(stream ? { stream } : {}) }),
  );
}

function promptIn(format: FormatName, stream: boolean): object {
  const system = 'Answer briefly.';
  const user = { role: 'user', content: PROMPT };
  switch (format) {
    case 'chat':
      return {
        messages: [{ role: 'system', content: system }, user],
        max_tokens: OUTPUT_TOKENS_MAX,
        ...(stream ? { stream_options: { include_usage: true } } : {}),
      };
    case 'responses':
      return { instructions: system, input: [user], max_output_tokens: OUTPUT_TOKENS_MAX };
    case 'messages':
      return { system, messages: [user], max_tokens: OUTPUT_TOKENS_MAX };
  }
}

/** One call, read to its end. `done` is called once, whatever happens. */
export function startCall(
  pool: Pool,
  target: Target,
  caller: number,
  body: Buffer,
  done: (result: CallResult) => void,
): void {
  const chunks: Buffer[] = [];
  const startedMs = performance.now();
  let firstByteMs = 0;
  let status = 0;
  const authorization = target.authorizations[caller % target.authorizations.length] ?? '';
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart(_controller, statusCode) {
      status = statusCode;
    },
    onResponseData(_controller, chunk) {
      if (firstByteMs === 0) firstByteMs = performance.now() - startedMs;
      chunks.push(chunk);
    },
    onResponseEnd() {
      const cost = shownCost(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks), target);
      done({ ok: status === 200 && cost !== null, status, costNanoUsd: cost ?? 0n, firstByteMs });
    },
    onResponseError() {
      done({ ok: false, status, costNanoUsd: 0n, firstByteMs });
    },
  };
  const headers = { 'content-type': 'application/json', authorization, ...target.headers };
  pool.dispatch({ path: target.path, method: 'POST', headers, body }, handler);
}

const COST = '"cost":';
const COST_CHARS_MAX = 32;
const OPENING_BRACE = 0x7b;
/** What the last event of a stream has in it, in each of the formats. */
const LAST_EVENTS = ['data: [DONE]', 'event: message_stop', 'event: response.completed'];
const costs = new Map<string, NanoUsd | null>();

/** The number's own text, exactly; `null` when there is none, or when a stream lacks its end. */
function shownCost(answer: Buffer, { showsNanoUsd }: Target): NanoUsd | null {
  const isJson = answer[0] === OPENING_BRACE;
  const lastAt = answer.lastIndexOf('\n\n', answer.length - 3) + 2;
  if (!isJson && !LAST_EVENTS.some((last) => answer.indexOf(last, lastAt) === lastAt)) return null;
  const at = answer.lastIndexOf(COST);
  if (at === -1) return null;
  const text =
    /^[^,}]+/.exec(answer.toString('latin1', at + COST.length, at + COST.length + COST_CHARS_MAX))?.[0] ?? '';
  let cost = costs.get(text);
  if (cost === undefined) {
    cost = showsNanoUsd ? parseNanoUsd(text) : parseNanoUsdUp(text);
    costs.set(text, cost);
  }
  return cost;
}

/** A provider's own figure may be finer than our unit. */
function parseNanoUsdUp(text: string): NanoUsd | null {
  const atto = parseAttoUsd(text);
  return atto === null ? null : attoToNanoUp(atto);
}
