import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { inputOf } from '../../api/inference/formats/tool-input.ts';
import { parseExact, plainNumber } from '../../api/inference/json/exact-json.ts';
import { NumberMarks } from '../../api/inference/json/number-marks.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import { openSink, openSource, writeAnswer } from '../../api/inference/translation/translate-answer.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import type { TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { asAsked } from './asked-dialect.ts';
import { startFormatGateway } from './format-gateway.ts';
import { FORMATS } from './requests.ts';
import { tokens } from './shown-answers.ts';

/** An id of 64 bits, a number that no float holds, and one that every float does. */
const NUMBERS =
  '{"id":12345678901234567891,"big":1e400,"whole":9007199254740993,"part":0.30000000000000004,"n":7}';

it('what a tool is called with keeps the digits of its numbers', () => {
  const marks = new NumberMarks();
  expect(marks.print(inputOf(NUMBERS, marks)).toString()).toBe(NUMBERS);
});

it.each(['{"a":"b",1.50:2}', '{"a":"b", -0 \n\t:2}', '{"a":{"b":1,1e5:{}}}', '{12345678901234567890:1}'])(
  'what a tool is called with is passed on as a text where a number stands for a key: %s',
  (broken) => {
    const marks = new NumberMarks();
    expect(JSON.parse(marks.print(inputOf(broken, marks)).toString())).toEqual({ arguments: broken });
    expect(() => parseExact(`[${broken},"${'z'.repeat(5_000)}"]`)).toThrow(SyntaxError);
  },
);

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

  it('that is put together, a number for a key leaves the message whole', () => {
    const broken = '{"a":"b",1.50:2}';
    const assembly = messagesFormat.openAssembly();
    for (const event of events)
      assembly.read(Buffer.from(event.replace(JSON.stringify(NUMBERS), JSON.stringify(broken))), '');
    const answer = JSON.parse(assembly.answer()?.toString() ?? '');
    expect(answer.content[0].input).toEqual({ arguments: broken });
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
});

/** Every way in which JSON may write a number, and each of them in any place of a value. */
const anyNumber = fc.oneof(
  fc.constantFrom('1.10', '1e400', '-0', '-0.0', '0e1', '1E+2', '12345678901234567890', '0.0000001', '1.0'),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
);
const printed = (members: Record<string, string>): string =>
  `{${Object.entries(members)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')}}`;

const anyJson = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyNumber,
    fc.string({ maxLength: 4 }).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie('value'), { maxKeys: 3 }).map(printed),
  ),
})).value;

describe('numbers that were parsed to be printed again', () => {
  it('have the digits that they came with, wherever they stand', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        // Keys that are numbers change places in any JavaScript object; these are letters.
        expect(JSON.stringify(parseExact(`{"x":${json}}`))).toBe(`{"x":${json}}`);
        // A long text takes another way.
        const long = `{"x":${json},"y":"${'z'.repeat(5_000)}"}`;
        expect(JSON.stringify(parseExact(long))).toBe(long);
      }),
      { numRuns: 1_000 },
    );
  });

  it('are plain numbers wherever a float says the same, and can be read where not', () => {
    expect(parseExact('{"a":[0,-7,1.5,0.1,1000000]}')).toEqual({ a: [0, -7, 1.5, 0.1, 1_000_000] });
    expect(plainNumber(Object(parseExact('{"a":1.0}')).a)).toBe(1);
    expect(plainNumber('1.0')).toBe('1.0');
  });
});

