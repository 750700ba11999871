import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { runAtOnce } from '#core/steps.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { parseExact } from '../../api/inference/json/exact-json.ts';
import { scanJsonObject } from '../../api/inference/json/json-object.ts';
import { NumberMarks } from '../../api/inference/json/number-marks.ts';
import { writeImages } from '../../api/inference/linked-images/write-images.ts';
import {
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';
import { withMarkedNumbers } from '../../api/inference/translation/unread-values.ts';
import { askedDialect } from './asked-dialect.ts';

/** Every way in which JSON may write a number, and texts that look like them. */
const anyNumber = fc.oneof(
  fc.constantFrom(
    '1.10',
    '1e400',
    '-0',
    '-0.0',
    '0e1',
    '1E+2',
    '12345678901234567890',
    '0.0000001',
    '1.0',
    '7',
  ),
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
);
const anyText = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 6 }),
    fc.constantFrom('\\', '"', '\u007f', '\u007f1e5', '12345678901234567890'),
  )
  .map((text) => JSON.stringify(text));
const anyJson = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyNumber,
    anyText,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), tie('value'), { maxKeys: 3 }).map(
      (members) =>
        `{${Object.entries(members)
          .map(([key, value]) => `"${key}":${value}`)
          .join(',')}}`,
    ),
  ),
})).value;

const markedValue = (marks: NumberMarks, json: string): unknown =>
  (marks.parse(Buffer.from(json)) ?? { value: JSON.parse(json) }).value;

/** Pieces of JSON in any order: few of the texts are JSON, and many are nearly. Half a character becomes another one in bytes. */
const anySoup = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(...'012.eE+-[],"{}: \\'.split('')), maxLength: 12 }),
    fc
      .array(
        fc.oneof(
          { weight: 3, arbitrary: fc.constantFrom(...'[]{},:') },
          {
            weight: 2,
            arbitrary: fc.constantFrom(' ', '\t', '\r\n', '"', '\\', '"a"', '"b":', ',"c":', 'true', '.'),
          },
          { weight: 2, arbitrary: anyNumber },
          { weight: 1, arbitrary: anyText },
        ),
        { maxLength: 10 },
      )
      .map((tokens) => tokens.join('')),
    // A JSON text with one more piece somewhere, or with one letter less.
    fc
      .tuple(anyJson, fc.nat(), fc.oneof(anyNumber, fc.constantFrom(...'[]{},:"')))
      .map(
        ([json, at, piece]) =>
          json.slice(0, at % (json.length + 1)) + piece + json.slice(at % (json.length + 1)),
      ),
    fc
      .tuple(anyJson, fc.nat())
      .map(([json, at]) => json.slice(0, at % json.length) + json.slice((at % json.length) + 1)),
    fc
      .tuple(anyNumber, fc.constantFrom('', ' ', '\n\t'), fc.constantFrom('', '"b":7,', '"b":{}, '), anyJson)
      .map(([number, blanks, before, json]) => `{${before}${number}${blanks}:${json}}`),
  )
  .map((text) => text.toWellFormed());

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A value whose numbers are the texts that they came as. */
const valuesOf = (text: string): unknown =>
  JSON.parse(text, (_key, value, ...[text]: { source?: string }[]) =>
    typeof value === 'number' ? { digits: text?.source } : value,
  );

