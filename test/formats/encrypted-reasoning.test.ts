import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { writeBody } from '../../api/inference/formats/edit-member.ts';
import { leaveOutForeignReasoning } from '../../api/inference/formats/foreign-reasoning.ts';
import { encryptsReasoning } from '../../api/inference/formats/reasoning-words.ts';
import { MemberChanges, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { candidate, endpoint, planOf, provider } from '../inference/support.ts';

/* OpenAI keeps no reasoning where nothing may be stored, so its models take theirs back in encrypted form alone. */

const user = { role: 'user', content: 'a' };
const call = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'c1', output: 'x' };
const reasoning = (members: object) => ({ type: 'reasoning', id: 'rs_1', summary: [], ...members });
const said = [{ type: 'summary_text', text: 'So.' }];

/** The items as they are sent to a model. */
function sentItems(input: object[], upstreamModel: string): unknown {
  const object = scanJsonObject(Buffer.from(JSON.stringify({ input })));
  if (typeof object === 'string') throw new Error(object);
  const changes = new MemberChanges();
  leaveOutForeignReasoning(object, 'input', upstreamModel, changes);
  return JSON.parse(runAtOnce(writeBody(object, changes)).toString()).input;
}

describe('reasoning without its encrypted form', () => {
  it.each<[string, object]>([
    ['nothing', {}],
    ['an encrypted form of null', { encrypted_content: null }],
    ['an empty encrypted form', { encrypted_content: '' }],
    ['a summary alone', { summary: said }],
    ['its text alone', { content: [{ type: 'reasoning_text', text: 'So.' }] }],
  ])('is not sent back to OpenAI, which would look for what it has not stored: %s', (_what, members) => {
    const whole = reasoning({ id: 'rs_2', encrypted_content: 'gAAA' });
    const input = [user, reasoning(members), call, result, whole];
    expect(sentItems(input, 'openai/gpt-5.2')).toEqual([user, call, result, whole]);
  });

  it('is found behind a summary that is encrypted itself', () => {
    const compaction = { type: 'compaction', encrypted_content: 'gAAA' };
    expect(sentItems([compaction, reasoning({}), user], 'o3')).toEqual([compaction, user]);
  });

  it('is sent to other servers, which read its text', () => {
    const texts = [
      reasoning({ summary: said }),
      reasoning({ content: [{ type: 'reasoning_text', text: 'So.' }] }),
      reasoning({ content: 'So.' }),
      reasoning({ text: 'So.' }),
    ];
    expect(sentItems([user, ...texts], 'openai/gpt-oss-120b')).toEqual([user, ...texts]);
  });

  it('is sent to none where it says nothing, because its id is known to none', () => {
    expect(sentItems([user, reasoning({}), call, result], 'qwen3')).toEqual([user, call, result]);
  });
});

describe('the encrypted form of reasoning', () => {
  const sentInclude = (upstreamModel: string, extra: object = {}, dialect = dialects.openai): unknown => {
    const at = endpoint({ upstreamModel });
    const server = provider({ kind: providerKinds.openai, formats: ['responses'], dialect });
    const body = scanJsonObject(Buffer.from(JSON.stringify({ model: 'm', input: 'x', ...extra })));
    if (typeof body === 'string') throw new Error(body);
    const plan = { ...planOf('{"model":"acme/small","messages":[{"role":"user","content":"x"}]}'), body };
    const asked = candidate({ endpoint: at, provider: server });
    return JSON.parse(runAtOnce(callFormats.responses.buildBody(plan, asked, 7)).toString()).include;
  };

  it.each(['gpt-5', 'openai/gpt-5.6-terra', 'gpt-5.2-2025-12-11', 'o3', 'o4-mini', 'openai/o1'])(
    'is asked for at a model of OpenAI that reasons: %s',
    (name) => {
      expect(encryptsReasoning(name)).toBe(true);
      expect(sentInclude(name)).toEqual(['reasoning.encrypted_content']);
      expect(sentInclude(name, { include: null })).toEqual(['reasoning.encrypted_content']);
      expect(sentInclude(name, { include: ['message.output_text.logprobs'] })).toEqual([
        'message.output_text.logprobs',
        'reasoning.encrypted_content',
      ]);
      expect(sentInclude(name, { include: ['reasoning.encrypted_content'] })).toEqual([
        'reasoning.encrypted_content',
      ]);
    },
  );

  it.each(['gpt-4.1', 'gpt-4o', 'gpt-5-chat-latest', 'gpt-5.2-chat', 'openai/gpt-oss-120b', 'qwen3', 'foo3'])(
    'is not asked for at a model that has none: %s',
    (name) => {
      expect(sentInclude(name)).toBeUndefined();
      expect(sentInclude(name, { include: ['message.output_text.logprobs'] })).toEqual([
        'message.output_text.logprobs',
      ]);
    },
  );

  it('is not asked for at a server that takes no such field', () => {
    const dialect = { ...dialects.openai, refusedFields: new Set(['include']) };
    expect(sentInclude('gpt-5', {}, dialect)).toBeUndefined();
  });
});
