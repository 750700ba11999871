import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { admitted, at, leftOut, sent } from '../inference/at-dialect.ts';
import { endpoint, model, provider, testCatalog } from '../inference/support.ts';

/*
 * OpenAI refuses a call for one function whose schema is a choice, a sum, a list of values or a negation at its top, whichever client
 * wrote it, and whichever server passes it on.
 */

const string = { type: 'string' };
const a = { type: 'object', properties: { kind: { const: 'a' }, one: string }, required: ['kind', 'one'] };
const b = { type: 'object', properties: { kind: { const: 'b' }, two: string }, required: ['kind', 'two'] };
const choice = { anyOf: [a, b] };
const flat = {
  type: 'object',
  description: '{anyOf, by what is required: ["one"] or ["two"]}',
  properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, one: string, two: string },
  required: ['kind'],
};

const requestOf = (parameters: object, strict?: boolean): Record<FormatName, object> => ({
  chat: { tools: [{ type: 'function', function: { name: 'f', parameters, strict } }] },
  responses: { tools: [{ type: 'function', name: 'f', parameters, strict }] },
  messages: { tools: [{ name: 'f', input_schema: parameters, strict }] },
});

/** The schema of the one function that goes to the provider, and the function around it. */
function functionIn({ tools }: Record<string, unknown>): Record<string, unknown> {
  const [tool = {}] = records(tools);
  return tool.function === undefined ? tool : recordOf(tool.function);
}

const openai = at(dialects.openai, ['chat', 'responses']);
const elsewhere = at(dialects.other, ['chat', 'responses'], 'openai/gpt-5.2');
const router = testCatalog({
  models: [model({ endpoints: [endpoint({ upstreamModel: 'openai/gpt-5.2' })] })],
  providers: [provider({ kind: providerKinds.openrouter })],
});
const FORMATS = ['chat', 'responses', 'messages'] as const;

describe('a tool whose schema is a choice at its top', () => {
  it.each(FORMATS)('is one schema with the properties of all at OpenAI, from a caller of %s', (format) => {
    for (const catalog of [openai, elsewhere, ...(format === 'messages' ? [] : [router])])
      expect(functionIn(sent(format, requestOf(choice)[format], catalog)).parameters).toEqual(flat);
    expect(leftOut(format, requestOf(choice)[format], openai)).toEqual([]);
  });

  it.each(FORMATS)('stays as it is at other servers, from a caller of %s', (format) => {
    const others = at(dialects.other, ['chat', 'responses'], 'gpt-oss-120b');
    expect(functionIn(sent(format, requestOf(choice)[format], others)).parameters).toMatchObject(choice);
  });

  it.each<[string, object, object]>([
    ['oneOf', { oneOf: [a, b] }, { properties: flat.properties }],
    ['allOf', { allOf: [a] }, { properties: a.properties, required: a.required }],
    ['a list of values', { ...a, enum: [{ kind: 'a' }] }, { ...a, description: '{enum: [{"kind":"a"}]}' }],
    ['a value', { ...a, const: { kind: 'a' } }, { ...a, description: '{const: {"kind":"a"}}' }],
    ['a negation', { ...a, not: { required: ['x'] } }, { ...a, description: '{not: {"required":["x"]}}' }],
  ])('is rewritten with each word that is refused: %s', (_word, parameters, expected) => {
    const written = functionIn(sent('chat', requestOf(parameters).chat, openai)).parameters;
    expect(written).toMatchObject(expected);
    for (const word of ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not'])
      expect(written).not.toHaveProperty(word);
  });

  it('is not held to, which is named', () => {
    const chat = requestOf(choice, true).chat;
    expect(functionIn(sent('chat', chat, openai)).strict).toBe(false);
    expect(leftOut('chat', chat, openai)).toEqual(['tools[0].function.strict']);
    const responses = requestOf(choice, true).responses;
    expect(functionIn(sent('responses', responses, openai)).strict).toBe(false);
    expect(leftOut('responses', responses, openai)).toEqual(['tools[0].strict']);
    const translated = at(dialects.openai, ['chat']);
    expect(functionIn(sent('responses', responses, translated))).not.toHaveProperty('strict');
    expect(leftOut('responses', responses, translated)).toEqual(['tools[0].strict']);
  });

  it('is rewritten wherever it stands', () => {
    const inner = { type: 'function', name: 'f', parameters: choice };
    const group = { type: 'namespace', name: 'n', description: 'x', tools: [inner] };
    const item = { type: 'additional_tools', role: 'developer', tools: [inner] };
    const body = sent('responses', { input: [{ role: 'user', content: 'x' }, item], tools: [group] }, openai);
    expect(functionIn({ tools: records(body.tools)[0]?.tools }).parameters).toEqual(flat);
    expect(functionIn({ tools: records(body.input)[1]?.tools }).parameters).toEqual(flat);
    const legacy = sent('chat', { functions: [{ name: 'f', parameters: choice }] }, openai);
    expect(functionIn({ tools: legacy.functions }).parameters).toEqual(flat);
  });

  it('leaves a choice inside of it, and other tools, as they were sent', () => {
    const inside = { type: 'object', properties: { x: choice } };
    const { tools } = requestOf(inside).chat as { tools: object[] };
    expect(sent('chat', { tools }, openai).tools).toEqual(tools);
    expect(admitted('chat', { tools }, openai)).toMatchObject({
      plan: { candidates: [{ editsChat: false, addedTokens: 0 }] },
    });
  });

  it.each(['chat', 'responses'] as const)('is held for with what is told more, in %s', (format) => {
    const many = { anyOf: Array.from({ length: 9 }, (_, at) => ({ required: [`p${at}`] })) };
    const extra = requestOf(many)[format];
    const result = admitted(format, extra, openai);
    const more =
      JSON.stringify(sent(format, extra, openai).tools).length -
      JSON.stringify(Reflect.get(extra, 'tools')).length;
    const added = result.ok ? result.plan.candidates[0]?.addedTokens : undefined;
    expect(added).toBeGreaterThanOrEqual(Math.max(0, more));
  });
});
