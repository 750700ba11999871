import { z } from 'zod';

/**
 * Every change of money, keys and agents, as journaled: `ledger.v1` in the cluster, the journal file in embedded
 * mode. An event says what happened, never what to compute: folding re-decides nothing. It never holds a prompt,
 * a key or a header.
 *
 * `v` is the version of this schema. A release reads what it and the release before it wrote.
 */
const nano = z.string().regex(/^\d{1,20}$/);
/** Wider than money: a price of a hundred dollars a request has 21 digits of atto-dollars. */
const atto = z.string().regex(/^\d{1,30}$/);
const time = z.int().nonnegative();
const id = z.int().nonnegative();

const allocation = z.strictObject({ expiresAtMs: time, nanoUsd: nano });
const bytes = z.int().nonnegative();

/** Of a video that was made: where its file stands. */
export const videoFile = z.strictObject({ path: z.string(), bytes, sha256: z.string(), madeAtMs: time });

// Facts about a call come from far away, and a field too many must not stop the journal's reader: what these schemas
// do not know, they leave out. Everything that decides money is strict.

export const tokenCounts = z.object({
  prompt: z.int().nonnegative(),
  completion: z.int().nonnegative(),
  reasoning: z.int().nonnegative().nullable(),
  cached: z.int().nonnegative(),
  /** Of the prompt, written to the provider's cache; absent: none. */
  cacheWritten: z.int().nonnegative().optional(),
  /** The provider did not count them, or not all of them: they are an estimate of the texts. Absent: it did. */
  estimated: z.literal(true).optional(),
});
export type TokenCounts = z.infer<typeof tokenCounts>;

/** What the call record shows of a call besides its money. */
export const callFacts = z.object({
  model: z.string(),
  modelName: z.string(),
  endpoint: z.string(),
  stream: z.boolean(),
});
export type CallFacts = z.infer<typeof callFacts>;

const tokenPrices = {
  promptAtto: atto,
  completionAtto: atto,
  cacheReadAtto: atto,
  /** Absent: as any other token of the prompt. */
  cacheWriteAtto: atto.optional(),
};

/** Prices saved at the hold, so that a call can be priced after a crash. Atto-dollars per unit, as decimal strings. */
export const savedPrice = z.object({
  providerId: z.string(),
  ...tokenPrices,
  /** The whole call is priced by the last one that its prompt is longer than. Absent: no prompt is so long. */
  longPrompts: z.array(z.object({ overTokens: z.int().nonnegative(), ...tokenPrices })).optional(),
  /** Absent: as any other token of the answer. */
  reasoningAtto: atto.optional(),
  /** All that the call costs besides its tokens. */
  requestAtto: atto,
  factorPpm: nano,
  /** Bytes of the prompt ÷ 4, rounded up: what an uncounted prompt is taken to be. */
  promptEstimateTokens: z.int().nonnegative(),
});
export type SavedPrice = z.infer<typeof savedPrice>;

export const callEnd = z.object({
  outcome: z.enum(['ok', 'stopped', 'failed']),
  httpStatus: z.int().nullable(),
  errorCode: z.string().nullable(),
  tokens: tokenCounts,
  durationMs: z.int().nonnegative(),
});
export type CallEnd = z.infer<typeof callEnd>;

/** What the settlement loop needs to price a call whose cost was not known at its end. */
export const pendingPrice = z.object({
  price: savedPrice,
  generationId: z.string().nullable(),
  /** True when the provider counted the tokens in `end.tokens`; otherwise they are what was delivered. */
  tokensKnown: z.boolean(),
  deliveredTokens: z.int().nonnegative(),
  /** The caller left an answer that was being made: its prompt was read, even where nothing was delivered. */
  promptRead: z.literal(true).optional(),
});
export type PendingPrice = z.infer<typeof pendingPrice>;

const limit = z.strictObject({ limitNanoUsd: nano, reset: z.enum(['daily', 'weekly', 'monthly']) });
export type KeyLimit = z.infer<typeof limit>;

