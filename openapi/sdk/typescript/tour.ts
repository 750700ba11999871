/*
 * A tour of the API by the generated client; copy from it what you need.
 *
 *   FAREGATE_KEY=<key> node tour.ts [operation ...]
 *
 * Prints one line of JSON for each operation. FAREGATE_URL is the gateway's address (http://127.0.0.1:8080/v1).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { client } from './client.gen.ts';
import {
  type ChatCompletionChunk,
  createChatCompletion,
  createMessage,
  createUpload,
  createVideo,
  getBalance,
  getOrderBook,
  getVideo,
  getVideoContent,
  listMarkets,
} from './index.ts';

const { FAREGATE_URL: baseUrl = 'http://127.0.0.1:8080/v1', FAREGATE_KEY: key } = process.env;
if (!key) {
  console.error('Set FAREGATE_KEY to a key of yours.');
  process.exit(1);
}
const MODEL = 'faregate-sim/small';
const ATTEMPTS = 3;
const LONGEST_WAIT_MS = 60_000;
/** What the gateway answers with; a file is a redirect first, and then a video. */
const TYPES = ['application/json', 'text/event-stream', 'video/'];

/** An answer that is no success. Branch on `code`: it stays, messages may be reworded. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;
  constructor(status: number, code: string | undefined, message: string) {
    super(`HTTP ${status}${code === undefined ? '' : ` ${code}`}: ${message}`);
    this.status = status;
    this.code = code;
  }
}

/** Stands under the generated code: waits where the answer says how long, and throws a `Refusal` for any other failure. */
async function patientFetch(...args: Parameters<typeof fetch>): Promise<Response> {
  const request = new Request(...args);
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(request.clone());
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && TYPES.some((each) => type.startsWith(each))) return response;
    const waitMs = Number(response.headers.get('retry-after-ms') ?? Number.NaN);
    const text = await response.text();
    if (!(waitMs >= 0 && waitMs <= LONGEST_WAIT_MS) || attempt === ATTEMPTS)
      throw refusalOf(response.status, text, type);
    await wait(waitMs);
  }
}

function refusalOf(status: number, text: string, type: string): Refusal {
  try {
    const { error, error_description: description } = JSON.parse(text);
    // The MCP server tells in OAuth's words what is wrong with a key.
    if (typeof error === 'string' && typeof description === 'string')
      return new Refusal(status, error, description);
    if (typeof error.message === 'string') return new Refusal(status, error.code, error.message);
  } catch {}
  return new Refusal(
    status,
    undefined,
    `not an answer of the gateway, but ${type || 'something without a type'}`,
  );
}

client.setConfig({ baseUrl, auth: key, fetch: patientFetch, throwOnError: true });
/** Every operation throws, so its data is there. */
const thrown = { throwOnError: true } as const;

