import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { writeBody } from '../../api/inference/formats/edit-member.ts';
import { betaFieldsIn, leaveOutBetaFields } from '../../api/inference/formats/leave-out-beta-fields.ts';
import { MemberChanges, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { allowedBetas, fieldsWithoutBeta } from '../../api/providers/messages-betas.ts';

/** The body as it is sent, without the fields whose betas are not. */
function sent(body: object, betas: string | null): unknown {
  const object = scanJsonObject(Buffer.from(JSON.stringify(body)));
  if (typeof object === 'string') throw new Error(object);
  const changes = new MemberChanges();
  leaveOutBetaFields(object, betaFieldsIn({ ...body }, betas), changes);
  return JSON.parse(runAtOnce(writeBody(object, changes)).toString());
}

describe('a beta and the fields that it brings', () => {
  const scoped = { type: 'ephemeral', scope: 'global' };
  const plain = { type: 'ephemeral' };

  it('pass together', () => {
    const headers = { 'anthropic-beta': 'task-budgets-2026-03-13, context-management-2025-06-27' };
    const betas = allowedBetas(headers);
    expect(betas?.split(',').sort()).toEqual(['context-management-2025-06-27', 'task-budgets-2026-03-13']);
    const body = {
      output_config: { effort: 'low', task_budget: { total: 5 } },
      context_management: { edits: [] },
    };
    expect(sent(body, betas)).toEqual(body);
  });

  it('stay away together', () => {
    const body = {
      output_config: { effort: 'low', task_budget: { total: 5 } },
      context_management: { edits: [] },
    };
    expect(betaFieldsIn(body, null).sort()).toEqual(['context_management', 'output_config.task_budget']);
    expect(sent(body, null)).toEqual({ output_config: { effort: 'low' } });
  });

  it('stay away where the beta may be switched on by no caller, wherever the field stands', () => {
    const betas = allowedBetas({ 'anthropic-beta': 'prompt-caching-scope-2026-01-05' });
    expect(betas).toBeNull();
    const body = {
      cache_control: scoped,
      system: [{ type: 'text', text: 's', cache_control: scoped }],
      tools: [{ name: 'f', cache_control: scoped }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', cache_control: scoped },
            {
              type: 'tool_result',
              tool_use_id: 'c',
              content: [{ type: 'text', text: 'y', cache_control: scoped }],
            },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c', name: 'f', input: { cache_control: scoped } }],
        },
      ],
    };
    const text = JSON.stringify(sent(body, betas));
    // The input of a tool call is the caller's own.
    expect(text.match(/"scope"/g)).toHaveLength(1);
    expect(text).toContain(JSON.stringify({ input: { cache_control: scoped } }).slice(1, -1));
    expect(text.match(new RegExp(JSON.stringify(plain).replace(/[{}]/g, '\\$&'), 'g'))).toHaveLength(5);
  });

  it.each([
    ['mid-conversation-output-config-2026-07-01', 'output_config', { effort: 'low' }],
    ['mid-conversation-system-clear-at-2026-08-21', 'clear_at', 'next_user_message'],
  ])('that stand at messages pass with %s, and stay away without it', (name, field, value) => {
    const body = {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'system', content: 's', [field]: value },
      ],
    };
    expect(betaFieldsIn(body, allowedBetas({ 'anthropic-beta': name }))).toEqual([]);
    expect(betaFieldsIn(body, null)).toEqual([`messages[].${field}`]);
    expect(sent(body, null)).toEqual({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'system', content: 's' },
      ],
    });
  });

  it.each(['mid-conversation-tool-changes-2026-07-01', 'inline-tools-2026-09-15'])(
    'pass where a message brings tools: %s',
    (name) => {
      expect(allowedBetas({ 'anthropic-beta': name })).toBe(name);
    },
  );

  it.each([
    'computer-use-2024-10-22',
    'computer-use-2025-01-24',
    'computer-use-2025-11-24',
    'token-efficient-tools-2025-02-19',
    'mid-conversation-system-2026-04-07',
  ])('pass where the caller runs the tools, or says what they need: %s', (name) => {
    expect(allowedBetas({ 'anthropic-beta': `mcp-client-2025-11-20,${name}` })).toBe(name);
  });

  it.each([
    'mcp-client-2025-11-20',
    'code-execution-2025-08-25',
    'advisor-tool-2026-03-01',
    'files-api-2025-04-14',
    'skills-2025-10-02',
    'context-1m-2025-08-07',
    'fast-mode-2026-02-01',
  ])('stay away where the provider runs the tools, keeps files, or takes another price: %s', (name) => {
    expect(allowedBetas({ 'anthropic-beta': name })).toBeNull();
  });

  it('that compare a call with others of the account stay away', () => {
    const betas = allowedBetas({ 'anthropic-beta': 'cache-diagnosis-2026-04-07' });
    expect(sent({ diagnostics: { previous_message_id: 'msg_1' } }, betas)).toEqual({});
  });

  it('change no digit of a number beside them', () => {
    const text =
      '{"messages":[{"role":"user","content":[{"type":"tool_use","input":{"n":12345678901234567890}}],"cache_control":{"type":"ephemeral","scope":"global"}}]}';
    const object = scanJsonObject(Buffer.from(text));
    if (typeof object === 'string') throw new Error(object);
    const changes = new MemberChanges();
    leaveOutBetaFields(object, ['cache_control.scope'], changes);
    expect(runAtOnce(writeBody(object, changes)).toString()).toBe(text.replace(',"scope":"global"', ''));
  });

  it('are named in one table, so that no field is without its beta', () => {
    expect(fieldsWithoutBeta(null).length).toBeGreaterThan(2);
    const paths = fieldsWithoutBeta('context-management-2025-06-27').map(({ path }) => path);
    expect(paths).not.toContain('context_management');
  });
});
