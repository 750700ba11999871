import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { records, textOf } from '../../api/inference/formats/values.ts';
import { fitArgumentNames, OwnArguments } from '../../api/inference/translation/argument-names.ts';
import { openSource } from '../../api/inference/translation/translate-answer.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import { startOfMessage, translateFor } from './claude-answers.ts';

/* Claude refuses a call for one tool with an argument of a name beyond `^[a-zA-Z0-9_.-]{1,64}$`, so it is told others. */

const FIT = /^[a-zA-Z0-9_.-]{1,64}$/;
const long = 'a'.repeat(70);
const string = { type: 'string' };
const parameters = {
  type: 'object',
  properties: {
    $top: string,
    'filter[id]': { type: 'string', description: 'An id.' },
    [long]: string,
    plain: string,
  },
  required: ['$top', 'plain'],
};
const tool = { type: 'function', name: 'list', parameters };
const own = { $top: '5', 'filter[id]': 'x', [long]: 'y', plain: '$top' };

const ask = (input: unknown = 'x', tools: object[] = [tool], upstreamModel = 'claude-sonnet-4-5') =>
  translateFor({ input, tools }, upstreamModel);

describe('arguments of names that Claude does not take', () => {
  it('have others, each its own, that tell what they stand for', () => {
    const [sent] = records(ask().sent.tools);
    const { properties, required } = Object(sent?.input_schema);
    const names = Object.keys(properties);
    expect(names.filter((name) => !FIT.test(name))).toEqual([]);
    expect(names).toHaveLength(4);
    expect(names).toContain('plain');
    expect(required).toEqual([names[0], 'plain']);
    expect(properties[names[1] ?? ''].description).toBe('An id.\n\n{name: filter[id]}');
    expect(ask().leftOut).toEqual([]);
  });

  it('never get the name of another argument', () => {
    const many = {
      type: 'object',
      properties: { a_b: string, 'a b': string, a$b: string, é: string, '': string },
    };
    const fitted = runAtOnce(fitArgumentNames(many));
    const names = Object.keys(Object(fitted?.schema).properties);
    expect(new Set(names).size).toBe(5);
    expect(names.filter((name) => !FIT.test(name))).toEqual([]);
    expect([...(fitted?.own.values() ?? [])]).toEqual(['a b', 'a$b', 'é', '']);
  });

  it('keep their names where all are fit, inside of others, and at other vendors’ models', () => {
    expect(
      runAtOnce(fitArgumentNames({ type: 'object', properties: { a: { properties: { 'b c': string } } } })),
    ).toBe(null);
    const [sent] = records(ask('x', [tool], 'glm-5').sent.tools);
    expect(sent?.input_schema).toEqual(parameters);
  });

  it('are fit also where a schema is a choice', () => {
    const choice = { anyOf: [{ type: 'object', properties: { $a: string } }] };
    const [sent] = records(ask('x', [{ ...tool, parameters: choice }]).sent.tools);
    expect(Object.keys(Object(sent?.input_schema).properties)).toEqual(['_a']);
  });

  it('have these names in earlier calls', () => {
    const input = [
      { role: 'user', content: 'x' },
      { type: 'function_call', call_id: 'c', name: 'list', arguments: JSON.stringify(own) },
      { type: 'function_call_output', call_id: 'c', output: 'z' },
    ];
    const { sent, argumentNames } = ask(input);
    const [block] = records(records(sent.messages)[1]?.content);
    const given = Object(block?.input);
    expect(Object.keys(given).filter((name) => !FIT.test(name))).toEqual([]);
    const names = argumentNames.get('list');
    expect(
      Object.fromEntries(Object.entries(given).map(([name, value]) => [names?.get(name) ?? name, value])),
    ).toEqual(own);
  });
});

describe('the answer to them', () => {
  const { argumentNames } = ask();
  const given = JSON.stringify(
    Object.fromEntries(
      Object.entries(own).map(([name, value]) => [
        [...(argumentNames.get('list') ?? [])].find(([, each]) => each === name)?.[0] ?? name,
        value,
      ]),
    ),
  );

  const argumentsOf = (pieces: readonly string[], name = 'list'): string => {
    const source = new OwnArguments(openSource('messages'), argumentNames);
    const events = startOfMessage(name, pieces);
    const whole = new WholeAnswer();
    for (const event of events) {
      const read = source.read(Buffer.from(JSON.stringify(event)), '');
      if (read.kind === 'pieces') for (const piece of read.pieces) whole.add(piece);
    }
    for (const piece of source.rest()) whole.add(piece);
    return textOf(Object(whole.parts[0]).argumentsJson);
  };

  it('has the caller’s names, however its stream is cut into pieces', () => {
    expect(JSON.parse(argumentsOf([given]))).toEqual(own);
    for (const size of [1, 2, 3, 7, 20]) {
      const pieces = given.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
      expect(JSON.parse(argumentsOf(pieces))).toEqual(own);
    }
  });

  it('has them where it comes whole', () => {
    const content = [{ type: 'tool_use', id: 'c0', name: 'list', input: JSON.parse(given) }];
    const value = { id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'tool_use' };
    const source = new OwnArguments(openSource('messages'), argumentNames);
    const whole = WholeAnswer.of(source.readWhole(Buffer.from(JSON.stringify(value)), value));
    expect(JSON.parse(textOf(Object(whole.parts[0]).argumentsJson))).toEqual(own);
  });

  it.each([
    ['a value', '{"plain":"_top","_top":["_top",{"_top":1}]}', '{"plain":"_top","$top":["_top",{"_top":1}]}'],
    ['an escape', '{ "\\u005ftop" : "a\\"_top\\"" , "_top":1}', '{ "$top" : "a\\"_top\\"" , "$top":1}'],
    ['no object', '["_top","_top"]', '["_top","_top"]'],
    ['a cut name', '{"plain":1,"_to', '{"plain":1,"_to'],
    ['a long name', `{"${'_'.repeat(900)}":"_top","_top":1}`, `{"${'_'.repeat(900)}":"_top","$top":1}`],
  ])('changes no other text: %s', (_what, json, expected) => {
    expect(argumentsOf([json])).toBe(expected);
    expect(argumentsOf([...json])).toBe(expected);
  });

  it('of another tool stays as it is', () => {
    expect(argumentsOf(['{"_top":1}'], 'other')).toBe('{"_top":1}');
  });
});
