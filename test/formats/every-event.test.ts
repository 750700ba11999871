import { describe, expect, it } from 'vitest';
import type { CallFormat } from '../../api/inference/formats/call-format.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { piecesOf, relayStream } from './relay-stream.ts';

/* Every event that the formats have, with members that would change if anybody parsed them and wrote them again. */

const ODD =
  '"odd":{"digits":12345678901234567890,"one":1.0,"e":1E+2,"esc":"\\u00e9\\/\\ud83d\\ude87 \\"usage\\" error","dup":1,"dup":2, "sp" : [ ] },"obfuscation":"x","news":null';

const RESPONSES = [
  'response.queued',
  'response.output_item.added response.output_item.done response.content_part.added response.content_part.done',
  'response.output_text.delta response.output_text.done response.output_text.annotation.added',
  'response.refusal.delta response.refusal.done',
  'response.function_call_arguments.delta response.function_call_arguments.done',
  'response.custom_tool_call_input.delta response.custom_tool_call_input.done',
  'response.reasoning_text.delta response.reasoning_text.done',
  'response.reasoning_summary_part.added response.reasoning_summary_part.done',
  'response.reasoning_summary_text.delta response.reasoning_summary_text.done',
  'response.web_search_call.in_progress response.web_search_call.searching response.web_search_call.completed',
  'response.image_generation_call.in_progress response.image_generation_call.generating',
  'response.image_generation_call.partial_image response.image_generation_call.completed',
  'response.code_interpreter_call.in_progress response.code_interpreter_call.interpreting',
  'response.code_interpreter_call.completed',
  'response.code_interpreter_call_code.delta response.code_interpreter_call_code.done',
  'response.apply_patch_call_operation_diff.delta response.apply_patch_call_operation_diff.done',
  'response.fusion_call.in_progress response.fusion_call.completed response.fusion_call.panel.added',
  'response.fusion_call.panel.delta response.fusion_call.panel.reasoning.delta response.fusion_call.panel.completed',
  'response.fusion_call.panel.failed response.fusion_call.analysis.in_progress response.fusion_call.analysis.completed',
  'response.audio.delta response.audio.done response.audio.transcript.delta response.audio.transcript.done',
  'response.file_search_call.in_progress response.file_search_call.searching response.file_search_call.completed',
  'response.mcp_call.in_progress response.mcp_call.completed response.mcp_call.failed',
  'response.mcp_call_arguments.delta response.mcp_call_arguments.done',
  'response.mcp_list_tools.in_progress response.mcp_list_tools.completed response.mcp_list_tools.failed',
  'response.shell_call_command.added response.shell_call_command.delta response.shell_call_command.done',
  'response.shell_call_output_content.delta response.shell_call_output_content.done',
  'response.debug response.some.news.of.tomorrow keepalive tomorrow',
].flatMap((line) => line.split(' '));

const BLOCKS = [
  'text thinking redacted_thinking tool_use server_tool_use web_search_tool_result web_fetch_tool_result',
  'code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result',
  'tool_search_tool_result container_upload compaction advisor_tool_result openrouter_shell_tool_result tomorrow',
].flatMap((line) => line.split(' '));
const DELTAS = [
  'text_delta',
  'input_json_delta',
  'thinking_delta',
  'signature_delta',
  'citations_delta',
  'compaction_delta',
  'news_delta',
];

const named = (type: string, members: string): string =>
  `event: ${type}\ndata: {"type":"${type}",${members},${ODD}}\n\n`;

const responsesEvents = RESPONSES.map((type, index) =>
  named(type, `"sequence_number":${index},"item_id":"i","output_index":0,"delta":"an error"`),
);
const messagesEvents = [
  ...BLOCKS.map((type) =>
    named('content_block_start', `"index":0,"content_block":{"type":"${type}",${ODD}}`),
  ),
  ...DELTAS.map((type) => named('content_block_delta', `"index":0,"delta":{"type":"${type}",${ODD}}`)),
  named('content_block_stop', '"index":0'),
  named('ping', '"n":1'),
  named('some_news', '"a":1'),
];
const chatEvents = [
  '{"role":"assistant","content":""}',
  '{"content":"a \\"usage\\": error"}',
  `{"reasoning":"x","reasoning_details":[{"type":"reasoning.text","text":"x",${ODD}}]}`,
  '{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\\"id\\":1.0}"}}]}',
  '{"refusal":"no","annotations":[{"type":"url_citation"}],"images":[],"audio":{"id":"a"},"function_call":null}',
].map(
  (delta) =>
    `data: {"id":"g","choices":[{"index":0,"delta":${delta},"logprobs":{"content":[{"logprob":-1.0e-5}]}}],"error":null,${ODD}}\n\n`,
);

