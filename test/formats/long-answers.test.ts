import { expect, it } from 'vitest';
import { mergeDelta } from '../../api/inference/formats/merge-delta.ts';
import { ResponsesSink } from '../../api/inference/translation/responses-sink.ts';

/** What takes a second takes minutes where each piece looks at all before it. */
const MANY = 200_000;

it('an answer of very many numbered pieces is put together in a second or so', () => {
  const message: Record<string, unknown> = {};
  for (let index = 0; index < MANY; index++)
    mergeDelta(message, { tool_calls: [{ index, id: `c${index}` }] });
  mergeDelta(message, { tool_calls: [{ index: 0, arguments: '{}' }] });
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) throw new Error('no list');
  expect(calls).toHaveLength(MANY);
  expect(calls[0]).toEqual({ index: 0, id: 'c0', arguments: '{}' });
});

it('an answer of very many parts is translated in a second or so', () => {
  const sink = new ResponsesSink({ id: 'x', createdAtS: 1, model: 'acme/small' });
  sink.write({ type: 'start', id: 'x' });
  let bytes = 0;
  for (let index = 0; index < MANY; index++) {
    bytes += sink.write({ type: 'tool_call', index, id: `c${index}`, name: 'f' }).length;
  }
  expect(bytes).toBeGreaterThan(MANY);
});
