import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { inputOf } from '../../api/inference/formats/tool-input.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import { openSource, writeAnswer } from '../../api/inference/translation/translate-answer.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import type { TestGateway } from '../support/gateway.ts';
import { startFormatGateway } from './format-gateway.ts';

/** An id of 64 bits, a number that no float holds, and one that every float does. */
const NUMBERS =
  '{"id":12345678901234567891,"big":1e400,"whole":9007199254740993,"part":0.30000000000000004,"n":7}';

it('what a tool is called with keeps the digits of its numbers', () => {
  expect(JSON.stringify(inputOf(NUMBERS))).toBe(NUMBERS);
});

describe('in an answer', () => {
  const message = (content: string) =>
    `{"id":"m","type":"message","role":"assistant","content":${content},"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`;
  const events = [
    `{"type":"message_start","message":${message('[]')}}`,
    '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}',
    `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(NUMBERS)}}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
  ];
  const whole = message(`[{"type":"tool_use","id":"c","name":"f","input":${NUMBERS}}]`);

  it('that is put together from its events they keep their digits', () => {
    const assembly = messagesFormat.openAssembly();
    for (const event of events) assembly.read(Buffer.from(event), '');
    expect(assembly.answer()?.toString()).toContain(NUMBERS);
  });

  it('that is streamed and translated they keep their digits', () => {
    const collector = new AnswerCollector(openSource('messages'));
    for (const event of events) collector.read(Buffer.from(event), '');
    expect(shownToChat(collector.whole)).toContain(JSON.stringify(NUMBERS));
  });

  it('that is whole and translated they keep their digits', () => {
    const pieces = openSource('messages').readWhole(Buffer.from(whole), JSON.parse(whole));
    expect(shownToChat(WholeAnswer.of(pieces))).toContain(JSON.stringify(NUMBERS));
  });

  function shownToChat(answer: WholeAnswer): string {
    const identity = { id: 'x', createdAtS: 1, model: 'm' };
    const tokens = { prompt: 1, completion: 1, reasoning: null, cached: 0 };
    return writeAnswer('chat/completions', answer, identity, tokens, { showReasoning: true });
  }
});

describe('in a translated request', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startFormatGateway();
  });

  afterAll(async () => {
    await gateway.stop();
  });

  it.each([
    [
      'messages',
      'acme/chat',
      '/chat/completions',
      JSON.stringify(NUMBERS),
      `{"max_tokens":20,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${NUMBERS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"y"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"id":{"enum":[12345678901234567891]}}}}]`,
    ],
    [
      'chat/completions',
      'acme/messages',
      '/messages',
      NUMBERS,
      `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(NUMBERS)}}}]},{"role":"tool","tool_call_id":"c","content":"y"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"enum":[12345678901234567891]}}}}}]`,
    ],
  ])('of %s, numbers keep their digits', async (path, model, asked, written, body) => {
    const answer = await gateway.post(`${body},"model":"${model}"}`, { path: `/${path}` });
    expect(answer.status).toBe(200);
    const sent = gateway.provider.lastRequest(asked).body.toString();
    expect(sent).toContain(written);
    expect(sent).toContain('"enum":[12345678901234567891]');
  });
});
