import type { CallEnd, CallFacts, PendingPrice, SavedPrice } from '#core/events/ledger-event.ts';
import type {
  ChangeKey,
  ClaimVideo,
  Finish,
  Grant,
  MoveIn,
  MoveOut,
  PutKey,
  Renew,
  Reserve,
  RevokeKey,
  SetAgent,
  Settle,
  StartLimits,
  StartUpload,
  SubmitVideo,
  VideoOrder,
  WithdrawVideo,
} from '#core/ledger/command.ts';
import type { VideoFile } from '#core/videos/video-job.ts';
import { VIDEO_TIME_LIMIT_MS } from '../../api/media/order-video.ts';
import { callIdIn, day, does, type Operation, ok, type Row } from './case.ts';

// Commands with every field set, so that a row names only what it is about.

export const MINUTES_13 = 13 * 60_000;

export const callFacts: CallFacts = {
  model: 'acme/small',
  modelName: 'Acme Small',
  endpoint: 'chat',
  stream: true,
};

export const savedPrice: SavedPrice = {
  providerId: 'simulator',
  promptAtto: '100000000000',
  completionAtto: '400000000000',
  cacheReadAtto: '50000000000',
  requestAtto: '0',
  factorPpm: '1000000',
  promptEstimateTokens: 12,
};

export const callEnd: CallEnd = {
  outcome: 'ok',
  httpStatus: 200,
  errorCode: null,
  tokens: { prompt: 10, completion: 20, reasoning: null, cached: 0 },
  durationMs: 1_500,
};

export const pendingPrice: PendingPrice = {
  price: savedPrice,
  generationId: 'gen-1',
  tokensKnown: false,
  deliveredTokens: 20,
};

export const startLimits: StartLimits = {
  callsPerMinute: 600,
  burst: 60,
  runningCalls: 8,
  dailyShareNanoUsd: null,
};

export const keyLimits = { activeKeys: 10, mcpKeysPerDay: 20 };

/** Ends with the last lot there may be, unless it says otherwise. */
export const grant = (nanoUsd: bigint, more: Partial<Grant> = {}): Operation => {
  return () => ({ type: 'grant', agentId: 1, grantId: 'grant-1', expiresAtMs: day(8), nanoUsd, ...more });
};

export const reserve = (call: number, nanoUsd: bigint, more: Partial<Reserve> = {}): Operation => {
  return (world) => ({
    type: 'reserve',
    agentId: 1,
    keyId: 1,
    callId: callIdIn(world, call),
    nonce: 'process-1',
    kind: 'text',
    nanoUsd,
    timeLimitMs: MINUTES_13,
    callerNowMs: world.clock.now(),
    call: callFacts,
    price: savedPrice,
    limits: startLimits,
    ...more,
  });
};

export const renew = (call: number, more: Partial<Renew> = {}): Operation => {
  return (world) => ({
    type: 'renew',
    agentId: 1,
    callId: callIdIn(world, call),
    generationId: null,
    holdsSlot: true,
    ...more,
  });
};

export const finish = (call: number, more: Partial<Finish> = {}): Operation => {
  return (world) => ({
    type: 'finish',
    agentId: 1,
    callId: callIdIn(world, call),
    end: callEnd,
    pending: pendingPrice,
    ...more,
  });
};

export const settle = (call: number, costNanoUsd: bigint, more: Partial<Settle> = {}): Operation => {
  return (world) => ({
    type: 'settle',
    agentId: 1,
    callId: callIdIn(world, call),
    costNanoUsd,
    end: callEnd,
    cause: 'end',
    ...more,
  });
};

/** What the settlement loop sends for a call that nobody runs any more. */
export const settleOrphan = (call: number): Operation =>
  settle(call, 0n, {
    cause: 'orphan',
    end: { ...callEnd, outcome: 'failed', httpStatus: 500, errorCode: 'gateway_error' },
  });

/** The journal's clock shows what the ledger's does, unless a case says otherwise. */
export const expire = (agentId = 1, endedByMs: number | null = null): Operation => {
  return ({ clock }) => ({ type: 'expire', agentId, endedByMs: endedByMs ?? clock.now() });
};

