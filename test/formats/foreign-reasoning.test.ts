import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { writeBody } from '../../api/inference/formats/edit-member.ts';
import { leaveOutForeignReasoning } from '../../api/inference/formats/foreign-reasoning.ts';
import { leaveOutBetaFields } from '../../api/inference/formats/leave-out-beta-fields.ts';
import { MemberChanges, scanJsonObject } from '../../api/inference/json/json-object.ts';

const CLAUDE = 'claude-opus-4-8';

/** The list as it is sent to a model. */
const sent = (member: 'messages' | 'input', list: object[], model = CLAUDE): unknown =>
  sentOf(JSON.stringify({ [member]: list }), member, model);

/** The same of a body that is written in its own way. */
function sentOf(body: string, member: 'messages' | 'input', model = CLAUDE): unknown {
  const object = scanJsonObject(Buffer.from(body));
  if (typeof object === 'string') throw new Error(object);
  const changes = new MemberChanges();
  leaveOutForeignReasoning(object, member, model, changes);
  return JSON.parse(runAtOnce(writeBody(object, changes)).toString())[member];
}

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (...content: object[]) => ({ role: 'assistant', content });
const text = (said: string) => ({ type: 'text', text: said });
const marked = { type: 'redacted_thinking', data: 'call_signature:x' };

describe('reasoning that another provider wrote', () => {
  it.each<[string, object]>([
    ['with an empty signature', { type: 'thinking', thinking: 'so', signature: '' }],
    ['with none', { type: 'thinking', thinking: 'so' }],
    ['with a signature of null', { type: 'thinking', thinking: 'so', signature: null }],
    ['that signs a call', marked],
  ])('is left out of an answer of which something stays: %s', (_what, foreign) => {
    const own = { type: 'thinking', thinking: 'mine', signature: 'SIG' };
    const list = [user('a'), assistant(foreign, own, text('b')), user('c')];
    expect(sent('messages', list)).toEqual([user('a'), assistant(own, text('b')), user('c')]);
  });

  it('is found by its type, however that is spelled', () => {
    const body =
      '{"messages":[{"role":"assistant","content":[{"type":"redacted_thinkin\\u0067","data":"call_signature:x"},{"type":"text","text":"b"}]}]}';
    expect(sentOf(body, 'messages')).toEqual([assistant(text('b'))]);
  });

  it('takes an answer of nothing else with it, and the turns around it become one', () => {
    const list = [user('a'), assistant(marked), user([text('b')]), assistant(text('c')), user('d')];
    expect(sent('messages', list)).toEqual([user([text('a'), text('b')]), assistant(text('c')), user('d')]);
  });

  it('leaves turns as they are that the caller has put side by side', () => {
    const list = [user('a'), user('b'), assistant(marked, text('c')), user('d'), user('e')];
    expect(sent('messages', list)).toEqual([
      user('a'),
      user('b'),
      assistant(text('c')),
      user('d'),
      user('e'),
    ]);
  });

  it('leaves no empty answer at the end, or at the begin', () => {
    expect(sent('messages', [user('a'), assistant(marked)])).toEqual([user('a')]);
    expect(sent('messages', [assistant(marked), user('a')])).toEqual([user('a')]);
    expect(sent('messages', [user('a'), assistant(marked), assistant(marked), user('b')])).toEqual([
      user([text('a'), text('b')]),
    ]);
  });

  it('stays for a model that checks no signature', () => {
    const list = [user('a'), assistant({ type: 'thinking', thinking: 'so', signature: '' }), user('b')];
    expect(sent('messages', list, 'glm-5')).toEqual(list);
  });

  it('is left out of the items of responses', () => {
    const item = { type: 'reasoning', summary: [], encrypted_content: 'signature:x' };
    const own = { type: 'reasoning', summary: [], encrypted_content: 'x' };
    expect(sent('input', [user('a'), item, own], 'gpt-5')).toEqual([user('a'), own]);
  });

  it('and a field whose beta is not sent are left out of the same conversation', () => {
    const scoped = { ...text('b'), cache_control: { type: 'ephemeral', scope: 'global' } };
    const body = { messages: [user('a'), assistant(marked, scoped), { ...user('c'), clear_at: 'never' }] };
    const object = scanJsonObject(Buffer.from(JSON.stringify(body)));
    if (typeof object === 'string') throw new Error(object);
    const fields = ['cache_control.scope', 'messages[].clear_at'];
    const plain = {
      messages: [user('a'), assistant({ ...text('b'), cache_control: { type: 'ephemeral' } }), user('c')],
    };
    for (const order of [0, 1]) {
      const changes = new MemberChanges();
      if (order === 0) leaveOutForeignReasoning(object, 'messages', CLAUDE, changes);
      leaveOutBetaFields(object, fields, changes);
      if (order === 1) leaveOutForeignReasoning(object, 'messages', CLAUDE, changes);
      expect(JSON.parse(runAtOnce(writeBody(object, changes)).toString())).toEqual(plain);
    }
  });
});
