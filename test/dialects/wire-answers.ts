import type { DialectName } from '../../api/providers/openai/dialects.ts';
import { sse, type WireAnswer } from '../support/wire-provider.ts';
import type { Counted } from './dialect-gateway.ts';

/** One answer of a server: it thinks, says "Hello there", and calls a tool. */
export interface WireExample {
  dialect: DialectName | 'anthropic';
  what: string;
  whole: WireAnswer;
  stream: WireAnswer;
  counted: Counted;
}

const CALL = '{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\\"at\\":1}"}}';
const PIECE_OF_CALL =
  '{"index":0,"id":"call_1","type":"function","function":{"name":"look","arguments":"{\\"at\\":1}"}}';

const whole = (message: string, rest: string, lead = ''): WireAnswer => ({
  headers: { 'content-type': 'application/json' },
  body: `${lead}{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"vendor-small","choices":[{"index":0,"message":{"role":"assistant",${message},"tool_calls":[${CALL}]},"finish_reason":"tool_calls"}],${rest}}`,
});

const chunk = (delta: string, finish = 'null', rest = ''): string =>
  `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"vendor-small","choices":[{"index":0,"delta":{${delta}},"finish_reason":${finish}}]${rest}}`;
const usageChunk = (usage: string): string =>
  `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"vendor-small","choices":[],"usage":${usage}}`;

const HELLO = '"content":"Hello there"';
const thought = (field: string) => `"${field}":"I look."`;
/** Thinks, says it in two pieces, calls. `rest`: what stands beside the choices of each chunk. */
const pieces = (field: string | null, rest = ''): string[] => [
  chunk('"role":"assistant","content":""', 'null', rest),
  ...(field === null ? [] : [chunk(thought(field), 'null', rest)]),
  chunk('"content":"Hello "', 'null', rest),
  chunk('"content":"there"', 'null', rest),
  chunk(`"tool_calls":[${PIECE_OF_CALL}]`, 'null', rest),
];
const FINISH = '"tool_calls"';
const DONE = '[DONE]';

const OPENAI =
  '{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":20,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":10}}';
const PLAIN = '{"prompt_tokens":120,"total_tokens":150,"completion_tokens":30,"prompt_tokens_details":null}';
const plain: Counted = { prompt: 120, cached: 0, completion: 30 };
const cached: Counted = { prompt: 120, cached: 20, completion: 30 };

const DEEPSEEK =
  '{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_cache_hit_tokens":20,"prompt_cache_miss_tokens":100,"completion_tokens_details":{"reasoning_tokens":10}}';
const MOONSHOT = '{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"cached_tokens":20}';
const SGLANG =
  '{"prompt_tokens":120,"total_tokens":150,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":20},"reasoning_tokens":10}';
/** What was thought is left out of the answer's tokens, and billed. */
const GOOGLE = (completion: number, total: number) =>
  `{"completion_tokens":${completion},"prompt_tokens":120,"total_tokens":${total}}`;
const GROQ =
  '{"queue_time":0.03,"prompt_tokens":120,"prompt_time":0.01,"completion_tokens":30,"completion_time":0.1,"total_tokens":150,"total_time":0.11,"prompt_tokens_details":{"cached_tokens":20}}';

