import { REASONING_NAMES } from '../price/answer-part.ts';

/** A part of an answer, by which it is decided how each of its members is checked. Members that are not named are checked in full. */
export interface AnswerPlace {
  /** Parts whose own members are looked at one by one, and the places that these are. */
  parts: Readonly<Record<string, PlaceName>>;
  /** Members that the model wrote or that its tools found for it. They may name any address and model. */
  written: ReadonlySet<string>;
  /** Sources that were found for the model, beside its text. */
  found: ReadonlySet<string>;
  /** Members of the request that an answer repeats. */
  echoed: ReadonlySet<string>;
}

export type PlaceName = 'answer' | 'choice' | 'message' | 'call' | 'function' | 'item' | 'response' | 'usage';

/** Finds the place of a record's members by the record's own place, and by its format or its type there. */
export function placeOf(name: PlaceName, record: Readonly<Record<string, unknown>>): AnswerPlace {
  if (name === 'answer') return answerPlace(record);
  if (name === 'response') return RESPONSE;
  return name === 'item' ? itemPlace(String(record.type ?? '')) : PLACES[name];
}

const place = (place: Partial<AnswerPlace>): AnswerPlace => ({
  parts: {},
  written: NONE,
  found: NONE,
  echoed: NONE,
  ...place,
});
const NONE: ReadonlySet<string> = new Set();

const SOURCES = new Set(['citations', 'search_results', 'search_info', 'web_search']);
const REASONING = [...REASONING_NAMES, 'reasoning_details', 'thinking_blocks', 'thought', 'thoughts'];

const PLACES: Readonly<Record<Exclude<PlaceName, 'answer' | 'item' | 'response'>, AnswerPlace>> = {
  choice: place({ parts: { message: 'message', delta: 'message' }, written: new Set(['text', 'logprobs']) }),
  message: place({
    parts: { content: 'item', tool_calls: 'call', function_call: 'function' },
    written: new Set([
      ...['content', 'content_parts', 'refusal', 'annotations', 'audio', 'images', 'signature'],
      ...REASONING,
    ]),
    found: SOURCES,
  }),
  call: place({
    parts: { function: 'function', custom: 'function' },
    written: new Set(['name', 'arguments']),
  }),
  function: place({ written: new Set(['name', 'arguments', 'input']) }),
  usage: place({}),
};

/** Parts of an answer and of an event. */
const ANSWER_PARTS: Readonly<Record<string, PlaceName>> = {
  choices: 'choice',
  usage: 'usage',
  output: 'item',
  content: 'item',
  item: 'item',
  part: 'item',
  content_block: 'item',
  delta: 'item',
  response: 'response',
  message: 'answer',
};

const CHAT = place({ parts: ANSWER_PARTS, found: SOURCES });
const MESSAGE = place({ parts: ANSWER_PARTS, echoed: new Set(['stop_sequence']) });
const RESPONSE = place({
  parts: ANSWER_PARTS,
  written: new Set(['output_text']),
  echoed: new Set([
    ...['input', 'instructions', 'metadata', 'prompt', 'prompt_cache_key', 'reasoning', 'safety_identifier'],
    ...['text', 'tool_choice', 'tools', 'user'],
  ]),
});
const RESPONSE_EVENT = place({
  parts: ANSWER_PARTS,
  written: new Set([
    ...['annotation', 'arguments', 'code', 'command', 'commands', 'delta', 'diff', 'input', 'logprobs'],
    ...['name', 'refusal', 'text', 'transcript'],
  ]),
});

function answerPlace({ object, type, choices }: Readonly<Record<string, unknown>>): AnswerPlace {
  if (choices !== undefined) return CHAT;
  if (object === 'response') return RESPONSE;
  return typeof type === 'string' && type.startsWith('response.') ? RESPONSE_EVENT : MESSAGE;
}

/** Blocks, parts, pieces and items, which are what their type says. */
function itemPlace(type: string): AnswerPlace {
  const known = ITEMS.get(type);
  if (known !== undefined) return known;
  if (CALL.test(type)) return ANY_CALL;
  return RESULT.test(type) ? ANY_RESULT : OTHER_ITEM;
}

const item = (...written: string[]): AnswerPlace => place({ written: new Set(written) });
const TEXT = item('text', 'refusal', 'annotations', 'citations', 'logprobs');

const ITEMS: ReadonlyMap<string, AnswerPlace> = new Map([
  ...['text', 'text_delta', 'input_text', 'output_text', 'summary_text', 'reasoning_text', 'refusal'].map(
    (type) => [type, TEXT] as const,
  ),
  ['thinking', item('thinking', 'signature')],
  ['thinking_delta', item('thinking')],
  ['signature_delta', item('signature')],
  ['redacted_thinking', item('data')],
  ['input_json_delta', item('partial_json')],
  ['citations_delta', item('citation')],
  ['compaction', item('content', 'encrypted_content')],
  ['compaction_delta', item('content')],
  ['tool_use', item('name', 'input')],
  ['server_tool_use', item('name', 'input')],
  ['mcp_tool_use', item('name', 'input', 'server_name')],
  ['image', item('source')],
  ['image_url', item('image_url')],
  ['output_image', item('image_url')],
  ['output_audio', item('data', 'transcript')],
  ['document', item('source', 'title', 'citations')],
  ['message', place({ parts: { content: 'item' } })],
  [
    'reasoning',
    place({
      parts: { content: 'item', summary: 'item' },
      written: new Set(['encrypted_content', 'summary', 'text']),
    }),
  ],
  ['function_call', item('name', 'namespace', 'arguments')],
  ['custom_tool_call', item('name', 'namespace', 'input')],
  ['web_search_call', item('action')],
  ['file_search_call', item('queries', 'results')],
  ['code_interpreter_call', item('code', 'outputs')],
  ['computer_call', item('action', 'actions')],
  ['local_shell_call', item('action')],
  ['shell_call', item('action')],
  ['apply_patch_call', item('operation')],
  ['image_generation_call', item('result', 'revised_prompt')],
  ['mcp_call', item('name', 'arguments', 'output', 'server_label')],
  ['mcp_approval_request', item('name', 'arguments', 'server_label')],
  ['mcp_list_tools', item('tools', 'server_label')],
  ['web_search_result', item('url', 'title', 'encrypted_content', 'page_age')],
]);

/** Calls of tools that no list has yet. */
const CALL = /(?:tool_use|_call)$/;
const ANY_CALL = item(
  ...['action', 'actions', 'arguments', 'code', 'input', 'name', 'namespace', 'operation', 'output'],
  ...['outputs', 'queries', 'query', 'result', 'results'],
);
const RESULT = /(?:_result|_output)$/;
const ANY_RESULT = item(
  'content',
  'encrypted_content',
  'output',
  'source',
  'stderr',
  'stdout',
  'title',
  'tools',
  'url',
);
const OTHER_ITEM = place({
  parts: { content: 'item', output: 'item' },
  written: new Set(['content', 'text', 'thinking', 'partial_json']),
  echoed: new Set(['stop_sequence']),
});
