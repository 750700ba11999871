import type { FormatName } from '#core/catalog/catalog.ts';

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
  /** The framed writes of a stream, an event or several, or the one body of a JSON answer. */
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
const TEXT = 'lorem ipsum dolor sit amet '.repeat(55);
const ID = 'gen-bench';
const MODEL = 'bench/small';

const CHUNK_HEAD = `"id":"${ID}","object":"chat.completion.chunk","created":1795000000,"model":"${MODEL}"`;

const chatAnswer = (cost: string): string =>
  `{"id":"${ID}","provider":"Canned","model":"${MODEL}","object":"chat.completion","created":1795000000,` +
  `"choices":[{"index":0,"message":{"role":"assistant","content":"${TEXT}","refusal":null},` +
  `"logprobs":null,"finish_reason":"stop","native_finish_reason":"stop"}],"usage":${chatUsage(cost)}}`;

function chatEvents(cost: string): string[] {
  const chunk = (delta: string, end = 'null'): string =>
    data(`{${CHUNK_HEAD},"choices":[{"index":0,"delta":{${delta}},"finish_reason":${end}}]}`);
  const content = '"content":"lorem "';
  const texts = Array.from({ length: STREAM_CHUNKS }, (_, at) =>
    chunk(at === 0 ? `"role":"assistant",${content}` : content),
  );
  const usage = data(`{${CHUNK_HEAD},"choices":[],"usage":${chatUsage(cost)}}`);
  return [...texts, chunk('', '"stop"') + usage + data('[DONE]')];
}

const data = (json: string): string => `data: ${json}\n\n`;

function chatUsage(cost: string): string {
  return `{"prompt_tokens":244,"completion_tokens":100,"total_tokens":344,"cost":${cost},"is_byok":false}`;
}

function response(status: string, text: string, cost: string | null): string {
  const part = `{"type":"output_text","text":"${text}","annotations":[]}`;
  const item = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[${part}]}`;
  const counts = '"input_tokens":244,"output_tokens":100,"total_tokens":344';
  const usage = cost === null ? 'null' : `{${counts},"cost":${cost},"is_byok":false}`;
  return (
    `{"id":"${ID}","object":"response","created_at":1795000000,"status":"${status}","error":null,` +
    `"model":"${MODEL}","output":[${status === 'completed' ? item : ''}],"tools":[],"usage":${usage}}`
  );
}

function responsesEvents(cost: string): string[] {
  const at = '"item_id":"msg_1","output_index":0,"content_index":0';
  const running = `"response":${response('in_progress', '', null)}`;
  const item = '"output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}';
  const part = '"part":{"type":"output_text","text":"","annotations":[]}';
  const whole = `"response":${response('completed', 'lorem '.repeat(STREAM_CHUNKS), cost)}`;
  const texts = Array.from({ length: STREAM_CHUNKS }, () =>
    named('response.output_text.delta', `${at},"delta":"lorem "`),
  );
  const begin =
    named('response.created', running) +
    named('response.in_progress', running) +
    named('response.output_item.added', item) +
    named('response.content_part.added', `${at},${part}`);
  const end =
    named('response.content_part.done', `${at},${part}`) +
    named('response.output_item.done', item) +
    named('response.completed', whole);
  return framed(begin, texts, end);
}

const message = (text: string, usage: string): string =>
  `{"id":"${ID}","type":"message","role":"assistant","model":"${MODEL}","content":` +
  `[${text === '' ? '' : `{"type":"text","text":"${text}"}`}],"stop_reason":"end_turn","stop_sequence":null${usage}}`;

const messagesUsage = (cost: string): string =>
  `{"input_tokens":244,"output_tokens":100,"cost":${cost},"is_byok":false}`;

function messagesEvents(cost: string): string[] {
  const started = message('', ',"usage":{"input_tokens":244,"output_tokens":1}');
  const delta = '"index":0,"delta":{"type":"text_delta","text":"lorem "}';
  const stop = '"delta":{"stop_reason":"end_turn","stop_sequence":null}';
  const texts = Array.from({ length: STREAM_CHUNKS }, () => named('content_block_delta', delta));
  const begin =
    named('message_start', `"message":${started}`) +
    named('content_block_start', '"index":0,"content_block":{"type":"text","text":""}');
  const end =
    named('content_block_stop', '"index":0') +
    named('message_delta', `${stop},"usage":${messagesUsage(cost)}`) +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  return framed(begin, texts, end);
}

/** What only frames the text is written with the text beside it: there is no moment at which a server has it alone. */
const framed = (begin: string, [first = '', ...texts]: string[], end: string): string[] => [
  begin + first,
  ...texts,
  end,
];

const named = (name: string, members: string): string =>
  `event: ${name}\ndata: {"type":"${name}",${members}}\n\n`;

function jsonAnswer(text: string): CannedAnswer {
  const body = Buffer.from(text);
  return { ...head('application/json', `content-length: ${body.length}`), parts: [body] };
}

const streamAnswer = (events: readonly string[]): CannedAnswer => ({
  ...head('text/event-stream', 'transfer-encoding: chunked'),
  parts: [...events, ''].map((event) => frame(event)),
});

/** One HTTP chunk a write; the empty one ends the body. */
function frame(event: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`);
}

function head(contentType: string, length: string): Pick<CannedAnswer, 'head' | 'idAt'> {
  const before = `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\nx-generation-id: gen-`;
  const text = `${before}${'0'.repeat(ID_DIGITS)}\r\n${length}\r\nconnection: keep-alive\r\n\r\n`;
  return { head: Buffer.from(text), idAt: before.length };
}

const LOOKED_UP = '{"data":{"total_cost":0.00004}}';
/** What any answer cost, for who asks later. */
export const lookedUp = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${LOOKED_UP.length}\r\n\r\n${LOOKED_UP}`,
);

/** The same answers in each format: their texts, tokens and costs are equal. */
export const cannedAnswers: Readonly<Record<FormatName, { json: CannedAnswer[]; stream: CannedAnswer[] }>> = {
  chat: {
    json: COSTS.map((cost) => jsonAnswer(chatAnswer(cost))),
    stream: COSTS.map((cost) => streamAnswer(chatEvents(cost))),
  },
  responses: {
    json: COSTS.map((cost) => jsonAnswer(response('completed', TEXT, cost))),
    stream: COSTS.map((cost) => streamAnswer(responsesEvents(cost))),
  },
  messages: {
    json: COSTS.map((cost) => jsonAnswer(message(TEXT, `,"usage":${messagesUsage(cost)}`))),
    stream: COSTS.map((cost) => streamAnswer(messagesEvents(cost))),
  },
};
