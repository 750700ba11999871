import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { eventsOf } from '../recordings/player.ts';
import { piecesOf, relayStream } from './relay-stream.ts';

/* Every event of a stream is checked for what its frame tells of the provider, not the first one alone. */

const KEY = 'sk-prov-Zx81kQpLm29vTT07';
const HOST = 'llm7.corp.internal';
const UPSTREAM = 'up-x7';
const PUBLIC = 'own/x';
const hidden = {
  provider: { id: 'p1', apiKey: KEY, baseUrl: `http://${HOST}:8000/v1` },
  upstreamModel: UPSTREAM,
  publicModel: PUBLIC,
};

type Event = Readonly<Record<string, unknown>>;
const ids = { id: 'c1', model: UPSTREAM };
const chunk = (delta: object, members: object = {}, choice: object = {}): Event => ({
  ...{ ...ids, object: 'chat.completion.chunk', created: 1 },
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...members,
});
const telling: Event = {
  id: `x-${KEY}`,
  model: '/srv/models/llama.gguf',
  provider: `p ${KEY}`,
  service_tier: `http://${HOST}:8000/v1`,
  system_fingerprint: `${HOST}:8000`,
};

async function shownOf(format: FormatName, events: readonly (Event | string)[], publicModel = PUBLIC) {
  const reader = callFormats[format].openStream({
    ...{ upstreamModel: UPSTREAM, publicModel, showUsage: true, hidden: { ...hidden, publicModel } },
    ...{ ownId: 'gen-1', createdAtS: 1 },
  });
  const sent = events.map((event) => {
    const json = typeof event === 'string' ? event : JSON.stringify(event);
    const type = format === 'chat' ? '' : `event: ${JSON.parse(json).type}\n`;
    return `${type}data: ${json}\n\n`;
  });
  const done = format === 'chat' ? 'data: [DONE]\n\n' : '';
  const { text, end } = await relayStream(reader, piecesOf(sent.join('') + done, 1_000_000));
  expect(end.kind).toBe('complete');
  const identity = { id: 'gen-1', createdAtS: 1, nowS: 1, model: publicModel };
  const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
  return text + reader.end({ identity, shown: null, tokens }).toString();
}

function expectNothingOf(text: string): void {
  for (const secret of [KEY, HOST, '.gguf', `"${UPSTREAM}"`]) expect(text).not.toContain(secret);
}

const openings: [string, Event[]][] = [
  [
    'a record of nothing',
    [{ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] }],
  ],
  ['a sign of life', [{ type: 'ping' }]],
  ['a chunk without a frame', [{ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }]],
  ['a frame that tells nothing', [chunk({ role: 'assistant', content: '' })]],
  ['nothing', []],
];
const text = (members: object = {}): Event[] =>
  ['Rain', ' by', ' noon.'].map((content) => chunk({ content }, members));
const end = chunk({}, {}, { finish_reason: 'stop' });

describe.each(openings)('a chat whose stream begins with %s', (_name, opening) => {
  it.each([PUBLIC, UPSTREAM])('tells nothing of its provider in a later chunk, as %s', async (model) => {
    const shown = await shownOf(
      'chat',
      [...opening, ...text(telling), ...text(), ...text(telling), end],
      model,
    );
    for (const secret of [KEY, HOST, '.gguf']) expect(shown).not.toContain(secret);
    for (const event of eventsOf(shown)) expect(event).toMatchObject({ model });
    expect(shown).toContain('Rain');
  });

  it('has the name of a provider once in each chunk at most', async () => {
    for (const provider of [`p ${KEY}`, null, 'Google AI Studio']) {
      const shown = await shownOf('chat', [...opening, ...text({ provider }), end]);
      expectNothingOf(shown);
      for (const line of shown.split('\n')) expect(line.split('"provider"').length).toBeLessThan(3);
      expect(shown).toContain('"provider":');
    }
  });
});

it('a chat names the public model at its top level, whatever stands inside it', async () => {
  const inside = { info: { model: UPSTREAM }, model: UPSTREAM };
  const anyMembers = fc.shuffledSubarray(['id', 'object', 'created', 'model', 'choices', 'more'], {
    minLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMembers, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      async (orders, isSpaced) => {
        const events = orders.map((names, at) => {
          const whole: Event = {
            ...chunk({ content: 'Rain', ...(at === 0 ? { role: 'assistant' } : {}) }, {}, inside),
            more: inside,
          };
          const json = JSON.stringify(Object.fromEntries(names.map((name) => [name, whole[name]])));
          return isSpaced ? json.replaceAll('":', '": ') : json;
        });
        const shown = eventsOf(await shownOf('chat', [...events, end]));
        for (const event of shown) expect(event).toMatchObject({ model: PUBLIC });
      },
    ),
  );
});

const delta: Event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain' } };
const message: Event[] = [
  {
    type: 'message_start',
    message: { ...ids, type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  delta,
  delta,
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
];
const piece: Event = {
  type: 'response.output_text.delta',
  item_id: 'i',
  output_index: 0,
  content_index: 0,
  delta: 'Rain',
};
const item = {
  type: 'message',
  id: 'i',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'RainRain', annotations: [] }],
};
const response: Event[] = [
  { type: 'response.created', response: { ...ids, object: 'response', status: 'in_progress', output: [] } },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...item, status: 'in_progress', content: [] },
  },
  {
    type: 'response.content_part.added',
    item_id: 'i',
    output_index: 0,
    content_index: 0,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  piece,
  piece,
  { type: 'response.output_item.done', output_index: 0, item },
  {
    type: 'response.completed',
    response: {
      ...ids,
      object: 'response',
      status: 'completed',
      output: [item],
      usage: { input_tokens: 1, output_tokens: 2 },
    },
  },
];
const model = { model: UPSTREAM };

describe.each<[FormatName, Event[]]>([
  ['messages', message],
  ['responses', response],
])('a stream of %s', (format, events) => {
  it.each(events.map((_, at) => at))('tells nothing of its provider in event %i', async (place) => {
    for (const members of [telling, model])
      for (const holder of [null, format === 'messages' ? 'message' : 'response'])
        for (const skipped of [-1, 0]) {
          const sent = events.map((event, at) => {
            if (at !== place) return event;
            if (holder === null) return { ...event, ...members };
            const inner = event[holder];
            return {
              ...event,
              [holder]: inner === undefined ? members : { ...(inner as object), ...members },
            };
          });
          const shown = await shownOf(
            format,
            sent.filter((_, at) => at !== skipped),
          );
          expectNothingOf(shown);
          expect(shown).toContain('Rain');
        }
  });
});

it('a response has items whose ids do not repeat the key', async () => {
  const told = JSON.parse(JSON.stringify(response).replaceAll('"i"', `"msg_${KEY}"`));
  for (const events of [told, told.slice(1), told.slice(3)]) {
    const shown = await shownOf('responses', events);
    expectNothingOf(shown);
    expect(shown).toContain('"delta":"Rain"');
  }
});