const operations: Record<string, () => Promise<object>> = {
  async balance() {
    const { data } = await getBalance(thrown);
    return { spendable_usd: data.spendable_usd, agent_status: data.agent.status };
  },

  async chat() {
    const body = { model: MODEL, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };
    const { data } = await createChatCompletion({ ...thrown, body });
    return { text: data.choices[0]?.message.content, cost: data.usage.cost };
  },

  async stream() {
    const { data } = await createChatCompletion({
      ...thrown,
      parseAs: 'stream',
      body: {
        model: MODEL,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Count to three' }],
        stream: true,
        stream_options: { include_usage: true },
      },
    });
    let text = '';
    let cost: number | undefined;
    // A cast, because the generator knows one type an operation, that of a whole answer: asked for a stream, the client hands out the bytes.
    for await (const chunk of chunksOf(data as unknown as ReadableStream<Uint8Array<ArrayBuffer>>)) {
      text += chunk.choices[0]?.delta?.content ?? '';
      cost = chunk.usage?.cost ?? cost;
    }
    return { text, cost };
  },

  /** The messages format has a status of its own for a busy model: 529. */
  async message() {
    const body = { model: MODEL, max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };
    const { data } = await createMessage({ ...thrown, body });
    return { text: data.content[0]?.text, cost: data.usage.cost };
  },

  async refusal() {
    const order = (model: string, n: number) =>
      createChatCompletion({ ...thrown, body: { model, n, messages: [{ role: 'user', content: 'Hello' }] } });
    const codes: (string | undefined)[] = [];
    for (const attempt of [() => order('nobody/nothing', 1), () => order('faregate-sim/large', 128)]) {
      try {
        await attempt();
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.code === 'unknown_model') codes.push('unknown_model');
        // Nothing was charged: send a lower `max_tokens`, or add credit.
        else if (error.code === 'insufficient_balance') codes.push('insufficient_balance');
        else throw error;
      }
    }
    return { codes };
  },

  async upload() {
    const image = Buffer.from(IMAGE, 'base64');
    const { data } = await createUpload({
      ...thrown,
      body: { content_type: 'image/png', size: image.length },
    });
    const { upload_url: to, upload_method: method, upload_headers: headers, url } = data;
    const put = await fetch(to, { method, headers, body: image });
    const kept = await fetch(url);
    return { put: put.status, url, size: (await kept.arrayBuffer()).byteLength };
  },

  async video() {
    const ordered = await createVideo({
      ...thrown,
      // Sent again with the same key, an order answers with the same video and makes no new one.
      headers: { 'Idempotency-Key': crypto.randomUUID() },
      body: {
        model: 'faregate-sim/clip',
        prompt: 'A harbour at dawn',
        duration: 1,
        resolution: '480p',
        aspect_ratio: '16:9',
      },
    });
    let video = ordered.data;
    // A status that this program does not know is one on the way to these.
    while (!['completed', 'failed', 'expired'].includes(video.status)) {
      await wait(1000);
      video = (await getVideo({ ...thrown, path: { id: video.id } })).data;
    }
    if (video.status !== 'completed')
      throw new Error(`the video ended as ${video.status}: ${video.error?.code}`);
    const { data } = await getVideoContent({ ...thrown, path: { id: video.id }, parseAs: 'blob' });
    // A cast, because the document knows the redirect alone, and no body: the client has followed it.
    return { id: video.id, bytes: (data as Blob).size, cost: video.usage?.cost };
  },

  /** Only a tool of the MCP server has pages. It is called by plain JSON-RPC, with the same key. */
  async calls() {
    const ids: number[] = [];
    let pages = 0;
    let before: string | null = null;
    do {
      const page: CallPage = await callTool(
        'list_calls',
        before === null ? { limit: 2 } : { limit: 2, before },
      );
      ids.push(...page.calls.map(({ id }) => id));
      before = page.next;
      pages += 1;
    } while (before !== null);
    return { pages, calls: new Set(ids).size };
  },

  /** Needs no key. */
  async book() {
    const id = await firstMarket();
    if (id === undefined) return { market: null };
    const book = await getOrderBook({ ...thrown, path: { id }, query: { depth: 5 } });
    return { market: id, seq: book.data.seq, best_bid: book.data.bids[0]?.price };
  },
};

async function firstMarket(): Promise<string | undefined> {
  try {
    return (await listMarkets(thrown)).data.markets[0]?.id;
  } catch (error) {
    // The exchange is not open yet.
    if (error instanceof Refusal && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** The events of a stream, each as it comes. Throws where the stream was cut. */
async function* chunksOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<ChatCompletionChunk> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const data = line.slice('data:'.length).trim();
      if (data === '[DONE]') return;
      const chunk: ChatCompletionChunk = JSON.parse(data);
      if (chunk.error) throw refusalOf(200, data, 'an error without a message');
      yield chunk;
    }
  }
  throw new Error('the stream was cut before its end');
}

interface CallPage {
  calls: { id: number }[];
  next: string | null;
}

async function callTool(name: string, args: object): Promise<CallPage> {
  const response = await patientFetch(baseUrl.replace(/\/v1$/, '/mcp'), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  });
  const { result } = JSON.parse(await response.text());
  // What a tool refuses is a sentence.
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

/** Why no answer came stands in the cause alone: all that `fetch` says is that it failed. */
function toldOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error)) return message;
  // Of several addresses that were tried, there is a code and no message.
  return `${message}: ${cause.message || ('code' in cause ? cause.code : cause.name)}`;
}

const IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const chosen = process.argv.slice(2);
for (const name of chosen.length === 0 ? Object.keys(operations) : chosen) {
  const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
  if (operation === undefined) {
    console.error(`There is no ${name}. There are: ${Object.keys(operations).join(', ')}.`);
    process.exitCode = 1;
    continue;
  }
  try {
    console.log(JSON.stringify({ operation: name, ...(await operation()) }));
  } catch (error) {
    const told = toldOf(error);
    const isMissing = /\(reading '/.test(told);
    console.error(`${name} failed: ${isMissing ? 'the answer is not as the document has it: ' : ''}${told}`);
    process.exitCode = 1;
  }
}
