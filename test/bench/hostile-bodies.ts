import type { FormatName } from '#core/catalog/catalog.ts';
import {
  BODY_MEMBERS_MAX,
  defaultLimits,
  JSON_KEYS_MAX,
  JSON_VALUES_MAX,
  MESSAGES_MAX,
  TOOL_ENTRIES_MAX,
  TOOL_KEYS_MAX,
} from '#core/limits.ts';
import { PARSED_AT_ONCE } from '../../api/inference/json/parse-in-steps.ts';

/*
 * The dearest bodies that fit into four megabytes and into the bounds of keys and values, as JSON text. Each is one idea of
 * what could cost more than its length: in the scan, the parse, a rule, a translation, or in what is written for a provider.
 */

/** A test that counts the work makes them smaller, and compares two sizes. */
const SHARE = Number(process.env.HOSTILE_BODY_SHARE ?? 1);
const shareOf = (count: number): number => Math.ceil(count * SHARE);
const BYTES = shareOf(defaultLimits.requestBodyBytes) - 4_096;
/** With room for the few keys and values around them. */
const KEYS = shareOf(JSON_KEYS_MAX) - 100;
const VALUES = shareOf(JSON_VALUES_MAX) - 200;
/** The same of tools and of the form of an answer. */
const TOOL_KEYS = shareOf(TOOL_KEYS_MAX) - 100;
const TOOL_VALUES = shareOf(TOOL_ENTRIES_MAX) - 600;
const MEMBERS = shareOf(BODY_MEMBERS_MAX) - 10;
const MESSAGES = shareOf(MESSAGES_MAX) - 10;
/** A comma and a bracket each. */
const EMPTIES = Math.floor(VALUES * 0.45);
const NULLS = Math.floor(VALUES * 0.9);

type Make = (format: FormatName) => string;

const list = (count: number, entry: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => entry(at)).join(',');

/** As many entries as fit, and at most so many. */
function fitting(most: number, entry: (at: number) => string): string {
  const entries: string[] = [];
  let bytes = 0;
  for (let at = 0; at < most; at++) {
    const text = entry(at);
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > BYTES) break;
    entries.push(text);
  }
  return entries.join(',');
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** A conversation of these messages, and more members. */
const body = (format: FormatName, messages: string, members = ''): string =>
  `{"model":"acme/small","${format === 'responses' ? 'input' : 'messages'}":[${messages}]${members}}`;
const user = (content: string): string => `{"role":"user","content":${content}}`;
const hi = user('"hi"');

const textPart = (format: FormatName, text: string): string =>
  `{"type":"${format === 'responses' ? 'input_text' : 'text'}","text":${text}}`;

function imagePart(format: FormatName, url: string): string {
  switch (format) {
    case 'chat':
      return `{"type":"image_url","image_url":{"url":"${url}"}}`;
    case 'responses':
      return `{"type":"input_image","image_url":"${url}"}`;
    case 'messages':
      return `{"type":"image","source":{"type":"url","url":"${url}"}}`;
  }
}

function tool(format: FormatName, schema: string, name = 'f'): string {
  switch (format) {
    case 'chat':
      return `{"type":"function","function":{"name":"${name}","parameters":${schema}}}`;
    case 'responses':
      return `{"type":"function","name":"${name}","parameters":${schema}}`;
    case 'messages':
      return `{"name":"${name}","input_schema":${schema}}`;
  }
}

/** A call of the tool with these arguments, and its result. */
function call(format: FormatName, at: number, input: string): string {
  const text = JSON.stringify(input);
  switch (format) {
    case 'chat':
      return (
        `{"role":"assistant","tool_calls":[{"id":"c${at}","type":"function","function":{"name":"f","arguments":${text}}}]},` +
        `{"role":"tool","tool_call_id":"c${at}","content":"ok"}`
      );
    case 'responses':
      return (
        `{"type":"function_call","call_id":"c${at}","name":"f","arguments":${text}},` +
        `{"type":"function_call_output","call_id":"c${at}","output":"ok"}`
      );
    case 'messages':
      return (
        `{"role":"assistant","content":[{"type":"tool_use","id":"c${at}","name":"f","input":${input}}]},` +
        `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c${at}","content":"ok"}]}`
      );
  }
}

