/** Models of the canned provider, which the caller names; the way of answering is in the name. */
export const benchModels = {
  atOnce: 'bench/at-once',
  after30Ms: 'bench/after-30-ms',
  after50Ms: 'bench/after-50-ms',
  /** So late that whatever the gateway does in the meantime is long done. */
  after100Ms: 'bench/after-100-ms',
  /** An event every 200 ms: streams that stay open for ten seconds. */
  slow: 'bench/slow',
  /** An event every 5 ms, each written by itself, as a fast model's tokens come. */
  paced: 'bench/paced',
} as const;

export const firstByteDelays: readonly { model: string; delayMs: number }[] = [
  { model: benchModels.after30Ms, delayMs: 30 },
  { model: benchModels.after50Ms, delayMs: 50 },
  { model: benchModels.after100Ms, delayMs: 100 },
];
export const SLOW_PACE_MS = 200;
export const PACE_MS = 5;
export const STREAM_CHUNKS = 50;

/** An answer ready to be written: only the generation id differs from call to call. */
export interface CannedAnswer {
  head: Buffer;
  /** Where in the head the digits of the generation id stand. */
  idAt: number;
  /** The framed events of a stream, or the one body of a JSON answer. */
  parts: Buffer[];
}

export const ID_DIGITS = 20;

// Exponents, and digits below the nano-dollar, as real providers send them.
const COSTS = [
  '0.0000125',
  '1.65e-05',
  '0.0000321005',
  '0.00004',
  '5.5e-5',
  '0.0000612',
  '0.00007',
  '0.000081225',
];
const WORD = 'lorem ipsum dolor sit amet ';
const CHUNK_HEAD = `"id":"gen-bench","object":"chat.completion.chunk","created":1795000000,"model":"bench/small"`;

export const jsonAnswers = COSTS.map((cost): CannedAnswer => {
  const body = Buffer.from(
    `{"id":"gen-bench","provider":"Canned","model":"bench/small","object":"chat.completion","created":1795000000,` +
      `"choices":[{"index":0,"message":{"role":"assistant","content":"${WORD.repeat(55)}","refusal":null},` +
      `"logprobs":null,"finish_reason":"stop","native_finish_reason":"stop"}],"usage":${usage(cost)}}`,
  );
  return { ...head('application/json', `content-length: ${body.length}`), parts: [body] };
});

export const streamAnswers = COSTS.map((cost): CannedAnswer => {
  const texts = Array.from({ length: STREAM_CHUNKS }, () => chunk(`{"content":"lorem "}`));
  const events = [...texts, `{${CHUNK_HEAD},"choices":[],"usage":${usage(cost)}}`, '[DONE]'].map(
    (data) => `data: ${data}\n\n`,
  );
  const parts = [...events, ''].map((event) => frame(event));
  return { ...head('text/event-stream', 'transfer-encoding: chunked'), parts };
});

function chunk(delta: string): string {
  return `{${CHUNK_HEAD},"choices":[{"index":0,"delta":${delta},"finish_reason":null}]}`;
}

function usage(cost: string): string {
  return `{"prompt_tokens":244,"completion_tokens":100,"total_tokens":344,"cost":${cost},"is_byok":false}`;
}

/** One HTTP chunk an event, as a server writes them; the empty one ends the body. */
function frame(event: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
}

function head(contentType: string, length: string): Pick<CannedAnswer, 'head' | 'idAt'> {
  const before = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\nx-generation-id: gen-`;
  const text = `${before}${'0'.repeat(ID_DIGITS)}\r\n${length}\r\nconnection: keep-alive\r\n\r\n`;
  return { head: Buffer.from(text), idAt: before.length };
}
