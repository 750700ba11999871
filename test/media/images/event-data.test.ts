import { expect, test } from 'vitest';
import { eventData, IMAGE_EVENT_BYTES } from '../../../api/media/images/event-data.ts';

const line = Buffer.concat([
  Buffer.from('data:'),
  Buffer.alloc(IMAGE_EVENT_BYTES / 3, 0x61),
  Buffer.from('\n'),
]);

async function bytesOf(chunks: Buffer[]): Promise<number[]> {
  async function* sent() {
    yield* chunks;
  }
  const all: number[] = [];
  for await (const data of eventData(sent())) all.push(data.length);
  return all;
}

test('an event is bounded as a whole, in however many lines it comes', async () => {
  await expect(bytesOf([line, line, line, line])).rejects.toThrow('too_large');
});

test('many events are as long as they like together', async () => {
  const end = Buffer.from('\n');
  expect(await bytesOf([line, end, line, end, line, end, line, end])).toHaveLength(4);
});