describe('a JSON text with marked numbers', () => {
  it('is printed as it was, also inside of another text', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (json, other) => {
        const marks = new NumberMarks();
        const value = markedValue(marks, json);
        const inner = JSON.stringify(markedValue(marks, other));
        expect(marks.print({ a: value, b: inner }).toString()).toBe(
          `{"a":${json},"b":${JSON.stringify(other)}}`,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('is JSON exactly where the text is, and keeps its digits', () => {
    fc.assert(
      fc.property(anySoup, (text) => {
        const marks = new NumberMarks();
        const parse = () => marks.print(markedValue(marks, text)).toString();
        const long = `[${text},"${'z'.repeat(5_000)}"]`;
        // An object puts keys of digits first, and the last of equal keys stands, with marks or without.
        if (isJson(text)) expect(valuesOf(parse())).toEqual(valuesOf(text));
        else expect(parse).toThrow(SyntaxError);
        if (isJson(long)) expect(valuesOf(JSON.stringify(parseExact(long)))).toEqual(valuesOf(long));
        else expect(() => parseExact(long)).toThrow(SyntaxError);
      }),
      {
        numRuns: 5_000,
        examples: [
          // A sign without digits before its point or exponent was once taken for a number.
          ...['-E0', '[-.5]', '[-e12]', '01234567890123456789', '01.50', '1.', '.5e1', '+1.50', '1.50.2'],
          ...[
            '- 1.5',
            '1.5e',
            'Infinity',
            '-Infinity',
            'NaN',
            '0x1.50',
            '1_000.50',
            '[1.50,]',
            '{"a":1.50,}',
          ],
          ...[
            '1.50"x"',
            '"x"1.50',
            '1.50 2.50',
            '1.50true',
            '"a\\"1.50',
            '"a\\\\"1.50',
            '"1.50',
            '[1.50',
            '1.50]',
          ],
          // A number in the place of a key was once taken for a text, which may be a key.
          ...['{1.50:2}', '{"a":"b",1.50:2}', '{-0:1}', '{"a":{"b":1,1e5 \t\r\n :{}}}', '{1.50}', '{1.50:'],
        ].map((text): [string] => [text]),
      },
    );
  });

  it.each(['[1,-5,123456789012345]', '{"a":"1e400 \\"12345678901234567890"}', '""'])(
    'has no marks where no number needs one: %s',
    (json) => {
      expect(new NumberMarks().parse(Buffer.from(json))).toBeNull();
    },
  );
});

describe('a translated request', () => {
  const translate = (text: string, from: FormatName, to: TranslationTarget) => {
    const bytes = Buffer.from(text);
    const object = scanJsonObject(bytes);
    if (typeof object === 'string') throw new Error(object);
    const marks = new NumberMarks();
    const body = runAtOnce(withMarkedNumbers(object, JSON.parse(text), from, marks));
    return translateRequest(
      body,
      from,
      to,
      { upstreamModel: 'm', outputTokensCap: 9, reasonsByEffort: false, dialect: askedDialect },
      marks,
    );
  };
  const sent = (text: string, from: FormatName, to: TranslationTarget): string => {
    const result = translate(text, from, to);
    if (isApiError(result)) throw new Error(result.message);
    return result.object.bytes.toString();
  };

  it('has every digit of the schemas of tools and answers', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const schema = `{"type":"object","properties":{"a":${json}}}`;
        const answer = `{"type":"object","enum":[${json}],"additionalProperties":false}`;
        const hi = '[{"role":"user","content":"hi"}]';
        const bodies: readonly [FormatName, TranslationTarget, string][] = [
          [
            'chat',
            'messages',
            `{"messages":${hi},"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${answer}}}}`,
          ],
          ...(['messages', 'chat'] as const).map((to): [FormatName, TranslationTarget, string] => [
            'responses',
            to,
            `{"input":${hi},"tools":[{"type":"function","name":"f","parameters":${schema}}],"text":{"format":{"type":"json_schema","name":"a","schema":${answer}}}}`,
          ]),
          [
            'messages',
            'chat',
            `{"messages":${hi},"tools":[{"name":"f","input_schema":${schema}}],"output_config":{"format":{"type":"json_schema","schema":${answer}}}}`,
          ],
        ];
        for (const [from, to, text] of bodies) {
          expect(sent(text, from, to)).toContain(schema);
          expect(sent(text, from, to)).toContain(answer);
        }
        const tool = `{"type":"function","name":"f","parameters":${schema}}`;
        const others: readonly [FormatName, TranslationTarget, string][] = [
          ['chat', 'messages', `{"messages":${hi},"functions":[{"name":"f","parameters":${schema}}]}`],
          [
            'responses',
            'chat',
            `{"input":${hi},"tools":[{"type":"namespace","name":"n","tools":[${tool}]}]}`,
          ],
          ['responses', 'chat', `{"input":[{"type":"additional_tools","tools":[${tool}]},${hi.slice(1)}}`],
          [
            'responses',
            'chat',
            `{"input":[{"type":"additional_tools","tools":[{"type":"namespace","name":"n","tools":[${tool}]}]},${hi.slice(1)}}`,
          ],
          [
            'messages',
            'chat',
            `{"messages":[${hi.slice(1, -1)},{"role":"system","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"f","input_schema":${schema}}}}]}]}`,
          ],
          [
            'messages',
            'chat',
            `{"messages":${hi},"output_format":{"type":"json_schema","schema":${schema}}}`,
          ],
        ];
        for (const [from, to, text] of others) expect(sent(text, from, to)).toContain(schema);
        const example = `{"messages":${hi},"tools":[{"name":"f","input_schema":{"type":"object","properties":{}},"input_examples":[${answer}]}]}`;
        expect(sent(example, 'messages', 'chat')).toContain(JSON.stringify(answer).slice(1, -1));
      }),
      { numRuns: 300 },
    );
  });

  it('has every digit of what tools were called with', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        const input = `{"a":${json}}`;
        const text = JSON.stringify(input);
        const chat = `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${text}}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]}`;
        const responses = `{"input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c","name":"f","arguments":${text}},{"type":"function_call_output","call_id":"c","output":"ok"}]}`;
        const messages = `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]}`;
        expect(sent(chat, 'chat', 'messages')).toContain(`"input":${input}`);
        expect(sent(responses, 'responses', 'messages')).toContain(`"input":${input}`);
        expect(sent(messages, 'messages', 'chat')).toContain(`"arguments":${text}`);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '{"type":"tool_use","id":12345678901234567890,"name":"f","input":{}}',
    '{"type":"text","text":"x","citations":7,"own":1.10}',
  ])('does not take a long number for a text: %s', (block) => {
    const text = `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[${block}]},{"role":"user","content":"hi"}]}`;
    expect(sent(text, 'messages', 'chat')).not.toMatch(/12345678901234567890|1\.10/);
  });
});

it('a request with images in it has every digit that stood beside their links', () => {
  fc.assert(
    fc.property(anyJson, (json) => {
      const link = 'https://example.com/a.png';
      const body = (url: string) =>
        `{"metadata":{"a":1.10},"messages":[{"role":"user","vendor":${json},"content":[{"type":"image_url","image_url":{"url":"${url}"}}]}]}`;
      const bytes = Buffer.from('PNG');
      const written = writeImages(
        Buffer.from(body(link)),
        new Map([[link, { contentType: 'image/png', bytes }]]),
      );
      expect(written.toString()).toBe(body(`data:image/png;base64,${bytes.toString('base64')}`));
    }),
    { numRuns: 300 },
  );
});