const withText =
  (text: string): Make =>
  (format) =>
    body(format, user(`"${text.repeat(Math.floor((BYTES - 200) / Buffer.byteLength(text)))}"`));
const withMembers =
  (members: string): Make =>
  (format) =>
    body(format, hi, `,${members}`);
const withSchema =
  (schema: string): Make =>
  (format) =>
    body(format, hi, `,"tools":[${tool(format, schema)}]`);
const withCalls =
  (count: number, input: string): Make =>
  (format) =>
    body(
      format,
      `${hi},${list(count, (at) => call(format, at, input))}`,
      `,"tools":[${tool(format, '{"type":"object"}')}]`,
    );
const withLinks =
  (url: (at: number) => string): Make =>
  (format) =>
    body(format, user(`[${fitting(10_000, (at) => imagePart(format, url(at)))}]`));

/** A schema that the answer has to keep to. */
const withAnswerSchema =
  (schema: string): Make =>
  (format) => {
    switch (format) {
      case 'chat':
        return body(
          format,
          hi,
          `,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${schema}}}`,
        );
      case 'responses':
        return body(format, hi, `,"text":{"format":{"type":"json_schema","name":"a","schema":${schema}}}`);
      case 'messages':
        return body(format, hi, `,"output_config":{"format":{"type":"json_schema","schema":${schema}}}`);
    }
  };
/** A message of these parts, so often as they fit. */
const withParts =
  (count: number, part: (format: FormatName, at: number) => string): Make =>
  (format) =>
    body(format, user(`[${fitting(count, (at) => part(format, at))}]`));

/** Whatever has this text in it is searched for images that are to be kept. */
const IMAGE_TEXT = ',"z":";base64,"';
/** A message of these parts, in a body that is searched for images. */
const withImage =
  (parts: string): Make =>
  (format) =>
    body(format, user(`[${parts}]`), IMAGE_TEXT);
/** So many values that they are parsed in pieces. */
const MANY = shareOf(2 * PARSED_AT_ONCE);
const MANY_ONES = list(MANY, () => '1');

/** A JSON text in a JSON text, and so on: each level doubles the backslashes. */
const textInText = (levels: number, text: string): string =>
  levels === 0 ? text : textInText(levels - 1, JSON.stringify({ a: text }));

/** A tool whose schema is that of `d0`, which leads on to the next, and so on to the last. */
const withReferences = (level: (at: number) => string, last: string): Make => {
  const levels = list(60, (at) => `"d${at}":{"$ref":"#/$defs/d${at + 1}",${level(at)}}`);
  return withSchema(`{"allOf":[{"$ref":"#/$defs/d0"}],"$defs":{${levels},"d60":${last}}}`);
};
/** A schema in a sum or a choice, and so on. */
const schemaInSchema = (levels: number, keyword: 'allOf' | 'anyOf', inner: string): string =>
  levels === 0
    ? inner
    : `{"${keyword}":[${schemaInSchema(levels - 1, keyword, inner)},{"required":["q${levels}"]}]}`;
const requiredNames = (): string => `{"required":[${fitting(TOOL_VALUES - 500, (at) => `"r${at}"`)}]}`;

const key = (at: number, chars = 190): string => `"${'k'.repeat(chars)}${at}"`;
const LONG_NUMBER = '12345678901234567890123456789012345678';
const ID = '12345678901234567890123456789012345';

