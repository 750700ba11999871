import { describe, expect, it } from 'vitest';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import { isErrorEvent } from '../../api/inference/formats/chat-answer.ts';
import { mergeDelta } from '../../api/inference/formats/merge-delta.ts';
import { MessagesStream } from '../../api/inference/formats/messages-stream.ts';
import { isJson } from '../../api/inference/formats/stream-text.ts';
import { MemberChanges, rebuildJsonObject, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { noTokens } from '../../api/inference/price/usage.ts';
import { MessagesSink } from '../../api/inference/translation/messages-sink.ts';
import { ResponsesSink } from '../../api/inference/translation/responses-sink.ts';
import { openSink, openSource } from '../../api/inference/translation/translate-answer.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { asAsked } from './asked-dialect.ts';

/** What takes a second takes minutes where each piece looks at all before it. */
const MANY = 200_000;

const identity = { id: 'ours', createdAtS: 1, nowS: 2, model: 'acme/small' };

it('an answer of very many numbered pieces is put together in a second or so', () => {
  const message: Record<string, unknown> = {};
  for (let index = 0; index < MANY; index++)
    mergeDelta(message, { tool_calls: [{ index, id: `c${index}` }] });
  mergeDelta(message, { tool_calls: [{ index: 0, arguments: '{}' }] });
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) throw new Error('no list');
  expect(calls).toHaveLength(MANY);
  expect(calls[0]).toMatchObject({ id: 'c0', arguments: '{}' });
});

it('an answer of very many parts is translated in a second or so', () => {
  const sink = new ResponsesSink(
    { id: 'x', createdAtS: 1, nowS: 2, model: 'acme/small' },
    { echo: '"tools":[]', names: new Map() },
  );
  sink.write({ type: 'start', id: 'x' });
  let bytes = 0;
  for (let index = 0; index < MANY; index++) {
    bytes += sink.write({ type: 'tool_call', index, id: `c${index}`, name: 'f' }).length;
  }
  expect(bytes).toBeGreaterThan(MANY);
});

describe('what a stream of messages is counted by', () => {
  const counters = (count: number, name = 'k') =>
    Array.from({ length: count }, (_, n) => `"${name}${n}":1`).join(',');
  const delta = (usage: string) => Buffer.from(`{"type":"message_delta","delta":{},"usage":{${usage}}}`);
  const open = (usage: string) => {
    const stream = new MessagesStream({ upstreamModel: '', publicModel: '', showUsage: true });
    const start = `{"type":"message_start","message":{"id":"m","usage":{${usage}}}}`;
    return { stream, read: stream.read(Buffer.from(start), 'message_start') };
  };
  const COUNTED = '"input_tokens":5,"output_tokens":7';

  it.each([
    ['of more counters than anybody has', counters(40_000)],
    ['of a megabyte', `"k":"${'x'.repeat(1_000_000)}"`],
  ])('is no record %s: to lay it over the one before would hold up everybody', (_name, many) => {
    expect(open(many).read).toEqual({ kind: 'malformed' });
    const { stream } = open(COUNTED);
    expect(stream.read(delta(many), 'message_delta')).toEqual({ kind: 'malformed' });
    expect(stream.usage(0)?.tokens).toMatchObject({ prompt: 5 });
  });

  it('does not grow beyond that by what each event adds', () => {
    const { stream } = open(COUNTED);
    const kinds = Array.from(
      { length: 10 },
      (_, n) => stream.read(delta(counters(100, `${'abcdefghij'[n]}`)), 'message_delta').kind,
    );
    expect(kinds.slice(0, 2)).toEqual(['kept', 'malformed']);
  });

  it('may name what nobody has heard of yet', () => {
    const { stream } = open(`"input_tokens":5,"output_tokens":0,${counters(50)}`);
    expect(stream.read(delta('"output_tokens":7,"k3":null'), 'message_delta').kind).toBe('kept');
    expect(stream.usageRecord?.bytes.toString()).toBe(`{"input_tokens":5,"output_tokens":7,${counters(50)}}`);
  });
});

it('an object whose key is repeated very often is rebuilt in a second or so', () => {
  const text = `{${'"a":1,'.repeat(MANY)}${'"b":1,'.repeat(MANY)}"b":1}`;
  const object = scanJsonObject(Buffer.from(text));
  if (typeof object === 'string') throw new Error(object);
  const rebuilt = rebuildJsonObject(object, new MemberChanges([['b', '2']]));
  expect(rebuilt.toString()).toBe(`{${'"a":1,'.repeat(MANY)}"b":2}`);
});

