import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { MessagesSink } from '../../api/inference/translation/messages-sink.ts';
import { eventsIn } from './requests.ts';

interface Called {
  name: string;
  argumentsJson: string;
}

/** The calls' pieces in an order in which a provider may send them: each call's own are in order. */
function shuffled(calls: readonly Called[], draws: readonly number[]): AnswerPiece[] {
  const lines = calls.map(({ name, argumentsJson }, index): AnswerPiece[] => [
    { type: 'tool_call', index, id: `call_${index}`, name },
    ...(argumentsJson.match(/[\s\S]{1,5}/gu) ?? []).map((json) => ({
      type: 'arguments' as const,
      index,
      json,
    })),
  ]);
  const pieces: AnswerPiece[] = [];
  for (let turn = 0; lines.some((line) => line.length > 0); turn++) {
    const left = lines.filter((line) => line.length > 0);
    const next = left[(draws[turn % draws.length] ?? 0) % left.length]?.shift();
    if (next !== undefined) pieces.push(next);
  }
  return pieces;
}

/** As clients do that look at the newest block alone. */
function readBlocks(text: string): Called[] {
  const done: Called[] = [];
  let open: Called | null = null;
  for (const { type, content_block: block, delta } of eventsIn(text)) {
    if (type === 'content_block_start') {
      expect(open, 'a block begins before the one before it has ended').toBeNull();
      open = { name: String(Reflect.get(Object(block), 'name')), argumentsJson: '' };
    } else if (type === 'content_block_delta' && open !== null) {
      open.argumentsJson += String(Reflect.get(Object(delta), 'partial_json'));
    } else if (type === 'content_block_stop' && open !== null) {
      done.push(open);
      open = null;
    }
  }
  return done;
}

const argumentsJson = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value)),
  fc.constantFrom('{"a":"}}{\\""}', '{ }', '', '{"cut":[1,'),
);

it('calls that a provider writes at the same time come as blocks one after another', () => {
  fc.assert(
    fc.property(
      fc.array(argumentsJson, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 30 }),
      (written, draws) => {
        const calls = written.map((json, index) => ({ name: `f${index}`, argumentsJson: json }));
        const sink = new MessagesSink({ id: 'x', createdAtS: 1, nowS: 2, model: 'acme/small' });
        const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
        const text = [
          sink.write({ type: 'start', id: 'x' }),
          ...shuffled(calls, draws).map((piece) => sink.write(piece)),
          sink.end({ identity: { id: 'x', createdAtS: 1, nowS: 2, model: '' }, shown: null, tokens }),
        ].join('');
        const byName = (a: Called, b: Called) => a.name.localeCompare(b.name);
        expect(readBlocks(text).sort(byName)).toEqual(calls);
      },
    ),
    { numRuns: 300 },
  );
});

it('the arguments of a call are shown as they come, unless another call is still open', () => {
  const sink = new MessagesSink({ id: 'x', createdAtS: 1, nowS: 2, model: 'acme/small' });
  const shows = (piece: AnswerPiece) => sink.write(piece).toString();
  shows({ type: 'start', id: 'x' });
  shows({ type: 'tool_call', index: 0, id: 'call_0', name: 'f0' });
  expect(shows({ type: 'arguments', index: 0, json: '{"a":' })).toContain('{\\"a\\":');
  expect(shows({ type: 'tool_call', index: 1, id: 'call_1', name: 'f1' })).toBe('');
  expect(shows({ type: 'arguments', index: 1, json: '{"b"' })).toBe('');
  const next = shows({ type: 'arguments', index: 0, json: '1}' });
  expect(eventsIn(next).map(({ type }) => type)).toEqual([
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
  ]);
});
