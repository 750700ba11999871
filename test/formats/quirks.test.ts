import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { QUIRK_NAMES, type QuirkName } from '../../api/simulator/quirks.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { type QuirkError, quirkErrors } from './quirk-errors.ts';
import { FORMATS } from './requests.ts';

/* Whatever way a server has of writing the chat format: its text, reasoning, calls and errors arrive in every format, and its bill is paid. */

/** With the prices of the simulator's. */
const MODELS = {
  small: 'prompt: "0.0000001", completion: "0.0000004"',
  thinker: 'prompt: "0.000001", completion: "0.000004", internalReasoning: "0.000005"',
  agent: 'prompt: "0.0000002", completion: "0.0000008"',
} as const;

const yaml = (): string => {
  const endpoint = (quirk: string, model: string, prices: string) =>
    `endpoints: [{ provider: "${quirk}", model: faregate-sim/${model}, pricing: { ${prices} } }]`;
  const providers = QUIRK_NAMES.map(
    (quirk) =>
      `  - { id: "${quirk}", kind: openai, dialect: other, catalog: none, cancel: stops_billing, baseUrl: PROVIDER_ORIGIN/quirks/${quirk}/v1 }`,
  );
  const models = QUIRK_NAMES.flatMap((quirk) =>
    Object.entries(MODELS).map(
      ([model, prices]) =>
        `  - { id: "${quirk}/${model}", contextLength: 65536, maxOutputTokens: 4096, ${endpoint(quirk, model, prices)} }`,
    ),
  );
  return `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000 }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`;
};

let gateway: TestGateway;
let agent: TestAgent;
beforeAll(async () => {
  gateway = await startTestGateway({ yaml: yaml() });
  agent = gateway.agent;
});
afterAll(() => gateway.stop());

const tool = (name: string, format: FormatName): object => {
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  switch (format) {
    case 'chat':
      return { type: 'function', function: { name, parameters } };
    case 'responses':
      return { type: 'function', name, parameters };
    case 'messages':
      return { name, input_schema: parameters };
  }
};

function request(format: FormatName, model: string, text: string, stream: boolean): object {
  const tools = ['read_file', 'list_files'].map((name) => tool(name, format));
  const turn = { role: 'user', content: text };
  const rest = { model, stream, tools };
  if (format === 'responses') return { ...rest, input: [turn] };
  return format === 'chat'
    ? { ...rest, messages: [turn], ...(stream ? { stream_options: { include_usage: true } } : {}) }
    : { ...rest, max_tokens: 1_000, messages: [turn] };
}

async function ask(quirk: QuirkName, model: string, format: FormatName, stream: boolean, text: string) {
  const body = request(format, `${quirk}/${model}`, text, stream);
  const response = await gateway.post(body, { path: pathOf(format), agent });
  const answered = await response.text();
  expect([response.status, answered]).toEqual([200, expect.any(String)]);
  if (!stream) return JSON.parse(answered);
  const assembly = callFormats[format].openAssembly();
  for (const [, data = ''] of answered.matchAll(/^data: (.*)$/gm)) assembly.read(Buffer.from(data), '');
  return JSON.parse(assembly.answer()?.toString() ?? 'null');
}

/** Text, reasoning and calls of an answer, in whichever format. */
function partsOf(format: FormatName, answer: Record<string, unknown>) {
  switch (format) {
    case 'chat': {
      const message = recordOf(records(answer.choices)[0]?.message);
      return {
        text: String(message.content ?? ''),
        reasoning: String(message.reasoning ?? message.reasoning_content ?? ''),
        calls: records(message.tool_calls).map(({ id, function: called }) => [
          id,
          recordOf(called).name,
          JSON.parse(String(recordOf(called).arguments)),
        ]),
      };
    }
    case 'responses': {
      const output = records(answer.output);
      const textsOf = (type: string, list: 'content' | 'summary') =>
        output
          .flatMap((item) => (item.type === type ? records(item[list]).map(({ text }) => String(text)) : []))
          .join('');
      return {
        text: textsOf('message', 'content'),
        reasoning: textsOf('reasoning', 'content') + textsOf('reasoning', 'summary'),
        calls: output.flatMap((item) =>
          item.type === 'function_call'
            ? [[item.call_id, item.name, JSON.parse(String(item.arguments))]]
            : [],
        ),
      };
    }
    case 'messages': {
      const content = records(answer.content);
      const joined = (type: string, member: string) =>
        content.flatMap((block) => (block.type === type ? [String(block[member])] : [])).join('');
      return {
        text: joined('text', 'text'),
        reasoning: joined('thinking', 'thinking'),
        calls: content.flatMap(({ type, id, name, input }) =>
          type === 'tool_use' ? [[id, name, input]] : [],
        ),
      };
    }
  }
}