describe('an answer that is put together keeps every digit', () => {
  const assembled = (events: readonly string[]) => {
    const assembly = chatFormat.openAssembly();
    for (const event of events) expect(assembly.read(Buffer.from(event), '').kind).toBe('kept');
    return assembly.answer()?.toString() ?? '';
  };

  it('of a chat, beside its texts, in its calls, its log probabilities and its usage', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const usage = `{"prompt_tokens":1,"completion_tokens":1,"vendor":${json}}`;
        const text = assembled([
          `{"id":"a","vendor":${json},"choices":[{"index":0,"vendor":${json},"delta":{"content":"x","vendor":{"deep":${json}}}}]}`,
          `{"id":"a","choices":[{"index":0,"logprobs":{"content":[{"token":"x","logprob":-0.10,"vendor":${json}}]},"delta":{"content":"y"}}]}`,
          `{"id":"a","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"},"vendor":${json}}]}}]}`,
          `{"id":"a","choices":[],"usage":${usage}}`,
        ]);
        const at = (place: string) => text.includes(place);
        expect(text).toContain(`"id":"a","vendor":${json}`);
        expect(at(`"vendor":{"deep":${json}}`)).toBe(true);
        expect(at(`"logprob":-0.10,"vendor":${json}}`)).toBe(true);
        expect(at(`"arguments":"{}"},"vendor":${json}}`)).toBe(true);
        expect(at(`"usage":${usage}`)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('of a chat whose numbers come twice: the later one stands, and an index is what it says', () => {
    const text = assembled([
      '{"choices":[{"index":0.0,"delta":{"score":1.10,"list":[{"index":1e0,"n":1.0}]}}]}',
      '{"choices":[{"index":0,"delta":{"score":2.20,"list":[{"index":1,"n":3.0}]}}]}',
    ]);
    expect(text).toContain('"score":2.20');
    expect(text).not.toContain('1.10');
    expect(text).toContain('"n":3.0');
    expect(JSON.parse(text).choices).toHaveLength(1);
    expect(JSON.parse(text).choices[0].message.list).toHaveLength(1);
  });

  it('of a message, beside its blocks, in what a tool is called with from the start, and in its usage', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const assembly = messagesFormat.openAssembly();
        const usage = `{"input_tokens":1,"output_tokens":1,"vendor":${json}}`;
        const input = `{"a":${json}}`;
        for (const event of [
          `{"type":"message_start","message":{"id":"m","vendor":${json},"content":[],"usage":${usage}}}`,
          `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":${input},"vendor":${json}}}`,
          `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"d","name":"f","input":{}}}`,
          `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":${JSON.stringify(input)}}}`,
          `{"type":"message_delta","delta":{"stop_reason":"tool_use","vendor":${json}},"usage":{"output_tokens":2}}`,
        ]) {
          expect(assembly.read(Buffer.from(event), '').kind).toBe('kept');
        }
        const text = assembly.answer()?.toString() ?? '';
        expect(text).toContain(`"name":"f","input":${input},"vendor":${json}`);
        expect(text).toContain(`"id":"d","name":"f","input":${input}`);
        expect(text).toContain(`"stop_reason":"tool_use"`);
        expect(text).toContain(`"usage":{"input_tokens":1,"output_tokens":2,"vendor":${json}}`);
      }),
      { numRuns: 300 },
    );
  });

  it('of a translated answer, in what a tool is called with, streamed or not', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const input = `{"a":${json}}`;
        const shown = JSON.stringify(input).slice(1, -1);
        const block = `{"type":"tool_use","id":"c","name":"f","input":${input}}`;
        const whole = `{"id":"m","type":"message","content":[${block}],"stop_reason":"tool_use"}`;
        const collector = new AnswerCollector(openSource('messages'));
        for (const event of [
          '{"type":"message_start","message":{"id":"m"}}',
          `{"type":"content_block_start","index":0,"content_block":${block}}`,
          '{"type":"content_block_stop","index":0}',
        ]) {
          collector.read(Buffer.from(event), '');
        }
        expect(shownToChat(collector.whole)).toContain(shown);
        const pieces = openSource('messages').readWhole(Buffer.from(whole), JSON.parse(whole));
        expect(shownToChat(WholeAnswer.of(pieces))).toContain(shown);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a streamed chat whose calls have a value in the place of the text of their arguments', () => {
  const DIGITS = '{"a":12345678901234567890123,"b":[1.10,1e400]}';
  const events = [
    `{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":${DIGITS}}}]},"finish_reason":null}]}`,
    '{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
  ];
  const identity = { id: 'x', createdAtS: 1, nowS: 2, model: 'm' };

  it.each(FORMATS)('keeps the digits of its numbers for a caller of %s, in a stream or in JSON', (to) => {
    const collector = new AnswerCollector(openSource('chat'));
    for (const event of events) collector.read(Buffer.from(event), '');
    const whole = writeAnswer(to, collector.finish(), identity, asAsked).bytes.toString();
    const stream = new TranslatedStream(openSource('chat'), openSink(to, identity, asAsked));
    const written = events.map((event) => {
      const read = stream.read(Buffer.from(event), '');
      return read.kind === 'changed' ? read.events.toString() : '';
    });
    for (const text of [whole, written.join('') + stream.end({ identity, shown: null, tokens }).toString()])
      expect(text.replaceAll('\\', '')).toContain(DIGITS);
  });
});

function shownToChat(answer: WholeAnswer): string {
  const identity = { id: 'x', createdAtS: 1, nowS: 2, model: 'm' };
  return writeAnswer('chat', answer, identity, { ...asAsked, showReasoning: true }).bytes.toString();
}

describe('in a translated request', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startFormatGateway();
  });

  afterAll(async () => {
    await gateway.stop();
  });

  it.each<[FormatName, string, string, string, string]>([
    [
      'messages',
      'acme/chat',
      '/chat/completions',
      JSON.stringify(NUMBERS),
      `{"max_tokens":20,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${NUMBERS}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"y"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"id":{"enum":[12345678901234567891]}}}}]`,
    ],
    [
      'chat',
      'acme/messages',
      '/messages',
      NUMBERS,
      `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(NUMBERS)}}}]},{"role":"tool","tool_call_id":"c","content":"y"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"enum":[12345678901234567891]}}}}}]`,
    ],
  ])('of %s, numbers keep their digits', async (format, model, asked, written, body) => {
    const answer = await gateway.post(`${body},"model":"${model}"}`, { path: pathOf(format) });
    expect(answer.status).toBe(200);
    const sent = gateway.provider.lastRequest(asked).body.toString();
    expect(sent).toContain(written);
    expect(sent).toContain('"enum":[12345678901234567891]');
  });

  it.each<[FormatName, (args: string) => string]>([
    [
      'chat',
      (args: string) =>
        `"messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${args}}}]},{"role":"tool","tool_call_id":"c","content":"y"}],"tools":[{"type":"function","function":{"name":"f"}}]`,
    ],
    [
      'responses',
      (args: string) =>
        `"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":"c","name":"f","arguments":${args}},{"type":"function_call_output","call_id":"c","output":"y"}],"tools":[{"type":"function","name":"f"}]`,
    ],
  ])('of %s, a tool call with a number for a key reaches the provider as JSON', async (format, fields) => {
    const broken = '{"a":"b",1.50:2}';
    const body = `{"model":"acme/messages",${fields(JSON.stringify(broken))}}`;
    const answer = await gateway.post(body, { path: pathOf(format) });
    expect(answer.status).toBe(200);
    const sent = JSON.parse(gateway.provider.lastRequest('/messages').body.toString());
    expect(sent.messages[1].content[0].input).toEqual({ arguments: broken });
  });
});