it.each([
  ['chat', 'responses'],
  ['chat', 'messages'],
  ['messages', 'chat'],
  ['messages', 'responses'],
] as const)('a very long id of an answer in %s is not repeated in the events of %s', (from, to) => {
  const sink = openSink(to, identity, asAsked);
  const stream = new TranslatedStream(openSource(from), sink);
  const read = (event: object): string => {
    const result = stream.read(Buffer.from(JSON.stringify(event)), '');
    return result.kind === 'changed' ? result.events.toString() : '';
  };
  const delta = { role: 'assistant', content: 'a', tool_calls: [{ index: 0, id: 'c', function: {} }] };
  const id = 'x'.repeat(900_000);
  const events =
    from === 'messages'
      ? [
          { type: 'message_start', message: { id } },
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } },
        ]
      : [{ id, choices: [{ index: 0, delta }] }];
  const shown = events.map(read).join('');
  expect(shown).toContain('"id":"ours"');
  expect(shown).not.toContain('xxx');
  expect(stream.end({ identity, shown: null, tokens: noTokens }).toString()).not.toContain('xxx');
});

describe('the many parts of an answer of chat', () => {
  const PARTS = 20_000;
  const each = (of: (n: number) => object) => Array.from({ length: PARTS }, (_, n) => of(n));
  const play = (deltas: object[]): number => {
    const stream = new TranslatedStream(
      openSource('chat'),
      new ResponsesSink(identity, { echo: '"tools":[]', names: new Map() }),
    );
    return cpuMsOf(() => {
      for (const delta of deltas)
        stream.read(Buffer.from(JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })), '');
      const end = stream.end({ identity, shown: null, tokens: noTokens }).toString();
      expect(end).toContain('response.completed');
    });
  };
  const page = { type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A' } };
  const unnumbered = { tool_calls: each((n) => ({ id: `c${n}`, function: { arguments: '{' } })) };

  it.each<[string, object[]]>([
    ['pages that it rests on', [{ annotations: each(() => page) }]],
    ['calls without numbers', [unnumbered, unnumbered]],
  ])('are shown in a second or so: %s', (_name, deltas) => {
    expect(play(deltas)).toBeLessThan(2_500);
  });
});

it('very many calls that wait for one that never ends are shown in a second or so', () => {
  const CALLS = 50_000;
  const sink = new MessagesSink(identity);
  let text = '';
  const cpuMs = cpuMsOf(() => {
    for (let index = 0; index < CALLS; index++) sink.write({ type: 'tool_call', index, id: 'c', name: 'f' });
    for (let index = 0; index < CALLS; index++) sink.write({ type: 'arguments', index, json: '{' });
    text = sink.end({ identity, shown: null, tokens: noTokens }).toString();
  });
  expect(cpuMs).toBeLessThan(2_500);
  expect(text.split('"partial_json":"{"').length).toBe(CALLS);
});

describe('a passing stream of which a translation keeps more than a process can', () => {
  const text = 'x'.repeat(1_000_000);
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{' } };
  const play = (to: 'chat' | 'responses' | 'messages', delta: object) => {
    const stream = new TranslatedStream(openSource('chat'), openSink(to, identity, asAsked));
    const read = (each: object) =>
      stream.read(Buffer.from(JSON.stringify({ id: 'c', choices: [{ index: 0, delta: each }] })), '').kind;
    read({ tool_calls: [call] });
    const kinds = Array.from({ length: JSON_ANSWER_BYTES / text.length + 2 }, () => read(delta));
    return kinds.slice(1).indexOf('too_long') >= 0;
  };
  const later = { tool_calls: [{ ...call, index: 1, id: 'd', function: { arguments: text } }] };

  it.each([
    ['all text, in responses', 'responses', { content: text }, true],
    ['what waits for a call, in messages', 'messages', later, true],
    ['nothing of what has passed, in chat', 'chat', { content: text }, false],
  ] as const)('ends: %s', (_name, to, delta, ends) => {
    expect(play(to, delta)).toBe(ends);
  });
});

it.each([
  ['an error of chat', (data: Buffer) => isErrorEvent(data, null)],
  ['what a stream broke off with', isJson],
])('brackets of many megabytes are none, which takes no second to say: %s', (_name, says) => {
  const cpuMs = cpuMsOf(() => expect(says(Buffer.from('['.repeat(24 << 20)))).toBe(false));
  expect(cpuMs).toBeLessThan(1_000);
});
