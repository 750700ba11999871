import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, Provider } from '#core/catalog/catalog.ts';
import { runAtOnce } from '#core/steps.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { type DialectName, dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { endpoint, model, noLinkRules, provider, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* Signatures of every vendor, shown to callers of every format, and sent back to every vendor, as a fallback does. */

interface Vendor {
  provider: Provider;
  upstreamModel: string;
}

const vendor = (given: Partial<Provider>, upstreamModel: string): Vendor => ({
  provider: provider(given),
  upstreamModel,
});
const { openai, openrouter, anthropic } = providerKinds;

/** A server of each dialect that there is, in each format in which it may be asked. */
const VENDORS: readonly Vendor[] = [
  ...(Object.keys(dialects) as DialectName[]).map((name) =>
    vendor(
      { id: name, kind: openai, formats: ['chat'], dialect: dialects[name] },
      name === 'google' ? 'gemini-3-pro' : 'acme-1',
    ),
  ),
  vendor(
    { id: 'other-gemini', kind: openai, formats: ['chat'], dialect: dialects.other },
    'google/gemini-3-pro',
  ),
  vendor(
    { id: 'openai-responses', kind: openai, formats: ['chat', 'responses'], dialect: dialects.openai },
    'gpt-9',
  ),
  vendor(
    { id: 'fireworks-messages', kind: openai, formats: ['messages'], dialect: dialects.fireworks },
    'acme-1',
  ),
  vendor({ id: 'anthropic', kind: anthropic, formats: ['messages'] }, 'claude-test-4-9'),
  vendor({ id: 'openrouter-chat', kind: openrouter, formats: ['chat'] }, 'acme/small'),
  vendor({ id: 'openrouter-messages', kind: openrouter, formats: ['messages'] }, 'acme/small'),
  vendor({ id: 'openrouter', kind: openrouter }, 'acme/small'),
];

const isRouter = (id: string): boolean => id.startsWith('other') || id.startsWith('openrouter');

/**
 * A router passes on calls to servers that nobody knows here, so it is sent what any router has shown, and in the caller's own format
 * all that the caller wrote.
 */
const mayPassOn = ({ provider: { id, formats } }: Vendor, { issuer }: Signed, format: FormatName): boolean =>
  isRouter(id) && (isRouter(issuer) || formats.includes(format));

const chunk = (delta: object, reason: string | null = null) => ({
  id: 'a',
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };

/** An answer of a chat with these members beside its call, and these of the call itself. */
const chatAnswer = (members: object, called: object = call): Answer => ({
  events: [chunk(members), chunk({ tool_calls: [{ index: 0, ...called }] }, 'tool_calls')],
  whole: {
    id: 'a',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, ...members, tool_calls: [called] },
        finish_reason: 'tool_calls',
      },
    ],
  },
});

/** The same of a server that signs the call in a piece of its own, before its arguments or behind them. */
function signedLate(isBehind: boolean, members: object): Answer {
  const { arguments: json, name } = call.function;
  const pieces = [{ function: { arguments: json } }, members].map((piece) => ({ index: 0, ...piece }));
  const begun = { index: 0, ...call, function: { name, arguments: '' } };
  const deltas = [begun, ...(isBehind ? pieces : pieces.reverse())].map((piece) =>
    chunk({ tool_calls: [piece] }),
  );
  return { ...chatAnswer({}, { ...call, ...members }), events: [...deltas, chunk({}, 'tool_calls')] };
}

