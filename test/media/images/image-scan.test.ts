import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IMAGE_FRAME_BYTES, ImageScan } from '../../../api/media/images/image-scan.ts';
import { BrokenAnswer } from '../../../api/media/upstream-chunks.ts';

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function scan(text: string, sizes: readonly number[] = [7]) {
  const reader = new ImageScan(inPieces(Buffer.from(text), sizes));
  const images: Buffer[] = [];
  while (await reader.nextImage()) {
    const pieces: Buffer[] = [];
    for (let piece = await reader.readImage(); piece !== null; piece = await reader.readImage())
      pieces.push(piece);
    images.push(Buffer.concat(pieces));
  }
  return { images, frame: reader.frame };
}

const b64 = (text: string) => Buffer.from(text).toString('base64');

describe('images in a provider’s answer', () => {
  it('come out byte for byte, however the answer is cut into pieces, and the rest is kept', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (made, sizes, usageFirst) => {
          const data = made.map((bytes) => ({
            media_type: 'x',
            b64_json: Buffer.from(bytes).toString('base64'),
          }));
          const usage = { cost: 0.25, note: 'a "quoted" \\ text: {[' };
          const value = usageFirst ? { usage, created: 1, data } : { created: 1, data, usage };
          const { images, frame } = await scan(JSON.stringify(value), sizes);
          expect(images).toEqual(made.map((bytes) => Buffer.from(bytes)));
          const left = { ...value, data: data.map((each) => ({ ...each, b64_json: '' })) };
          expect(JSON.parse(frame)).toEqual(left);
        },
      ),
    );
  });

  it.each([
    ['escaped slashes', b64('???>>>').replaceAll('/', '\\/')],
    ['escapes by number', b64('???>>>').replaceAll('+', '\\u002B').replaceAll('/', '\\u002f')],
    ['line ends', `${b64('???').slice(0, 2)}\\r\\n${b64('???').slice(2)}${b64('>>>')}`],
  ])('are read through %s', async (_, written) => {
    for (let size = 1; size < 12; size++) {
      const { images } = await scan(`{"data":[{"b64_json":"${written}"}]}`, [size]);
      expect(images.map(String)).toEqual(['???>>>']);
    }
  });

  it('are read without padding', async () => {
    const { images } = await scan(`{"data":[{"b64_json":"${b64('ab').replaceAll('=', '')}"}]}`);
    expect(images.map(String)).toEqual(['ab']);
  });

  it('are found by a key with escapes, and nowhere but in the list of data', async () => {
    const text = `{"b64_json":"QUJD","usage":{"data":[{"b64_json":"QUJD"}]},"da\\u0074a":[{"b64\\u005fjson":"QUJD","x":[{"b64_json":"no"}]}]}`;
    const { images, frame } = await scan(text);
    expect(images.map(String)).toEqual(['ABC']);
    expect(JSON.parse(frame)).toMatchObject({ b64_json: 'QUJD' });
  });

  it.each([
    ['signs that are no base64', 'QUJ*'],
    ['text behind the padding', 'QUI=QUJD'],
    ['one character alone', 'QUJDQ'],
    ['an escape that is none', 'QU\\x44'],
  ])('%s make the answer malformed', async (_, written) => {
    await expect(scan(`{"data":[{"b64_json":"${written}"}]}`)).rejects.toMatchObject({
      failure: 'malformed',
    });
  });

  it('an answer that ends within an image is cut', async () => {
    await expect(scan('{"data":[{"b64_json":"QUJD')).rejects.toMatchObject({ failure: 'cut' });
  });

  it('what stands around images is bounded, and so is its depth', async () => {
    await expect(scan(`{"note":"${'x'.repeat(IMAGE_FRAME_BYTES)}"}`, [60_000])).rejects.toMatchObject({
      failure: 'too_large',
    });
    await expect(scan('['.repeat(500), [500])).rejects.toBeInstanceOf(BrokenAnswer);
  });

  it('an image that nobody reads is passed over', async () => {
    const reader = new ImageScan(
      inPieces(Buffer.from('{"data":[{"b64_json":"QUJD"},{"b64_json":"REVG"}]}'), [3]),
    );
    expect(await reader.nextImage()).toBe(true);
    expect(await reader.nextImage()).toBe(true);
    expect(String(await reader.readImage())).toBe('DEF');
    expect(await reader.nextImage()).toBe(false);
  });
});
