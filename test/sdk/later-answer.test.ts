import { expect, it } from 'vitest';
import { answerSchema, laterAnswer } from './later-answer.ts';

const added = { added_later: { deep: [1, null, 'text'] } };
const video = {
  status: 'completed',
  usage: { cost: 0.5 },
  expires_at: '2026-11-26T00:00:00.000Z',
  unsigned_urls: ['http://127.0.0.1/a'],
};
const schema = answerSchema('GET', '/videos/vid_1', 200, false);

it('every object of a later answer has a new field, every known value is another one', () => {
  expect(laterAnswer(video, schema, { fields: true, values: true })).toEqual({
    ...video,
    status: 'added_later',
    usage: { cost: 0.5, ...added },
    ...added,
  });
});

it('what the document says may be null is null, and nothing else', () => {
  expect(laterAnswer(video, schema, { nulls: true })).toEqual({ ...video, usage: null, expires_at: null });
});

it('the events of a stream are changed, too', () => {
  const event = { id: 'a', choices: [{ index: 0, delta: { content: 'Hi' } }] };
  const streamed = answerSchema('POST', '/chat/completions', 200, true);
  expect(laterAnswer(event, streamed, { fields: true })).toEqual({
    ...added,
    id: 'a',
    choices: [{ ...added, index: 0, delta: { ...added, content: 'Hi' } }],
  });
});