const SHOWS_NO_REASONING: ReadonlySet<QuirkName> = new Set(['tgi', 'gemini', 'azure', 'bedrock']);

describe.each(QUIRK_NAMES.flatMap((quirk) => FORMATS.map((format) => ({ quirk, format }))))(
  'a server like $quirk, asked in $format',
  ({ quirk, format }) => {
    it.each([true, false])('answers whole, streamed: %s', async (stream) => {
      const parts = partsOf(format, await ask(quirk, 'small', format, stream, 'Hello'));
      expect(parts.text).toContain('“Hello”');
    });

    it.each([true, false])('shows its reasoning, streamed: %s', async (stream) => {
      const parts = partsOf(format, await ask(quirk, 'thinker', format, stream, 'Hello'));
      expect(parts.text).toContain('“Hello”');
      expect(parts.reasoning !== '').toBe(!SHOWS_NO_REASONING.has(quirk));
    });

    it.each([true, false])('calls two tools side by side, streamed: %s', async (stream) => {
      const task = 'Use read_file and list_files for a.txt';
      const { calls } = partsOf(format, await ask(quirk, 'agent', format, stream, task));
      expect(calls.map(([, name, input]) => [name, input])).toEqual([
        ['read_file', { path: 'a.txt' }],
        ['list_files', { path: 'a.txt' }],
      ]);
      expect(new Set(calls.map(([id]) => id)).size).toBe(2);
    });

    it('refuses in words that reach the caller', async () => {
      gateway.provider.next({ status: 400, error: { message: 'temperature is too warm' } });
      const body = request(format, `${quirk}/small`, 'Hello', false);
      const response = await gateway.post(body, { path: pathOf(format), agent });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('temperature is too warm');
    });

    it('tells of a prompt that is too long', async () => {
      expect((await refused(quirk, format, quirkErrors[quirk].tooLong)).status).toBe(413);
    });
  },
);

async function refused(quirk: QuirkName, format: FormatName, error: QuirkError): Promise<Response> {
  const { status, headers = {}, body } = error;
  gateway.provider.next({ status, headers, body: JSON.stringify(body) });
  const response = await gateway.post(request(format, `${quirk}/small`, 'Hello', false), {
    path: pathOf(format),
    agent,
  });
  await response.text();
  return response;
}

it.each(
  QUIRK_NAMES.filter((quirk) => quirkErrors[quirk].policy).flatMap((quirk) =>
    FORMATS.map((format) => ({ quirk, format })),
  ),
)('$quirk tells of a refusal by its policy, by $format', async ({ quirk, format }) => {
  const { policy } = quirkErrors[quirk];
  if (policy === undefined) throw new Error('It has no policy.');
  expect((await refused(quirk, format, policy)).status).toBe(403);
});

// A server that names a wait is left alone for as long, so each is asked once, after all else.
it.each(QUIRK_NAMES.filter((quirk) => quirkErrors[quirk].wait))(
  'a caller of a server like %s is told to wait as long as it says',
  async (quirk) => {
    const { wait } = quirkErrors[quirk];
    if (wait === undefined) throw new Error('It names no wait.');
    const response = await refused(quirk, 'chat', wait);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, String(wait.seconds)]);
  },
);

it('all of them are paid what they billed, to the nano-dollar', async () => {
  const { chargedNanoUsd } = await gateway.settled(agent);
  expect(chargedNanoUsd).toBe(gateway.provider.billedNanoUsd());
});