async function relayed(format: CallFormat, sent: string, bytesAtOnce: number): Promise<string> {
  const reader = format.openStream({ upstreamModel: 'vendor/m', publicModel: 'acme/m', showUsage: true });
  return (await relayStream(reader, piecesOf(sent, bytesAtOnce))).text;
}

describe.each([
  ['responses', responsesFormat, responsesEvents],
  ['messages', messagesFormat, messagesEvents],
  ['chat', chatFormat, chatEvents],
] as const)('a provider’s events of %s', (_name, format, events) => {
  it.each(events.map((event) => [/"type":"([\w.]+)"/.exec(event)?.[1] ?? 'chunk', event]))(
    'pass byte for byte: %s',
    async (_type, event) => {
      expect(await relayed(format, event, 1_000_000)).toBe(event);
      expect(await relayed(format, event, 7)).toBe(event);
    },
  );

  it('pass byte for byte, all in one stream', async () => {
    expect(await relayed(format, events.join(''), 50_000)).toBe(events.join(''));
    expect(await relayed(format, events.join(''), 61)).toBe(events.join(''));
  });
});

describe('where a name, usage or the end is ours to write, all else passes byte for byte', () => {
  const response = (more: string) =>
    `"response":{"id":"r","model":"acme/m",${ODD},"output":[{"n":1.0}]${more}}`;
  const message = (more: string) => `"message":{"id":"m","model":"acme/m","content":[],${ODD}${more}}`;
  const end = async (format: CallFormat, sent: string): Promise<string> => {
    const reader = format.openStream({ upstreamModel: 'vendor/m', publicModel: 'acme/m', showUsage: true });
    const [name = '', data = ''] = /^event: (\S+)\ndata: (.*)\n\n$/.exec(sent)?.slice(1) ?? [];
    reader.read(Buffer.from(data), name);
    const identity = { id: 'x', createdAtS: 1, nowS: 2, model: 'acme/m' };
    const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
    return reader.end({ identity, shown: 1_500n, tokens }).toString();
  };

  it.each(['response.created', 'response.in_progress'])('%s', async (type) => {
    const sent = named(type, `"sequence_number":0,${response(',"usage":null')}`);
    expect(await relayed(responsesFormat, sent.replace('acme/m', 'vendor/m'), 9)).toBe(sent);
  });

  it.each(['response.completed', 'response.incomplete', 'response.cancelled'])('%s', async (type) => {
    const usage = (more: string) => `,"usage":{"input_tokens":3,"output_tokens":2,"n":1.0${more}}`;
    const sent = named(type, `"sequence_number":0,${response(usage(',"cost":0.5'))}`);
    // Every answer of the format has a total.
    const ours = usage(',"cost":0.0000015,"total_tokens":5');
    const shown = named(type, `"sequence_number":0,${response(ours)}`);
    expect(await end(responsesFormat, sent.replace('acme/m', 'vendor/m'))).toBe(shown);
  });

  it('message_start', async () => {
    const sent = named('message_start', message(',"usage":{"input_tokens":3,"output_tokens":1,"n":1.0}'));
    expect(await relayed(messagesFormat, sent.replace('acme/m', 'vendor/m'), 9)).toBe(sent);
  });

  it('message_delta', async () => {
    const usage = (more: string) =>
      `"delta":{"stop_reason":"end_turn",${ODD}},"usage":{"output_tokens":2,"n":1.0${more}}`;
    const shown = await end(messagesFormat, named('message_delta', usage(',"cost":0.5')));
    expect(shown).toBe(
      `${named('message_delta', usage(',"cost":0.0000015'))}event: message_stop\ndata: {"type":"message_stop"}\n\n`,
    );
  });
});
