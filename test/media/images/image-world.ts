import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Capacity } from '#core/capacity/capacity.ts';
import type { Provider } from '#core/catalog/catalog.ts';
import type { ImageModel, ImageParameter } from '#core/catalog/image-model.ts';
import { createNearestNames } from '#core/catalog/nearest-names.ts';
import { type FileName, formatFileName, parseFileName } from '#core/files/file-name.ts';
import type { LinkOwner } from '#core/files/file-store.ts';
import { createIdSource } from '#core/ids.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { defaultLimits, GATE_TIMEOUT_MS, type Limits } from '#core/limits.ts';
import { GcraBuckets } from '#core/rates/gcra.ts';
import type { Gateway } from '../../../api/inference/hold/gateway.ts';
import { LedgerRetries } from '../../../api/inference/hold/ledger-retries.ts';
import { OpenCalls } from '../../../api/inference/hold/open-calls.ts';
import { type PostedRequest, UpstreamPools } from '../../../api/inference/upstream/upstream-pools.ts';
import type { UpstreamRequest } from '../../../api/inference/upstream/upstream-request.ts';
import { restAfterFailure } from '../../../api/media/images/rest-after-failure.ts';
import { runImage } from '../../../api/media/images/run-image.ts';
import { type FakeController, FakeResponse, fakeUpstream } from '../../inference/fake-ends.ts';
import { startFundedLedger } from '../../inference/funded-ledger.ts';
import { atto, provider, testCatalog } from '../../inference/support.ts';
import { readAgent } from '../../ledger/case.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMemoryFiles } from '../../support/memory-files.ts';
import { plainHealth } from '../../support/plain-health.ts';

export const parameters: ReadonlyMap<string, ImageParameter> = new Map<string, ImageParameter>([
  ['n', { type: 'range', min: 1, max: 4 }],
  ['resolution', { type: 'enum', values: ['1K', '2K'] }],
  ['output_format', { type: 'enum', values: ['png', 'webp', 'svg'] }],
  ['output_compression', { type: 'range', min: 0, max: 100 }],
  ['transparent', { type: 'enum', values: [true, false] }],
]);

/** A cent an image, a tenth of that for each that it reads. */
export const painter = (given: Partial<ImageModel> = {}): ImageModel => ({
  id: 'acme/painter',
  name: 'Acme Painter',
  createdAtMs: null,
  readsImages: true,
  streaming: true,
  parameters,
  pricing: [
    { billable: 'output_image', unit: 'image', price: atto('0.01'), variant: null },
    { billable: 'input_image', unit: 'image', price: atto('0.001'), variant: null },
  ],
  outputTokensMax: new Map(),
  inputImageTokensMax: null,
  providerId: 'router',
  upstreamModel: 'acme/painter-1',
  endpointTag: 'acme/fast',
  ...given,
});

export const plain = painter({
  id: 'acme/plain',
  readsImages: false,
  streaming: false,
  parameters: new Map(),
  endpointTag: null,
});

/** Every provider's end, played by the test. */
class ScriptedPools extends UpstreamPools {
  readonly requests: {
    upstream: UpstreamRequest;
    controller: FakeController;
    path: string;
    body: string;
  }[] = [];

  override post(_provider: Provider, { path, body }: PostedRequest): UpstreamRequest {
    const ends = fakeUpstream();
    this.requests.push({ ...ends, path, body: body.toString() });
    return ends.upstream;
  }
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));
export async function settled(turns = 6): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await soon();
}

export interface WorldOptions {
  models?: readonly ImageModel[];
  given?: Partial<Provider>;
  status?: AgentStatus;
  /** `false`: the gateway keeps no files. */
  keepsFiles?: boolean;
  limits?: Partial<Limits>;
  creditNanoUsd?: bigint;
}

const FILES_URL = 'https://files.test/';

/** Files in memory behind links that name them, and can be made to fail. */
function createImageFiles() {
  const memory = createMemoryFiles();
  return Object.assign(memory, {
    size: async (name: FileName) => memory.kept.get(formatFileName(name))?.length ?? null,
    getLink: async (name: FileName) => FILES_URL + formatFileName(name),
    parseLink(link: string): LinkOwner {
      if (!link.startsWith(FILES_URL)) return { kind: 'foreign' };
      const name = parseFileName(link.slice(FILES_URL.length));
      if (name === null) return { kind: 'refused', reason: 'forged' };
      return { kind: 'ours', name, untilMs: Number.MAX_SAFE_INTEGER };
    },
  });
}

