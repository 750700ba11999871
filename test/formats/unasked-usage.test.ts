import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, PROVIDER_KINDS } from './format-gateway.ts';
import { askedIn, eventsIn, requestIn } from './requests.ts';
import { wholeStream, wires } from './wires.ts';

/* A caller who did not ask for usage sees none in a chat's stream, and one who did sees it once, at the end. */

let provider: RawProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({
    yaml: formatYaml(provider.baseUrl, 'stops_billing', {
      all: 'openai',
      more: 'limits: { callsPerMinute: 60000, burst: 60000 }',
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

/** As a client is generated from a document that knows usage as an object, where it is there at all. */
const Chunk = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.looseObject({ index: z.int(), delta: z.looseObject({ content: z.string().optional() }) }),
  ),
  usage: z
    .looseObject({
      prompt_tokens: z.int(),
      completion_tokens: z.int(),
      total_tokens: z.int(),
      cost: z.number(),
    })
    .optional(),
});

const frame = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"';
const RECORD = '{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}';
const part = (content: string, more = '', ofChoice = '') =>
  `{${frame},"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null${ofChoice}}]${more}}`;
const finish = (more = '', ofChoice = '') =>
  `{${frame},"choices":[{"index":0,"delta":{},"finish_reason":"stop"${ofChoice}}]${more}}`;
const trailer = (more: string) => `{${frame},"choices":[]${more}}`;
const sent = (...events: string[]) => [...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join('');

/** How vendors and servers put usage into the chunks of a stream. */
const forms: [string, string][] = [
  [
    'null in every chunk, and a last one of its own',
    sent(
      part('Hel', ',"usage":null'),
      part('lo', ',"usage":null'),
      finish(',"usage":null'),
      trailer(`,"usage":${RECORD}`),
    ),
  ],
  [
    'null before other members, with blanks',
    sent(
      part('Hel', ', "usage" : null ,"obfuscation":"aB3"'),
      part('lo', ',"usage": null,"service_tier":null'),
      finish(',"usage":null,"x":1'),
      trailer(`,"usage":${RECORD}`),
    ),
  ],
  [
    'null as the first member',
    sent(
      `{"usage":null,${part('Hello').slice(1)}`,
      `{"usage":null,${finish().slice(1)}`,
      trailer(`,"usage":${RECORD}`),
    ),
  ],
  [
    'a record in every chunk, more each time',
    sent(
      part('Hel', ',"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}'),
      part('lo', ',"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}'),
      finish(`,"usage":${RECORD}`),
    ),
  ],
  ['a record in the last chunk that has a choice', sent(part('Hello'), finish(`,"usage":${RECORD}`))],
  ['a record of one vendor', sent(part('Hello'), finish(`,"x_groq":{"id":"r","usage":${RECORD}}`))],
  [
    'a record in the choice, and once more at the end',
    sent(part('Hello'), finish('', `,"usage":${RECORD}`), trailer(`,"usage":${RECORD}`)),
  ],
  [
    'a record in the choice alone',
    sent(part('Hello', '', ',"usage":null'), finish('', `,"usage":${RECORD}`)),
  ],
  [
    'a record, and a trailer of zeros behind it',
    sent(
      part('Hello'),
      trailer(`,"usage":${RECORD}`),
      trailer(',"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}'),
    ),
  ],
  [
    'a record, and a trailer of nothing',
    sent(part('Hello'), finish(), trailer(`,"usage":${RECORD}`), trailer(',"usage":null')),
  ],
  ['no record at all', sent(part('Hello', ',"usage":null'), finish(',"usage":null'))],
];

async function streamed(
  stream: string,
  showUsage: boolean,
  kind: (typeof PROVIDER_KINDS)[number] = 'chat only',
) {
  provider.answers = plays(stream);
  const body = { stream: true, ...(showUsage ? { stream_options: { include_usage: true } } : {}) };
  const agent = await gateway.newAgent({ creditUsd: '1' });
  const res = await gateway.post(requestIn('chat', modelOf[kind], body), { agent });
  const text = await res.text();
  const chunks = eventsIn(text).map((chunk) => Chunk.parse(chunk));
  const content = chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('');
  return { text, chunks, content, charged: (await gateway.settled(agent)).chargedNanoUsd };
}

describe.each(forms)('a chat whose provider sends %s', (name, stream) => {
  it('has no usage for a caller who did not ask for it', async () => {
    const { text, chunks, content, charged } = await streamed(stream, false);
    expect(content).toBe('Hello');
    expect(text).not.toContain('"usage"');
    expect(text).not.toContain('"cost"');
    // A chunk without choices says nothing, and clients that read the first choice of each would stumble over it.
    for (const chunk of chunks) expect(chunk.choices).toHaveLength(1);
    expect(charged).toBeGreaterThan(0n);
    if (name !== 'no record at all') expect(charged).toBe(5n * 123n + 7n * 457n);
  });

  it('has it once, at the end and with its cost, for one who did', async () => {
    const { text, chunks, content } = await streamed(stream, true);
    expect(content).toBe('Hello');
    expect(text.match(/"usage"/g)).toHaveLength(1);
    const last = chunks.at(-1);
    expect(last?.choices).toEqual([]);
    if (name === 'no record at all') expect(last?.usage?.completion_tokens).toBe(2);
    else
      expect(last?.usage).toMatchObject({
        prompt_tokens: 5,
        completion_tokens: 7,
        total_tokens: 12,
        cost: 0.000003814,
      });
  });
});

it.each([
  '"citations":["https://example.com/a"]',
  '"citations":["https://example.com/a"],"num_sources_used":1',
  '"search_results":[{"title":"A","url":"https://example.com/a"}]',
])('pages that stand beside the usage alone are shown to every caller: %s', async (pages) => {
  const stream = sent(part('Hello'), finish(), trailer(`,"usage":${RECORD},${pages}`));
  const { text, chunks } = await streamed(stream, false);
  expect(text).not.toContain('"usage"');
  expect(text.match(/example\.com/g)).toHaveLength(1);
  for (const chunk of chunks) expect(chunk.choices).toHaveLength(1);
  const shown = await streamed(stream, true);
  expect(shown.text.match(/example\.com/g)).toHaveLength(1);
});

it.each(PROVIDER_KINDS)('a translated chat says the same: %s', async (kind) => {
  const stream = wholeStream(wires[askedIn(kind, 'chat')], 'Hello');
  const silent = await streamed(stream, false, kind);
  expect(silent.text).not.toContain('"usage"');
  const shown = await streamed(stream, true, kind);
  expect(shown.text.match(/"usage"/g)).toHaveLength(1);
  expect(shown.chunks.at(-1)?.usage?.prompt_tokens).toBe(5);
});

describe('a client that is made for OpenRouter', () => {
  const agents = [
    'ai-sdk/openrouter/3.1.0 ai-sdk/provider-utils/4.0.1 runtime/node.js/26',
    'speakeasy-sdk/typescript 1.3.19 2.788.4 1.0.0 @openrouter/sdk',
    'speakeasy-sdk/python 0.1.2 2.768.0 1.0.0 openrouter',
    'speakeasy-sdk/go 0.2.0 2.800.1 1.0.0 github.com/OpenRouterTeam/go-sdk',
  ];
  const stream = sent(part('Hello'), finish(), trailer(`,"usage":${RECORD}`));

  async function shownTo(userAgent: string, members: object): Promise<string> {
    provider.answers = plays(stream);
    const body = requestIn('chat', modelOf['chat only'], { stream: true, ...members });
    const agent = await gateway.newAgent({ creditUsd: '1' });
    return (await gateway.post(body, { agent, headers: { 'user-agent': userAgent } })).text();
  }

  it.each(agents)(
    'has usage and cost in every stream, which it reads without asking: %s',
    async (userAgent) => {
      const text = await shownTo(userAgent, {});
      expect(text.match(/"usage"/g)).toHaveLength(1);
      expect(eventsIn(text).at(-1)).toMatchObject({ usage: { prompt_tokens: 5, cost: 0.000003814 } });
    },
  );

  it.each([{ usage: { include: false } }, { stream_options: { include_usage: false } }])(
    'has none where it says so: %j',
    async (members) => {
      expect(await shownTo(agents[0] ?? '', members)).not.toContain('"usage"');
    },
  );

  it.each(['openai/js 7.57.0', 'ai-sdk/openai/4.0.2', ''])(
    'is told from others, which are shown usage where they ask for it: %s',
    async (userAgent) => {
      expect(await shownTo(userAgent, {})).not.toContain('"usage"');
      expect(await shownTo(userAgent, { usage: { include: true } })).toContain('"usage"');
    },
  );
});

it('a chunk that is not ours to write keeps every byte but its empty usage', async () => {
  const odd = '"odd":{"usage":null,"n":1.0,"s":"\\"usage\\":null"}';
  const begun = part('').replace('"content"', '"role":"assistant","content"');
  const { text } = await streamed(sent(begun, part('Hello', `,${odd},"usage":null`), finish()), false);
  expect(text).toContain(part('Hello', `,${odd}`));
});