export const moveOut = (tradeId: string, nanoUsd: bigint, more: Partial<MoveOut> = {}): Operation => {
  const trade = { agentId: 1, tradeId, expiresAtMs: day(8), nanoUsd, buyerAgentId: 2 };
  return () => ({ type: 'move_out', ...trade, ...more });
};

export const moveIn = (tradeId: string, nanoUsd: bigint, more: Partial<MoveIn> = {}): Operation => {
  return () => ({ type: 'move_in', agentId: 1, tradeId, expiresAtMs: day(8), nanoUsd, ...more });
};

export const putKey = (keyId: number, more: Partial<PutKey> = {}): Operation => {
  return () => ({
    type: 'put_key',
    readVersion: null,
    agentId: 1,
    keyId,
    label: `key ${keyId}`,
    prefix: `fg_prefix${String(keyId).padStart(3, '0')}`,
    hash: `hash-${keyId}`,
    limit: null,
    actingKeyId: null,
    madeOverMcp: false,
    limits: keyLimits,
    ...more,
  });
};

/** Changes nothing that it does not name. */
export const changeKey = (keyId: number, more: Partial<ChangeKey> = {}): Operation => {
  return () => ({
    type: 'change_key',
    readVersion: null,
    agentId: 1,
    keyId,
    label: null,
    limit: 'keep',
    actingKeyId: null,
    ...more,
  });
};

export const revokeKey = (keyId: number, more: Partial<RevokeKey> = {}): Operation => {
  return () => ({ type: 'revoke_key', readVersion: null, agentId: 1, keyId, actingKeyId: null, ...more });
};

export const startUpload = (uploadId: string, more: Partial<StartUpload> = {}): Operation => {
  return () => ({ type: 'start_upload', agentId: 1, uploadId, limits: { uploadsPerDay: 200 }, ...more });
};

/** A video's hold; its id is made of the call's number. */
export const reserveVideo = (
  call: number,
  nanoUsd: bigint,
  order: Partial<VideoOrder> = {},
  more: Partial<Reserve> = {},
): Operation =>
  reserve(call, nanoUsd, {
    kind: 'video',
    timeLimitMs: VIDEO_TIME_LIMIT_MS,
    video: videoOrder(call, order),
    ...more,
  });

export const videoOrder = (call: number, more: Partial<VideoOrder> = {}): VideoOrder => ({
  videoId: `vid_${call}`,
  idempotencyKey: null,
  upstreamModel: 'acme/film',
  orderFile: `orders/${call}`,
  openVideosMax: 20,
  ...more,
});

export const videoFile: VideoFile = { path: 'videos/1', bytes: 5_000_000, sha256: 'ab12', madeAtMs: 1_000 };

export const claimVideo = (call: number, more: Partial<ClaimVideo> = {}): Operation => {
  return (world) => ({
    type: 'claim_video',
    agentId: 1,
    callId: callIdIn(world, call),
    nonce: 'worker-1',
    ...more,
  });
};

export const submitVideo = (call: number, more: Partial<SubmitVideo> = {}): Operation => {
  return (world) => ({
    type: 'submit_video',
    agentId: 1,
    callId: callIdIn(world, call),
    nonce: 'worker-1',
    providerJobId: 'job-1',
    ...more,
  });
};

export const withdrawVideo = (call: number, more: Partial<WithdrawVideo> = {}): Operation => {
  return (world) => ({
    type: 'withdraw_video',
    agentId: 1,
    callId: callIdIn(world, call),
    nonce: 'worker-1',
    ...more,
  });
};

export const setAgent = (more: Partial<SetAgent> = {}): Operation => {
  return () => ({
    type: 'set_agent',
    agentId: 1,
    mode: 'upsert',
    source: 'operator',
    sourceVersion: 1,
    status: 'active',
    name: 'Ada',
    token: null,
    ...more,
  });
};

/** An active agent 1 with key 1 and no credit. */
export const activeAgent: readonly Row[] = [does(setAgent(), ok), does(putKey(1), ok)];

/** The same with credit that ends as late as it may. */
export const agentWith = (nanoUsd: bigint): readonly Row[] => [...activeAgent, does(grant(nanoUsd), ok)];