export const hostileBodies: ReadonlyMap<string, Make> = new Map([
  ['links with hosts of empty labels', withLinks((at) => `https://a${'.'.repeat(2_000)}b/${at}`)],
  ['links with hosts of many labels', withLinks((at) => `https://${'a.'.repeat(950)}com/${at}`)],
  ['long links', withLinks((at) => `https://example.com/${'x'.repeat(1_900)}${at}`)],
  ['short links', withLinks((at) => `https://example.com/${at}`)],

  ['many keys in metadata', withMembers(`"metadata":{${fitting(KEYS, (at) => `${key(at)}:1`)}}`)],
  ['many short keys in metadata', withMembers(`"metadata":{${fitting(KEYS, (at) => `${key(at, 50)}:1`)}}`)],
  ['as many members as are taken', withMembers(list(MEMBERS, (at) => `${key(at)}:1`))],
  ['many members', withMembers(fitting(KEYS, (at) => `${key(at)}:1`))],
  ['many members of null', withMembers(list(KEYS, (at) => `${key(at, 1)}:null`))],
  ['many keys in a schema', withSchema(`{"properties":{${fitting(TOOL_KEYS, (at) => `${key(at)}:1`)}}}`)],
  [
    'many short keys in a schema',
    withSchema(`{"properties":{${fitting(TOOL_KEYS, (at) => `${key(at, 50)}:1`)}}}`),
  ],
  [
    'many keys of digits',
    withSchema(`{"properties":{${list(TOOL_KEYS, (at) => `"${(at * 214_713) % 4_294_967_291}":1`)}}}`),
  ],
  [
    'many keys with escapes',
    withMembers(`"metadata":{${fitting(KEYS, (at) => `"${'\\u00e9'.repeat(30)}${at}":1`)}}`),
  ],
  [
    'many keys in a message',
    (format) =>
      body(
        format,
        `{"role":"user","content":"hi",${fitting(KEYS, (at) => `"K${at}${'k'.repeat(180)}":"x"`)}}`,
      ),
  ],
  ['many keys, each twice', withMembers(`"metadata":{${fitting(KEYS, (at) => `${key(at >> 1)}:1`)}}`)],

  ['backslashes', withText('\\\\')],
  ['quotes', withText('\\"')],
  ['backslashes and quotes', withText('\\\\\\"')],
  ['escapes of letters', withText('\\u4e00')],
  ['halves of characters', withText('\\ud800')],
  ['line ends', withText('\\n')],
  ['one letter', withText('a')],
  ['letters of three bytes', withText('漢')],
  ['letters of four bytes', withText('😀')],
  ['blanks in a text', withText(' ')],
  ['base64', withText('QUJD/+')],
  ['blanks before the members', (format) => body(format, hi).replace('{', `{${' '.repeat(BYTES)}`)],
  [
    'a string that never ends',
    (format) => `${body(format, hi).slice(0, -1)},"x":"${'\\"'.repeat(BYTES / 2 - 200)}`,
  ],
  ['brackets', withMembers(`"x":${'['.repeat(BYTES - 200)}`)],

  ['300 tool calls with long arguments', withCalls(shareOf(300), `{"a":"${'x'.repeat(13_000)}"}`)],
  [
    '300 tool calls with many keys',
    withCalls(shareOf(300), `{${list(190, (at) => `"key${at}":"${'y'.repeat(45)}"`)}}`),
  ],
  [
    '300 tool calls with many numbers',
    withCalls(shareOf(300), `{"a":[${list(950, (at) => String(15_000_000_000 + at))}]}`),
  ],
  ['300 tool calls with deep arguments', withCalls(shareOf(300), nested(52))],
  ['one tool call with escapes', withCalls(1, `{"a":"${'\\n'.repeat(shareOf(1_000_000))}"}`)],

  ['numbers in metadata', withMembers(`"metadata":{"a":[${fitting(VALUES, () => LONG_NUMBER)}]}`)],
  ['numbers in a schema', withSchema(`{"enum":[${fitting(TOOL_VALUES, () => LONG_NUMBER)}]}`)],
  [
    'exponents in a schema',
    withSchema(`{"enum":[${fitting(TOOL_VALUES, (at) => `1.234567890123456789e3${at % 9}`)}]}`),
  ],
  ['numbers of 100,000 digits', withSchema(`{"enum":[${list(shareOf(40), () => '9'.repeat(100_000))}]}`)],
  ['one number of four megabytes', withMembers(`"seed":${'9'.repeat(BYTES - 200)}`)],

  [
    'small messages',
    (format) =>
      body(
        format,
        fitting(KEYS / 2, () => user(`"${'m'.repeat(300)}"`)),
      ),
  ],
  [
    'small parts',
    (format) => body(format, user(`[${fitting(KEYS / 2 - 10, () => textPart(format, '"mmmm"'))}]`)),
  ],
  [
    'messages that are none',
    (format) =>
      body(
        format,
        list(MESSAGES, () => '{"role":7}'),
      ),
  ],
  ['parts that are none', (format) => body(format, user(`[${list(KEYS / 2, () => '{"type":5}')}]`))],
  [
    '256 tools with large schemas',
    (format) =>
      body(
        format,
        hi,
        `,"tools":[${list(shareOf(256), (at) => tool(format, `{"properties":{${list(70, (inner) => `"p${inner}":"${'d'.repeat(190)}"`)}}}`, `f${at}`))}]`,
      ),
  ],
  [
    '256 tools with deep schemas',
    (format) =>
      body(format, hi, `,"tools":[${list(shareOf(256), (at) => tool(format, nested(55), `f${at}`))}]`),
  ],
  ['many values', withMembers(`"metadata":{"a":[${fitting(VALUES, () => `"${'v'.repeat(36)}"`)}]}`)],
  ['many values in a schema', withSchema(`{"enum":[${fitting(TOOL_VALUES, () => `"${'v'.repeat(36)}"`)}]}`)],
  ['many different values', withMembers(`"metadata":{"a":[${fitting(VALUES, (at) => `"v${at}"`)}]}`)],
  [
    'many names under references in a schema',
    withReferences((at) => `"required":["q${at}"]`, requiredNames()),
  ],
  [
    'many properties under references in a schema',
    withReferences(
      (at) => `"required":["q${at}"]`,
      `{"properties":{${fitting(TOOL_KEYS - 300, (at) => `${key(at, 20)}:{}`)}}}`,
    ),
  ],
  [
    'one long property under references in a schema',
    withReferences(
      (at) => `"properties":{"p":{"x":${at}}}`,
      `{"properties":{"p":{"description":"${'x'.repeat(BYTES - 8_000)}"}}}`,
    ),
  ],
  ['many names under sums in a schema', withSchema(schemaInSchema(27, 'allOf', requiredNames()))],
  ['many names under choices in a schema', withSchema(schemaInSchema(27, 'anyOf', requiredNames()))],
  [
    'deep lists side by side',
    withMembers(`"metadata":{"a":[${list(shareOf(6_500), () => '['.repeat(60) + ']'.repeat(60))}]}`),
  ],
  [
    'providers in order',
    withMembers(`"provider":{"order":[${fitting(VALUES, () => `"${'a/'.repeat(15)}"`)}]}`),
  ],
  ['a provider of blanks', withMembers(`"provider":{"order":["a/fast${' '.repeat(BYTES - 400)}x"]}`)],

  ['ids of 35 digits in metadata', withMembers(`"metadata":{"a":[${fitting(VALUES, () => ID)}]}`)],
  [
    'ids of 35 digits in an answer’s schema',
    withAnswerSchema(`{"enum":[${fitting(TOOL_VALUES, () => ID)}]}`),
  ],
  ['300 tool calls with ids of 35 digits', withCalls(shareOf(300), `{"a":[${list(320, () => ID)}]}`)],
  [
    'ids of 35 digits in 256 schemas',
    (format) =>
      body(
        format,
        hi,
        `,"tools":[${list(shareOf(256), (at) => tool(format, `{"enum":[${list(190, () => ID)}]}`, `f${at}`))}]`,
      ),
  ],
  ['fractions in a schema', withSchema(`{"enum":[${fitting(TOOL_VALUES, (at) => `${at}.50`)}]}`)],
  ['short exponents in a schema', withSchema(`{"enum":[${fitting(TOOL_VALUES, (at) => `1e${at % 300}`)}]}`)],
  ['minus zeros in a schema', withSchema(`{"enum":[${fitting(TOOL_VALUES, () => '-0')}]}`)],
  ['texts of digits in a schema', withSchema(`{"enum":[${fitting(TOOL_VALUES, () => `"${ID}"`)}]}`)],
  [
    'letters of marks beside a long number',
    (format) =>
      body(
        format,
        user(`"${'\u007f'.repeat(BYTES - 400)}"`),
        `,"tools":[${tool(format, `{"enum":[${ID}]}`)}]`,
      ),
  ],
  [
    'keys of escapes in a schema',
    withSchema(`{${fitting(TOOL_KEYS, (at) => `"${'\\u00e9'.repeat(30)}${at}":1`)}}`),
  ],
  [
    'keys of escapes in an answer’s schema',
    withAnswerSchema(`{${fitting(TOOL_KEYS, (at) => `"${'\\u00e9'.repeat(30)}${at}":1`)}}`),
  ],
  [
    'more keys in schemas than are taken',
    (format) =>
      body(
        format,
        hi,
        `,"tools":[${list(shareOf(256), (at) => tool(format, `{"properties":{${list(220, (inner) => `"p${inner}":1`)}}}`, `f${at}`))}]`,
      ),
  ],
  [
    'more values in a schema than are taken',
    withSchema(`{"anyOf":[{"enum":[${fitting(VALUES, (at) => `"v${at}"`)}]}]}`),
  ],
  [
    'choices in 256 schemas',
    (format) =>
      body(
        format,
        hi,
        `,"tools":[${list(shareOf(256), (at) => tool(format, `{"anyOf":[${list(24, (inner) => `{"properties":{"p${inner}":{}},"required":["p${inner}"]}`)}]}`, `f${at}`))}]`,
      ),
  ],
  [
    'many domains of a search',
    withMembers(
      `"tools":[{"type":"web_search_20250305","name":"web_search","allowed_domains":[${list(TOOL_VALUES, (at) => `"a${at}.com"`)}]}]`,
    ),
  ],
  ['many keys in an answer’s schema', withAnswerSchema(`{${fitting(TOOL_KEYS, (at) => `${key(at)}:1`)}}`)],

  ['300 tool calls with escapes', withCalls(shareOf(300), `{"a":"${'\\u00e9'.repeat(1_850)}"}`)],
  ['300 tool calls with line ends', withCalls(shareOf(300), `{"a":"${'\\n'.repeat(4_300)}"}`)],
  [
    '300 tool calls with keys of escapes',
    withCalls(shareOf(300), `{${list(180, (at) => `"${'\\u00e9'.repeat(8)}${at}":1`)}}`),
  ],
  ['300 tool calls with texts in texts', withCalls(shareOf(300), textInText(9, 'x'.repeat(8)))],
  ['one tool call with a text in texts', withCalls(1, textInText(17, 'x'))],
  ['one tool call with one long text', withCalls(1, `{"a":"${'x'.repeat(BYTES - 800)}"}`)],
  ['3,200 tool calls', withCalls(shareOf(3_200), '{"a":1}')],
  [
    'a tool’s description',
    (format) => {
      const long = tool(format, '{}').replace(
        '"name"',
        `"description":"${'\\n'.repeat(BYTES / 2 - 200)}","name"`,
      );
      return body(format, hi, `,"tools":[${long}]`);
    },
  ],

  ['pairs of escapes', withText('\\ud83d\\ude00')],
  ['control characters', withText('\\u0001')],
  ['slashes with backslashes', withText('\\/')],
  [
    'an image in the body',
    withParts(1, (format) => imagePart(format, `data:image/png;base64,${'QUJD'.repeat(BYTES / 4 - 100)}`)),
  ],
  [
    '200 images in the body',
    withParts(shareOf(200), (format) => imagePart(format, `data:image/png;base64,${'QUJD'.repeat(5_000)}`)),
  ],
  [
    'an image among many values',
    (format) => {
      const image = imagePart(format, 'data:image/png;base64,QUJD');
      return body(
        format,
        user(`[${image}]`),
        `,"metadata":{"a":[${fitting(VALUES, (at) => `"v${at}"`)},1.50]}`,
      );
    },
  ],
  [
    'many images of some bytes',
    withParts(KEYS / 4, (format) => imagePart(format, 'data:image/png;base64,QUJD')),
  ],

  ['an image among many empty parts', withImage(list(EMPTIES, () => '{}'))],
  ['an image among many parts of files', withImage(fitting(KEYS - 100, () => '{"type":"file"}'))],
  [
    'an image behind many empty messages',
    (format) =>
      body(
        format,
        list(EMPTIES, () => '{}'),
        IMAGE_TEXT,
      ),
  ],
  [
    'an image behind many results',
    (format) =>
      body(
        format,
        fitting(KEYS - 100, () => '{"output":0}'),
        IMAGE_TEXT,
      ),
  ],
  ['an image before blanks', withMembers(`"z":";base64,"${' '.repeat(BYTES)}`)],
  ['an image before one number', withMembers(`"z":";base64,","y":${'1'.repeat(BYTES)}`)],
  ['many values before blanks', withMembers(`"metadata":[${MANY_ONES}]${' '.repeat(BYTES - 2 * MANY)}`)],
  ['many values before one number', withMembers(`"metadata":[${MANY_ONES},${'1'.repeat(BYTES - 2 * MANY)}]`)],

  [
    'many texts in a message',
    (format) => body(format, `{"role":"user","content":"hi","x":[${list(NULLS, () => '" a."')}]}`),
  ],
  [
    'a message that is edited beside many values',
    (format) =>
      body(
        format,
        `{"role":"developer","content":"be kind"},{"role":"user","content":"hi","x":[${fitting(VALUES, (at) => `"v${at}"`)}]}`,
      ),
  ],
  [
    'a message that is edited beside halves of characters',
    (format) =>
      body(
        format,
        `{"role":"developer","content":"be kind"},${user(`"${'\\ud800'.repeat((BYTES - 400) / 6)}"`)}`,
      ),
  ],
  [
    'many answers',
    (format) => body(format, `${hi},${list(MESSAGES, () => '{"role":"assistant","content":"a"}')},${hi}`),
  ],
  [
    'many system messages',
    (format) => body(format, `${list(MESSAGES, () => '{"role":"system","content":"a"}')},${hi}`),
  ],
  [
    'many calls by long names',
    (format) =>
      body(
        format,
        `${hi},${list(shareOf(8_000), (at) => call(format, at, '{}').replace('"f"', `"${'é'.repeat(100)}${at}"`))}`,
        `,"tools":[${tool(format, '{"type":"object"}')}]`,
      ),
  ],
  ['100 tool calls with deep lists', withCalls(shareOf(100), '['.repeat(19_000) + ']'.repeat(19_000))],

  ['many empty parts', withParts(EMPTIES, () => '{}')],
  ['many parts of null', withParts(NULLS, () => 'null')],
  ['many parts of numbers', withParts(NULLS, () => '7')],
  ['many empty lists for parts', withParts(EMPTIES, () => '[]')],
  [
    'many empty messages',
    (format) =>
      body(
        format,
        list(MESSAGES, () => '{}'),
      ),
  ],
  [
    'many messages of null',
    (format) =>
      body(
        format,
        list(MESSAGES, () => 'null'),
      ),
  ],
  ['many empty tools', (format) => body(format, hi, `,"tools":[${list(EMPTIES, () => '{}')}]`)],
  ['many empty fallbacks', (format) => body(format, hi, `,"models":[${list(EMPTIES, () => '{}')}]`)],
  [
    'many stops',
    (format) =>
      body(format, hi, `,"stop":[${list(NULLS, () => '"a"')}],"stop_sequences":[${list(5, () => '"a"')}]`),
  ],
  [
    '100 messages of 90 parts',
    (format) =>
      body(
        format,
        list(shareOf(100), () => user(`[${list(90, () => textPart(format, `"${'m'.repeat(300)}"`))}]`)),
      ),
  ],
  [
    'parts with hints',
    withParts(shareOf(11_700), (format) =>
      textPart(format, '"m"').replace('}', ',"cache_control":{"type":"ephemeral","ttl":"1h"}}'),
    ),
  ],
  [
    'many empty parts of a system prompt',
    (format) => body(format, hi, `,"system":[${list(EMPTIES, () => '{}')}]`),
  ],
  [
    'many empty parts behind a good one',
    (format) => body(format, user(`[${textPart(format, '"m"')},${list(EMPTIES, () => '{}')}]`)),
  ],
  [
    '100 messages of 450 empty parts',
    (format) =>
      body(
        format,
        list(shareOf(100), () => user(`[${list(450, () => '{}')}]`)),
      ),
  ],
]);
