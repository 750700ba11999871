import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';

const IMAGES = 4;
const IMAGE_CHARS = 14_000_000;
const CALLS_AT_ONCE = 4;
/** Of 224 MB that are asked for at once. One image of each call, kept whole, would be 56 MB. */
const GROWTH_MAX_MB = 40;
const MEGABYTE = 1024 * 1024;
const PIECES_PER_LOOK = 64;

const START = Buffer.from('\x89PNG\r\n\x1a\n\0', 'latin1').toString('base64');
const PIECE = Buffer.alloc(64_000, 'A');

/** A provider of huge images, which keeps none of them either. */
const provider = createServer(async (req, res) => {
  req.resume();
  res.writeHead(200, { 'content-type': 'application/json' });
  const write = async (bytes: Buffer | string): Promise<void> => {
    look();
    if (!res.write(bytes)) await new Promise((resolve) => res.once('drain', resolve));
  };
  await write('{"created":1790000000,"data":[');
  for (let made = 0; made < IMAGES; made++) {
    await write(`${made === 0 ? '' : ','}{"b64_json":"${START}`);
    let left = IMAGE_CHARS - START.length;
    for (; left > PIECE.length; left -= PIECE.length) await write(PIECE);
    await write(PIECE.subarray(0, left));
    await write('"}');
  }
  res.end('],"usage":{"cost":0.04}}');
});

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** What is still referred to: how much garbage waits beside it is the engine's choice, and differs with the machine's load. */
function readLiveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let peakBytes = 0;
let pieces = 0;
function look(): void {
  if (pieces++ % PIECES_PER_LOOK === 0) peakBytes = Math.max(peakBytes, readLiveBytes());
}

let gateway: TestGateway;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const address = provider.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: big, kind: simulator, catalog: none, baseUrl: "http://127.0.0.1:${port}" }]
imageModels:
  - id: acme/huge
    provider: big
    model: huge
    parameters: { n: { min: 1, max: 4 } }
    pricing: [{ billable: output_image, unit: image, usd: "0.01" }]
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await new Promise((resolve) => provider.close(resolve));
});

it.each(['url', 'b64_json'])(
  'images of 168 MB, answered as %s, are never in memory together',
  async (format) => {
    const ask = async (): Promise<number> => {
      const body = { model: 'acme/huge', prompt: 'a', n: IMAGES, response_format: format };
      const answer = await gateway.post(body, { path: '/images' });
      expect(answer.status).toBe(200);
      let bytes = 0;
      for await (const chunk of answer.body ?? []) {
        bytes += chunk.length;
        look();
      }
      return bytes;
    };
    // Compiles, and fills the pools that stay.
    await ask();
    const before = readLiveBytes();
    peakBytes = 0;
    const sizes = await Promise.all(Array.from({ length: CALLS_AT_ONCE }, ask));
    const growthMb = (peakBytes - before) / MEGABYTE;
    console.info(`${format}: ${growthMb.toFixed(0)} MB more at the peak`);
    for (const size of sizes) {
      if (format === 'url') expect(size).toBeLessThan(4_000);
      else expect(size).toBeGreaterThan(IMAGES * IMAGE_CHARS);
    }
    expect(growthMb).toBeLessThan(GROWTH_MAX_MB);
  },
);