export const wireExamples: readonly WireExample[] = [
  {
    dialect: 'openai',
    what: 'counts in a chunk of its own, the others say null',
    whole: whole(`${HELLO},"refusal":null`, `"usage":${OPENAI},"system_fingerprint":"fp_1"`),
    stream: sse(
      ...pieces(null, ',"usage":null,"obfuscation":"xK2"'),
      chunk('', FINISH, ',"usage":null'),
      usageChunk(OPENAI),
      DONE,
    ),
    counted: cached,
  },
  {
    dialect: 'vllm',
    what: 'counts in a chunk of its own',
    whole: whole(
      `${thought('reasoning_content')},${HELLO}`,
      `"usage":${PLAIN},"prompt_logprobs":null,"kv_transfer_params":null`,
    ),
    stream: sse(...pieces('reasoning_content'), chunk('', FINISH), usageChunk(PLAIN), DONE),
    counted: plain,
  },
  {
    dialect: 'vllm',
    what: 'counts in every chunk, more each time',
    whole: whole(`${thought('reasoning_content')},${HELLO}`, `"usage":${PLAIN}`),
    stream: sse(
      ...pieces(
        'reasoning_content',
        ',"usage":{"prompt_tokens":120,"total_tokens":122,"completion_tokens":2}',
      ),
      chunk('', FINISH, `,"usage":${PLAIN}`),
      usageChunk(PLAIN),
      DONE,
    ),
    counted: plain,
  },
  {
    dialect: 'sglang',
    what: 'counts thought beside the details',
    whole: whole(`${HELLO},${thought('reasoning_content')}`, `"usage":${SGLANG}`),
    stream: sse(...pieces('reasoning_content'), chunk('', FINISH), usageChunk(SGLANG), DONE),
    counted: cached,
  },
  {
    dialect: 'ollama',
    what: 'counts in its last chunk',
    whole: whole(`${HELLO},${thought('reasoning')}`, `"usage":${PLAIN}`),
    stream: sse(...pieces('reasoning'), chunk('', FINISH, `,"usage":${PLAIN}`), DONE),
    counted: plain,
  },
  {
    dialect: 'groq',
    what: 'counts in a record of its own',
    whole: whole(`${HELLO},${thought('reasoning')}`, `"usage":${GROQ},"x_groq":{"id":"req_01jbd6"}`),
    stream: sse(
      chunk('"role":"assistant","content":""', 'null', ',"x_groq":{"id":"req_01jbd6"}'),
      ...pieces('reasoning').slice(1),
      chunk('', FINISH, `,"x_groq":{"id":"req_01jbd6","usage":${GROQ}}`),
      DONE,
    ),
    counted: cached,
  },
  {
    dialect: 'groq',
    what: 'counts twice, and is charged for once',
    whole: whole(`${HELLO},${thought('reasoning')}`, `"usage":${GROQ},"x_groq":{"id":"req_01jbd6"}`),
    stream: sse(
      ...pieces('reasoning'),
      chunk('', FINISH, `,"x_groq":{"id":"req_01jbd6","usage":${GROQ}}`),
      usageChunk(GROQ),
      DONE,
    ),
    counted: cached,
  },
  {
    dialect: 'together',
    what: 'counts in its last chunk, and the cache beside',
    whole: whole(
      HELLO,
      '"prompt":[],"usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"cached_tokens":20}',
    ),
    stream: sse(
      ...pieces(null, ',"usage":null'),
      chunk(
        '',
        FINISH,
        ',"usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"cached_tokens":20}',
      ),
      DONE,
    ),
    counted: cached,
  },
  {
    dialect: 'fireworks',
    what: 'counts in its last chunk, asked or not',
    whole: whole(HELLO, `"usage":${OPENAI}`),
    stream: sse(...pieces(null), chunk('', FINISH, `,"usage":${OPENAI}`), DONE),
    counted: cached,
  },
  {
    dialect: 'deepseek',
    what: 'counts hits and misses, and keeps the line alive',
    whole: whole(`${HELLO},${thought('reasoning_content')}`, `"usage":${DEEPSEEK}`, '\n\n\n\n'),
    stream: sse(
      ': keep-alive',
      ': keep-alive',
      ...pieces('reasoning_content'),
      ': keep-alive',
      chunk('', FINISH),
      usageChunk(DEEPSEEK),
      DONE,
    ),
    counted: cached,
  },
  {
    dialect: 'moonshot',
    what: 'counts in the choice of its last chunk',
    whole: whole(`${HELLO},${thought('reasoning_content')}`, `"usage":${MOONSHOT}`),
    stream: sse(
      ...pieces('reasoning_content'),
      chunk('', FINISH).replace('"finish_reason"', `"usage":${MOONSHOT},"finish_reason"`),
      DONE,
    ),
    counted: cached,
  },
  {
    dialect: 'google',
    what: 'counts in every chunk, and thought in the total alone',
    whole: whole(HELLO, `"usage":${GOOGLE(7, 150)}`),
    stream: sse(
      ...pieces(null, `,"usage":${GOOGLE(2, 130)}`),
      chunk('', FINISH, `,"usage":${GOOGLE(7, 150)}`),
      DONE,
    ),
    counted: plain,
  },
  {
    dialect: 'other',
    what: 'closes without an end mark',
    whole: whole(`${HELLO},${thought('reasoning')}`, `"usage":${OPENAI}`),
    stream: sse(...pieces('reasoning'), chunk('', FINISH), usageChunk(OPENAI)),
    counted: cached,
  },
  {
    dialect: 'anthropic',
    what: 'has the cache beside the prompt, and counts again at the end',
    whole: {
      body: '{"id":"msg_01","type":"message","role":"assistant","model":"vendor-small","content":[{"type":"thinking","thinking":"I look.","signature":"c2ln"},{"type":"text","text":"Hello there"},{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":100,"cache_creation_input_tokens":0,"cache_read_input_tokens":20,"output_tokens":30,"service_tier":"standard"}}',
    },
    stream: sse(
      ...[
        '{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"vendor-small","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}',
        '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I look."}}',
        '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}',
        '{"type":"content_block_stop","index":0}',
        '{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
        '{"type":"ping"}',
        '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello there"}}',
        '{"type":"content_block_stop","index":1}',
        '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}',
        '{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"at\\":1}"}}',
        '{"type":"content_block_stop","index":2}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":100,"cache_creation_input_tokens":null,"cache_read_input_tokens":20,"output_tokens":30}}',
        '{"type":"message_stop"}',
      ].map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}`),
    ),
    counted: cached,
  },
];

/** A stream that is lost in the middle. */
export const cutStream: WireAnswer = {
  ...sse(...pieces('reasoning_content').slice(0, 4)),
  cut: true,
};