const messagesAnswer = (block: object): Answer => {
  const begin = { type: 'message', role: 'assistant', model: 'm', id: 'a' };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const use = { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } };
  return {
    whole: { ...begin, content: [block, use], stop_reason: 'tool_use', usage },
    events: [
      { type: 'message_start', message: { ...begin, content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { ...use, input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  };
};

const responsesAnswer = (item: object): Answer => {
  const called = { type: 'function_call', id: 'fc1', call_id: 'c1', name: 'f', arguments: '{"a":1}' };
  const whole = { id: 'r', object: 'response', status: 'completed', output: [item, called] };
  return { whole, events: [{ type: 'response.completed', response: whole }] };
};

interface Signed {
  name: string;
  issuer: string;
  format: FormatName;
  /** Servers besides the issuer that have signed it themselves, or pass it on to who has. */
  mayRead?: readonly string[];
  answer(signature: string): Answer;
}

const detail = (format: string, signature: string) => ({
  reasoning: 'so',
  reasoning_details: [{ type: 'reasoning.text', text: 'so', signature, format, index: 0 }],
});
const sealed = (format: string, data: string) => ({
  reasoning_details: [{ type: 'reasoning.encrypted', data, format, id: 'c1', index: 0 }],
});
const fields = (thought_signature: string) => ({ provider_specific_fields: { thought_signature } });

/** A server of the messages format is taken for one that passes on calls to the vendor of the format. */
const MESSAGES_SERVERS = ['fireworks-messages', 'openrouter-messages'];

const SIGNED: readonly Signed[] = [
  {
    name: 'a call that Google has signed',
    issuer: 'google',
    format: 'chat',
    mayRead: ['other-gemini'],
    answer: (thought_signature) =>
      chatAnswer({}, { ...call, extra_content: { google: { thought_signature } } }),
  },
  {
    name: 'a call that Vertex AI has signed',
    issuer: 'google',
    format: 'chat',
    mayRead: ['other-gemini'],
    answer: (thought_signature) =>
      chatAnswer({}, { ...call, extra_content: { vertex: { thought_signature } } }),
  },
  {
    name: 'a call that Google has signed behind a router',
    issuer: 'other-gemini',
    format: 'chat',
    mayRead: ['google'],
    answer: (thought_signature) =>
      chatAnswer({}, { ...call, extra_content: { google: { thought_signature } } }),
  },
  {
    name: 'a text that Google has signed',
    issuer: 'google',
    format: 'chat',
    mayRead: ['other-gemini'],
    answer: (thought_signature) =>
      chatAnswer({ content: 'Rain.', extra_content: { google: { thought_signature } } }),
  },
  {
    name: 'a text that Vertex AI has signed behind a router',
    issuer: 'other-gemini',
    format: 'chat',
    mayRead: ['google'],
    answer: (thought_signature) =>
      chatAnswer({ content: 'Rain.', extra_content: { vertex: { thought_signature } } }),
  },
  ...[true, false].map(
    (isBehind): Signed => ({
      name: `a call that Google has signed ${isBehind ? 'behind' : 'before'} its arguments`,
      issuer: 'google',
      format: 'chat',
      mayRead: ['other-gemini'],
      answer: (thought_signature) =>
        signedLate(isBehind, { extra_content: { google: { thought_signature } } }),
    }),
  ),
  {
    name: 'a signature in the fields of a call behind its arguments',
    issuer: 'other',
    format: 'chat',
    answer: (signature) => signedLate(true, fields(signature)),
  },
  {
    name: 'a signature in the fields of a call, as LiteLLM has it',
    issuer: 'other',
    format: 'chat',
    answer: (signature) => chatAnswer({}, { ...call, ...fields(signature) }),
  },
  {
    name: 'a signature in the fields of a called function, as LiteLLM has it',
    issuer: 'other',
    format: 'chat',
    answer: (signature) => chatAnswer({}, { ...call, function: { ...call.function, ...fields(signature) } }),
  },
  {
    name: 'a signature of a text in the fields of the message, as LiteLLM has it',
    issuer: 'other',
    format: 'chat',
    answer: (signature) =>
      chatAnswer({ content: 'Rain.', provider_specific_fields: { thought_signatures: [signature] } }),
  },
  {
    name: 'a signature in the call itself, as Higress has it',
    issuer: 'other',
    format: 'chat',
    answer: (thought_signature) => chatAnswer({}, { ...call, thought_signature }),
  },
  {
    name: 'the signed blocks of LiteLLM',
    issuer: 'other',
    format: 'chat',
    answer: (signature) =>
      chatAnswer({
        reasoning_content: 'so',
        thinking_blocks: [{ type: 'thinking', thinking: 'so', signature }],
      }),
  },
  {
    name: 'the redacted blocks of LiteLLM',
    issuer: 'other',
    format: 'chat',
    answer: (data) => chatAnswer({ thinking_blocks: [{ type: 'redacted_thinking', data }] }),
  },
  {
    name: 'the signed blocks of LiteLLM among the fields of the vendor alone',
    issuer: 'other',
    format: 'chat',
    answer: (signature) =>
      chatAnswer({
        thinking_blocks: [],
        provider_specific_fields: { thinking_blocks: [{ type: 'thinking', thinking: 'so', signature }] },
      }),
  },
  {
    name: 'what GitHub Copilot has encrypted',
    issuer: 'other',
    format: 'chat',
    answer: (reasoning_opaque) => chatAnswer({ reasoning_text: 'so', reasoning_opaque }),
  },
  {
    name: 'thinking whose signature is a member of the message',
    issuer: 'other',
    format: 'chat',
    answer: (signature) => chatAnswer({ thinking: 'so', signature }),
  },
  {
    name: 'a summary that Databricks has signed',
    issuer: 'other',
    format: 'chat',
    answer: (signature) =>
      chatAnswer({
        content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'so', signature }] }],
      }),
  },
  {
    name: 'thinking of Claude in the content',
    issuer: 'other',
    format: 'chat',
    answer: (signature) => chatAnswer({ content: [{ type: 'thinking', thinking: 'so', signature }] }),
  },
  {
    name: 'redacted thinking of Claude in the content',
    issuer: 'other',
    format: 'chat',
    answer: (data) => chatAnswer({ content: [{ type: 'redacted_thinking', data }] }),
  },
  {
    name: 'reasoning that a router says Anthropic has signed',
    issuer: 'openrouter-chat',
    format: 'chat',
    mayRead: ['anthropic', ...MESSAGES_SERVERS],
    answer: (signature) => chatAnswer(detail('anthropic-claude-v1', signature)),
  },
  ...['google-gemini-v1', 'openai-responses-v1', 'xai-responses-v1'].map(
    (format): Signed => ({
      name: `reasoning that a router names ${format}`,
      issuer: 'openrouter-chat',
      format: 'chat',
      answer: (data) => chatAnswer(sealed(format, data)),
    }),
  ),
  {
    name: 'thinking of Anthropic',
    issuer: 'anthropic',
    format: 'messages',
    mayRead: MESSAGES_SERVERS,
    answer: (signature) => messagesAnswer({ type: 'thinking', thinking: 'so', signature }),
  },
  {
    name: 'redacted thinking of Anthropic',
    issuer: 'anthropic',
    format: 'messages',
    mayRead: MESSAGES_SERVERS,
    answer: (data) => messagesAnswer({ type: 'redacted_thinking', data }),
  },
  {
    name: 'encrypted reasoning of OpenAI',
    issuer: 'openai-responses',
    format: 'responses',
    answer: (encrypted_content) =>
      responsesAnswer({ type: 'reasoning', id: 'rs1', summary: [], encrypted_content }),
  },
];