const envelope = {
  v: z.literal(1),
  agentId: id,
  /** The agent's own version after this event: a fold tells a gap from the end by it. */
  version: z.int().positive(),
  atMs: time,
};

export const ledgerEvent = z.discriminatedUnion('type', [
  z.strictObject({
    ...envelope,
    type: z.literal('granted'),
    grantId: z.string(),
    expiresAtMs: time,
    nanoUsd: nano,
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('reserved'),
    callId: id,
    nonce: z.string(),
    keyId: id,
    kind: z.enum(['text', 'image', 'video']),
    nanoUsd: nano,
    allocations: z.array(allocation),
    leaseEndsAtMs: time.nullable(),
    /** The start rate's theoretical arrival time after this start: a fold does not know the operator's rate. */
    startsTatUs: time,
    timeLimitMs: z.int().positive(),
    call: callFacts,
    price: savedPrice,
    /** Of a video; absent: of a call, or of a release that knew no jobs. */
    video: z
      .strictObject({
        videoId: z.string(),
        idempotencyKey: z.string().nullable(),
        upstreamModel: z.string(),
        orderFile: z.string(),
      })
      .optional(),
  }),
  z.strictObject({ ...envelope, type: z.literal('video_claimed'), callId: id, nonce: z.string() }),
  z.strictObject({ ...envelope, type: z.literal('video_submitted'), callId: id, providerJobId: z.string() }),
  z.strictObject({ ...envelope, type: z.literal('video_withdrawn'), callId: id }),
  /** Written only once the provider's id for the answer is known while the call still runs. */
  z.strictObject({ ...envelope, type: z.literal('renewed'), callId: id, generationId: z.string() }),
  z.strictObject({
    ...envelope,
    type: z.literal('finished'),
    callId: id,
    end: callEnd,
    pending: pendingPrice,
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('settled'),
    callId: id,
    chargedNanoUsd: nano,
    /** Cost above the hold: the operator's loss, never the agent's debt. */
    overrunNanoUsd: nano,
    end: callEnd,
    /** Absent: no video was made. */
    video: videoFile.optional(),
    /** Images that the agent's storage holds from now on. */
    stored: z.strictObject({ bytes, untilMs: time }).optional(),
  }),
  z.strictObject({ ...envelope, type: z.literal('expired'), lots: z.array(allocation) }),
  z.strictObject({
    ...envelope,
    type: z.literal('moved_out'),
    tradeId: z.string(),
    lots: z.array(allocation),
    buyerAgentId: id,
  }),
  z.strictObject({ ...envelope, type: z.literal('move_refused'), tradeId: z.string(), reason: z.string() }),
  z.strictObject({
    ...envelope,
    type: z.literal('moved_in'),
    tradeId: z.string(),
    expiresAtMs: time,
    nanoUsd: nano,
    /** Booked in and expired at once: the lot had ended, or the balance was at its cap. */
    expiredNanoUsd: nano,
  }),
  z.strictObject({
    ...envelope,
    type: z.literal('key_put'),
    keyId: id,
    label: z.string(),
    prefix: z.string(),
    hash: z.string(),
    limit: limit.nullable(),
    createdByKeyId: id.nullable(),
    madeOverMcp: z.boolean(),
  }),
  z.strictObject({ ...envelope, type: z.literal('key_revoked'), keyId: id }),
  z.strictObject({ ...envelope, type: z.literal('upload_started'), uploadId: z.string() }),
  z.strictObject({
    ...envelope,
    type: z.literal('agent_set'),
    source: z.string(),
    sourceVersion: z.int().nonnegative(),
    status: z.enum(['inactive', 'active', 'suspended']),
    name: z.string(),
    token: z.string().nullable(),
  }),
]);
export type LedgerEvent = z.infer<typeof ledgerEvent>;

/** Throws a `ZodError` on anything that is no ledger event of this version: a poison record stops its reader. */
export const decodeLedgerEvent = (record: unknown): LedgerEvent => ledgerEvent.parse(record);

export type LedgerEventOf<T extends LedgerEvent['type']> = Extract<LedgerEvent, { type: T }>;
