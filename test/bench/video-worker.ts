import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import type { Provider } from '#core/catalog/catalog.ts';
import { systemClock } from '#core/clock.ts';
import { openLocalFileStore } from '#core/files/local-file-store.ts';
import { createS3FileStore } from '#core/files/s3-file-store.ts';
import { createLog } from '#core/log.ts';
import { FACTOR_ONE_PPM } from '#core/money.ts';
import type { VideoFile } from '#core/videos/video-job.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { VideoWorker } from '../../workers/video/video-worker.ts';
import { s3SettingsAt } from '../files/s3-home.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { plainHealth } from '../support/plain-health.ts';
import { takenVideos } from './taken-videos.ts';

/**
 * The worker of videos in a process of its own, over a ledger that costs next to nothing, with so many videos that their
 * provider has taken already. Tells at `/` how many are open and what became of the others.
 */
const { values } = parseArgs({
  options: {
    provider: { type: 'string', default: '' },
    open: { type: 'string', default: '1' },
    folder: { type: 'string', default: '' },
    /** Address of a store; without it files go into the folder. */
    s3: { type: 'string' },
  },
});

export interface VideosLeft {
  open: number;
  ended: { errorCode: string | null; file: VideoFile | null }[];
}

const clock = systemClock;
const ledger = createMemoryLedger({ clock });
await takenVideos(ledger, clock, Number(values.open));
const provider: Provider = {
  id: 'router',
  kind: providerKinds.openrouter,
  formats: [],
  cancel: 'stops_billing',
  dialect: dialects.other,
  baseUrl: `http://127.0.0.1:${values.provider}/api/v1`,
  apiKey: 'sk-bench',
  settings: {},
  priceFactorPpm: FACTOR_ONE_PPM,
  stopped: false,
};
const ended: VideosLeft['ended'] = [];
const worker = new VideoWorker({
  health: plainHealth(clock).providers,
  ledger,
  catalog: { provider: () => provider },
  files:
    values.s3 === undefined
      ? openLocalFileStore({ dataDir: values.folder, clock, publicUrl: () => 'http://127.0.0.1/v1' })
      : createS3FileStore(s3SettingsAt(values.s3), clock),
  clock,
  log: createLog(),
  claimGraceMs: 0,
  isOurs: () => true,
  onEnded: (_job, { errorCode, settle }) => void ended.push({ errorCode, file: settle.video ?? null }),
});
await worker.start();

const server = createServer((_req, res) => {
  const left: VideosLeft = { open: worker.open, ended };
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(left));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' ? address?.port : null }));
});
process.once('SIGTERM', () => process.exit(0));