/** As a caller of this format is shown the answer, in each way in which it can come. */
function shownIn({ format }: Signed, callerFormat: FormatName, answer: Answer): object[] {
  if (format === callerFormat) return [answer.whole];
  return [shownWhole, shownCollected, shownStream].map((shown) => shown(format, callerFormat, answer));
}

/** A caller of this format sends this to go on. */
function nextTurn(format: FormatName, shown: Record<string, unknown>): object {
  const user = { role: 'user', content: 'x' };
  switch (format) {
    case 'chat': {
      const { message } = recordOf(records(shown.choices)[0]);
      return { messages: [user, message, { role: 'tool', tool_call_id: 'c1', content: '7' }] };
    }
    case 'messages': {
      const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '7' }] };
      return {
        max_tokens: 1_000,
        messages: [user, { role: 'assistant', content: shown.content }, result],
      };
    }
    case 'responses':
      return {
        store: false,
        input: [user, ...records(shown.output), { type: 'function_call_output', call_id: 'c1', output: '7' }],
      };
  }
}

const catalog = testCatalog({
  models: [
    model({
      endpoints: VENDORS.map(({ provider: { id }, upstreamModel }) =>
        endpoint({ providerId: id, upstreamModel }),
      ),
    }),
  ],
  providers: VENDORS.map((each) => each.provider),
});