/** The whole path of a request for images, without a socket at either end. */
export async function startWorld(options: WorldOptions = {}) {
  const { models = [painter(), plain], given = {}, status = 'active' } = options;
  const clock = createFakeClock();
  const { memory, ledger, confirm } = await startFundedLedger(clock, options.creditNanoUsd);

  const faults: string[] = [];
  const losses: { cause: string; nanoUsd: bigint }[] = [];
  const pending: number[] = [];
  const warnings: string[] = [];
  const log = {
    info() {},
    warn: (event: string) => void warnings.push(event),
    error: (event: string) => void faults.push(event),
  };
  const upstreams = new ScriptedPools();
  const capacity = new Capacity(
    () => ({ perCallNanoUsd: 10n ** 12n, poolNanoUsd: 10n ** 12n, runningCalls: 10 }),
    { isOver: () => false },
  );
  const openCalls = new OpenCalls(clock, log);
  const files = createImageFiles();
  const nearest = createNearestNames(models.map(({ id }) => id));
  const gateway: Gateway = {
    clock,
    ids: createIdSource(clock),
    log,
    metrics: {
      started() {},
      refused() {},
      ended() {},
      priced() {},
      loss: (cause, nanoUsd) => void losses.push({ cause, nanoUsd }),
      added() {},
      provider() {},
    },
    ledger,
    ledgerRetries: new LedgerRetries({ ledger, clock, log }),
    catalog: {
      ...testCatalog({ providers: [provider(given)] }),
      findImageModel(id) {
        if (id === 'acme/retired') return { status: 'not_served' };
        const model = models.find((each) => each.id === id);
        return model === undefined
          ? { status: 'unknown', nearest: nearest(id) }
          : { status: 'served', model };
      },
      imageModels: () => models,
    },
    costs: { note() {} },
    capacity,
    refusedStarts: new GcraBuckets({ ratePerMinute: () => 600, burst: () => 60 }),
    openCalls,
    upstreams,
    gateTimeoutMs: GATE_TIMEOUT_MS,
    limits: () => ({ ...defaultLimits, ...options.limits }),
    waitForClockMs: () => 0,
    dailyShareNanoUsd: () => null,
    callIdHeader: 'x-call-id',
    nonce: 'n',
    health: plainHealth(),
    watchPending: (_agentId, callId) => void pending.push(callId),
    watchVideo() {},
    files: options.keepsFiles === false ? null : files,
    placeImage: () => null,
    fetchImage: async () => ({ ok: false, words: 'could not be fetched' }),
  };
  const res = new FakeResponse();
  const caller = { agentId: 1, keyId: 1, agentStatus: status } as const;
  const imageFiles = options.keepsFiles === false ? null : restAfterFailure(files, clock);
  const start = (body: object | string) =>
    runImage(
      {
        gateway,
        files: imageFiles,
        refusePrivate: async (link) =>
          link.includes('inside') ? 'leads to an address that is not public' : null,
      },
      {
        caller,
        confirmCaller: async () => caller,
        callId: gateway.ids.next(),
        callIdHeader: 'x-call-id',
        shape: 'chat',
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
        req: new IncomingMessage(new Socket()),
        res,
      },
    );
  /** Puts the newest request on a connection: from here on the provider may have seen it. */
  function connect(): void {
    const request = upstreams.requests.at(-1);
    if (request === undefined) throw new Error('no request');
    request.upstream.onRequestStart(request.controller);
  }
  /**
   * Plays the provider's whole answer to the newest request, in pieces of so many bytes; cut after so many. `part`: more of
   * it follows, with `begun`.
   */
  async function reply(
    text: string,
    {
      status: httpStatus = 200,
      type = 'application/json',
      size = 50,
      cutAt = -1,
      part = false,
      begun = false,
    } = {},
  ): Promise<void> {
    await settled();
    const request = upstreams.requests.at(-1);
    if (request === undefined) throw new Error('no request');
    const { upstream, controller } = request;
    if (!begun) {
      upstream.onRequestStart(controller);
      upstream.onResponseStart(controller, httpStatus, { 'content-type': type, 'x-generation-id': 'gen-1' });
    }
    const bytes = Buffer.from(text);
    const end = cutAt < 0 ? bytes.length : cutAt;
    for (let at = 0; at < end && !upstream.ended; at += size) {
      upstream.onResponseData(controller, bytes.subarray(at, Math.min(at + size, end)));
      await settled(1);
    }
    if (upstream.ended || part) return;
    if (cutAt < 0) upstream.onResponseEnd();
    else upstream.onResponseError(controller, new Error('reset'));
    await settled();
  }
  const view = () => readAgent(memory, 1);
  const events = (type: string) => memory.journal.filter((event) => event.type === type);
  return {
    connect,
    clock,
    memory,
    gateway,
    files,
    res,
    start,
    reply,
    view,
    events,
    confirm,
    upstreams,
    faults,
    warnings,
    losses,
    pending,
    capacity,
    openCalls,
  };
}

export type ImageWorld = Awaited<ReturnType<typeof startWorld>>;

export const ask = (extra: object = {}) => ({ model: 'acme/painter', prompt: 'a bicycle', ...extra });

/** Bytes that begin as a PNG does. */
export const png = (bytes: number, fill = 7): Buffer =>
  Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(Math.max(4, bytes - 8), fill)]);

export const usageText = (cost: string | null): string =>
  `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5${cost === null ? '' : `,"cost":${cost}`}}`;

export const answerText = (images: readonly Buffer[], usage: string | null): string =>
  `{"created":1790000000,"data":[${images
    .map((each) => `{"b64_json":"${each.toString('base64')}","media_type":"image/png"}`)
    .join(',')}]${usage === null ? '' : `,"usage":${usage}`}}`;
