import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { HOUR_MS } from '#core/clock.ts';
import { parseFileName } from '#core/files/file-name.ts';
import { startS3Home } from '../files/s3-home.ts';
import { until } from '../support/gateway.ts';
import { videoBars } from './bars.ts';
import { compareToBare } from './compare-to-bare.ts';
import { type GatewayUnderTest, startGateway, videoOrder } from './gateway.ts';
import { canMeasure } from './process-figures.ts';
import { type Bench, runPart } from './run-part.ts';
import { runVideoDownloads, type VideoHome } from './run-video-downloads.ts';
import { runVideoPolls } from './run-video-polls.ts';

const CACHE = join(import.meta.dirname, '../../.cache');
/** Enough to be a film by its first bytes. */
const SHORT_BYTES = 1_000;

await runPart('Videos: reads of a job, polls, downloads', { pinned: true }, async (bench) => {
  if (!canMeasure) return bench.report.line('CPU and memory are measured on Linux only');
  await runVideoReads(bench);
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'bench-videos-'));
  bench.later(() => rm(folder, { recursive: true, force: true }));
  const local = localHome(folder);
  await runVideoPolls(bench, local.args);
  await runVideoDownloads(bench, local);
  await runVideoDownloads(bench, await s3Home(bench));
});

/** Each key has a video of its own. */
async function runVideoReads(bench: Bench): Promise<void> {
  const { port } = await bench.start('canned-videos.ts', ['--bytes', String(SHORT_BYTES)], bench.loadCore);
  const gateway = await startGateway({ providerPort: port, core: bench.coreUnderTest });
  bench.later(gateway.stop);
  const paths: string[] = [];
  for (const authorization of gateway.target.authorizations)
    paths.push(await makeVideo(gateway, authorization));
  const request = {
    method: 'GET',
    paths,
    headers: {},
    body: null,
    expected: '"status":"completed"',
  } as const;
  await compareToBare(bench, gateway, 'GET /v1/videos/{id}', request, videoBars.read);
  await gateway.stop();
}

async function makeVideo({ target }: GatewayUnderTest, authorization: string): Promise<string> {
  const headers = { authorization, 'content-type': 'application/json' };
  const ask = (path: string, order: object | null): Promise<Response> =>
    fetch(
      `${target.origin}${path}`,
      order === null ? { headers } : { headers, method: 'POST', body: JSON.stringify(order) },
    );
  const ordered = await ask('/v1/videos', videoOrder);
  if (ordered.status !== 202) throw new Error(`No video was ordered: ${await ordered.text()}`);
  const { id } = JSON.parse(await ordered.text());
  const path = `/v1/videos/${id}`;
  await until(async () => (await (await ask(path, null)).text()).includes('"status":"completed"'));
  return path;
}

function localHome(folder: string): VideoHome {
  return {
    name: 'into the local folder',
    args: ['--folder', folder],
    read: async (path) => createReadStream(join(folder, 'files', path)),
  };
}

async function s3Home(bench: Bench): Promise<VideoHome> {
  const home = await startS3Home();
  bench.later(async () => home[Symbol.asyncDispose]());
  return {
    name: 'into S3',
    args: ['--s3', home.settings.endpoint],
    async read(path) {
      const name = parseFileName(path);
      const { body } = await fetch(
        name === null ? path : await home.store.getLink(name, home.nowMs() + HOUR_MS),
      );
      if (body === null) throw new Error('The store answered without a body');
      return body;
    },
  };
}