interface Sent {
  id: string;
  body: string;
  ignored: readonly string[];
}

/** The bodies that all vendors are sent of one call, each as the next after the one before it has failed. */
function sentToAll(format: FormatName, body: object): Sent[] {
  const bytes = Buffer.from(JSON.stringify({ model: 'acme/small', ...body }));
  const admitted = admitCall(callFormats[format], bytes, 'active', {
    catalog,
    health: plainHealth(),
    links: noLinkRules,
  });
  if (!admitted.ok) throw new Error(`${admitted.error.code}: ${admitted.error.message}`);
  const { plan } = admitted;
  return plan.candidates.map((candidate) => ({
    id: candidate.provider.id,
    body: runAtOnce(
      candidate.format.buildBody({ ...plan, body: candidate.translated ?? plan.body }, candidate, 7),
    ).toString(),
    ignored: [...candidate.leftOut, ...candidate.hints],
  }));
}

const timesIn = (body: string, text: string): number => body.split(text).length - 1;

/** Letters of base64, in both of its alphabets, long enough to be found nowhere else. */
const signatures = fc
  .string({ unit: fc.constantFrom(...'AZaz09+/-_'), minLength: 12, maxLength: 60 })
  .map((letters) => `Sg${letters}==`);

const FORMATS: readonly FormatName[] = ['chat', 'messages', 'responses'];
const cases = SIGNED.flatMap((signed) =>
  FORMATS.filter((format) => signed.format !== 'responses' || format === 'responses').map(
    (format) => [signed.name, format, signed] as const,
  ),
);

describe.each(cases)('%s, shown in %s', (_name, format, signed) => {
  it('comes back to its issuer byte for byte and reaches no other vendor, whichever is asked next', () => {
    fc.assert(
      fc.property(signatures, (signature) => {
        for (const shown of shownIn(signed, format, signed.answer(signature))) {
          const sent = sentToAll(format, nextTurn(format, recordOf(shown)));
          const issued = sent.find(({ id }) => id === signed.issuer);
          expect(timesIn(issued?.body ?? '', JSON.stringify(signature))).toBe(1);
          for (const each of VENDORS) {
            const { id } = each.provider;
            if (id === signed.issuer || mayPassOn(each, signed, format) || signed.mayRead?.includes(id))
              continue;
            const found = sent.find((one) => one.id === id);
            if (found !== undefined) expect([id, timesIn(found.body, signature)]).toEqual([id, 0]);
          }
        }
      }),
      { numRuns: 8 },
    );
  });

  it('is refused by no vendor, and nothing of it is named as left out', () => {
    for (const shown of shownIn(signed, format, signed.answer('SgAZ09+/=='))) {
      const sent = sentToAll(format, nextTurn(format, recordOf(shown)));
      expect(sent.map(({ id }) => id).sort()).toEqual(VENDORS.map(({ provider: { id } }) => id).sort());
      expect(sent.filter(({ ignored }) => ignored.length > 0)).toEqual([]);
    }
  });
});
