import type { CallEnd, CallFacts, KeyLimit, PendingPrice, SavedPrice } from '../events/ledger-event.ts';
import type { CallId } from '../ids.ts';
import type { NanoUsd } from '../money.ts';
import type { VideoFile } from '../videos/video-job.ts';
import type { AgentStatus, HoldKind } from './machine/state.ts';

/**
 * What can be asked of the ledger. Every command carries its own id (call, grant, trade, key, source version);
 * repeating an accepted one answers how it was answered and changes nothing, for as long as it says that it is known.
 * What is known longer is cleared away by `prune`, at an event and by that event's time, so that every fold forgets alike.
 */
export type Command =
  | Grant
  | Reserve
  | Renew
  | Finish
  | Settle
  | Expire
  | MoveOut
  | MoveIn
  | PutKey
  | ChangeKey
  | RevokeKey
  | StartUpload
  | ClaimVideo
  | SubmitVideo
  | WithdrawVideo
  | SetAgent;

/** Known by its grant for eight days, so until its lot has ended. */
export interface Grant {
  type: 'grant';
  agentId: number;
  grantId: string;
  /** 00:00 UTC of a day at most eight days ahead. */
  expiresAtMs: number;
  nanoUsd: NanoUsd;
}

/** The operator's numbers that `reserve` checks; they may change from call to call. */
export interface StartLimits {
  callsPerMinute: number;
  burst: number;
  runningCalls: number;
  dailyShareNanoUsd: NanoUsd | null;
}

/** What makes a hold of kind `video` a job. */
export interface VideoOrder {
  videoId: string;
  idempotencyKey: string | null;
  upstreamModel: string;
  orderFile: string;
  /** The operator's bound of the agent's videos that have not ended. */
  openVideosMax: number;
}

/** Known by its call and nonce for an hour after the call's end; an id over ten minutes old starts nothing. */
export interface Reserve {
  type: 'reserve';
  agentId: number;
  keyId: number;
  callId: CallId;
  nonce: string;
  kind: HoldKind;
  nanoUsd: NanoUsd;
  timeLimitMs: number;
  /** The caller's clock, compared only here: more than five minutes from the ledger's is `clock_apart`. */
  callerNowMs: number;
  call: CallFacts;
  price: SavedPrice;
  /** Of kind `video`, and of no other. */
  video?: VideoOrder;
  limits: StartLimits;
}

/** Keeps a running call's slot for another minute, or leaves it early. */
export interface Renew {
  type: 'renew';
  agentId: number;
  callId: CallId;
  generationId: string | null;
  /** False: its caller has hung up, and the answer is read on for its usage alone. Its money stays held all the same. */
  holdsSlot: boolean;
}

/**
 * The call has ended, its cost is not known yet: the slot is freed, the money stays held. Known by its call for an hour
 * after it is settled.
 */
export interface Finish {
  type: 'finish';
  agentId: number;
  callId: CallId;
  end: CallEnd;
  pending: PendingPrice;
}

/**
 * Known by its call for an hour. One that costs nothing also ends a call that the ledger does not know: a `reserve` of it
 * that arrives later, as long as its id can start anything, is answered that the call is done.
 */
export interface Settle {
  type: 'settle';
  agentId: number;
  callId: CallId;
  /** What the call cost; the charge is the lesser of this and the hold. */
  costNanoUsd: NanoUsd;
  end: CallEnd;
  /** `orphan`: nobody runs the call any more; refused before the call's own time limit plus two minutes. */
  cause: 'end' | 'orphan';
  /** Of a video that was made. */
  video?: VideoFile;
  /** Of images that were made: what they take of the agent's storage, and until when. */
  stored?: { bytes: number; untilMs: number };
}

export interface Expire {
  type: 'expire';
  agentId: number;
  /** By the journal's own clock. What is taken is gone, so this clock and the ledger's have to agree that it has ended. */
  endedByMs: number;
}

/** Known by its trade, refused or not, until 35 days after its lot's end; the same sale on other terms is refused. */
export interface MoveOut {
  type: 'move_out';
  agentId: number;
  tradeId: string;
  expiresAtMs: number;
  nanoUsd: NanoUsd;
  buyerAgentId: number;
}

/** Known by its trade, apart from its sale, as long as that. */
export interface MoveIn {
  type: 'move_in';
  agentId: number;
  tradeId: string;
  expiresAtMs: number;
  nanoUsd: NanoUsd;
}

/**
 * Only makes a key, so that its repetition cannot undo a change that came in between. Known as long as the agent.
 * `readVersion` is the newest version of the agent's keys that its sender read, 0 for an agent without keys.
 */
export interface PutKey {
  type: 'put_key';
  agentId: number;
  keyId: number;
  label: string;
  prefix: string;
  hash: string;
  limit: { limitNanoUsd: NanoUsd; reset: KeyLimit['reset'] } | null;
  /** The key that asks, checked again inside the step; `null` for the operator. */
  actingKeyId: number | null;
  readVersion: ReadVersion;
  madeOverMcp: boolean;
  limits: { activeKeys: number; mcpKeysPerDay: number };
}

/**
 * A command that changes keys rests on a `KeyView.version` that its sender has read. Where a key has changed since,
 * the command changes nothing, so one that arrives late cannot undo a newer change. `null`: it rests on nothing.
 */
type ReadVersion = number | null;

/**
 * Changes label, limit or both of an active key, in one step: what is not named stays as it is at that moment, so that
 * of two changes at once neither undoes the other. It has no id: asked again, it finds what it asks for.
 */
export interface ChangeKey {
  type: 'change_key';
  agentId: number;
  keyId: number;
  /** `null`: stays. */
  label: string | null;
  limit: 'keep' | PutKey['limit'];
  actingKeyId: number | null;
  /** The version of this key. */
  readVersion: ReadVersion;
}

/** Known by its key as long as the agent. */
export interface RevokeKey {
  type: 'revoke_key';
  agentId: number;
  keyId: number;
  actingKeyId: number | null;
  /** The version of this key. */
  readVersion: ReadVersion;
}

/**
 * Before the one request to the provider: nobody else may send it from then on. Durable before that request begins.
 */
export interface ClaimVideo {
  type: 'claim_video';
  agentId: number;
  callId: CallId;
  /** Of this attempt: the claim is whose nonce it carries. */
  nonce: string;
}

/** The provider has taken the job. */
export interface SubmitVideo {
  type: 'submit_video';
  agentId: number;
  callId: CallId;
  nonce: string;
  providerJobId: string;
}

/** The provider surely has no such job: it may be sent again. */
export interface WithdrawVideo {
  type: 'withdraw_video';
  agentId: number;
  callId: CallId;
  nonce: string;
}

/** Counts an upload that is about to begin; it needs some free credit, and takes none. Known for 24 hours. */
export interface StartUpload {
  type: 'start_upload';
  agentId: number;
  uploadId: string;
  limits: { uploadsPerDay: number };
}

/** Known by its source's version as long as the agent; an older version changes nothing. */
export interface SetAgent {
  type: 'set_agent';
  agentId: number;
  /** `create` refuses an agent that exists, `update` one that does not, and `update` changes its status alone. */
  mode: 'create' | 'update' | 'upsert';
  source: string;
  sourceVersion: number;
  status: AgentStatus;
  name: string;
  token: string | null;
}

// --- Answers. Refusals are values; `unavailable` (fenced, closed, recovering) is added by the engines.

type Accepted = { ok: true; repeated: boolean };
type Refused<Reason extends string> = { ok: false; reason: Reason };

export type GrantResult = Accepted | Refused<'not_midnight' | 'lot_ended' | 'lot_too_far' | 'over_cap'>;

export type ReserveResult = Accepted | ReserveRefusal;

/** In the order in which they are checked. */
export type ReserveRefusal =
  | Refused<'clock_apart' | 'stale_id' | 'unknown_agent'>
  /** Another process drew this id: take a new one. */
  | Refused<'id_taken'>
  | { ok: false; reason: 'done'; chargedNanoUsd: NanoUsd }
  /** The agent has a video of this `Idempotency-Key`. */
  | { ok: false; reason: 'video_exists'; videoId: string }
  | Refused<'key_revoked' | 'agent_inactive' | 'agent_suspended'>
  | { ok: false; reason: 'rate'; retryAfterMs: number }
  | { ok: false; reason: 'running_calls'; runningCalls: number; retryAfterMs: number }
  | { ok: false; reason: 'open_videos'; openVideos: number; retryAfterMs: number }
  /** For `image`: the agent's stored images have reached their limit. Room returns when the first of them expire. */
  | { ok: false; reason: 'storage_full'; retryAfterMs: number }
  | { ok: false; reason: 'daily_share'; resetsAtMs: number }
  | {
      ok: false;
      reason: 'key_limit';
      remainingNanoUsd: NanoUsd;
      heldNanoUsd: NanoUsd;
      limitNanoUsd: NanoUsd;
      resetsAtMs: number;
    }
  | { ok: false; reason: 'balance'; spendableNanoUsd: NanoUsd; heldNanoUsd: NanoUsd };

export type RenewResult = { ok: true } | Refused<'no_hold'>;

export type FinishResult =
  | Accepted
  | { ok: false; reason: 'done'; chargedNanoUsd: NanoUsd }
  | Refused<'no_hold'>;

export type SettleResult =
  | { ok: true; repeated: false; chargedNanoUsd: NanoUsd; overrunNanoUsd: NanoUsd }
  | { ok: true; repeated: true; chargedNanoUsd: NanoUsd }
  | Refused<'no_hold' | 'not_orphaned'>;

export type ExpireResult = { ok: true; expiredNanoUsd: NanoUsd };

/** In the order in which they are checked; kept with the trade. */
export const moveRefusals = ['unknown_agent', 'lot_ended', 'nothing', 'balance'] as const;
export type MoveRefusal = (typeof moveRefusals)[number];

export type MoveOutResult =
  | Accepted
  /** `other_terms`: a trade of this id has moved, but another amount, of another lot or to another buyer. */
  | { ok: false; repeated: boolean; reason: MoveRefusal | 'other_terms' };

export type MoveInResult = { ok: true; repeated: boolean; expiredNanoUsd: NanoUsd };

export type ActingKeyRefusal = Refused<'acting_key_revoked' | 'acting_key_limited'>;

/** A key has changed since it was read: read again, then ask again. */
export type ChangedSince = Refused<'changed_since'>;

export type PutKeyResult =
  | Accepted
  | Refused<'unknown_agent' | 'agent_not_active' | 'key_revoked'>
  /** The id, or the hash, belongs to another key: take a new one. */
  | Refused<'id_taken' | 'hash_taken'>
  | Refused<'too_many_active_keys' | 'too_many_mcp_keys'>
  | ChangedSince
  | ActingKeyRefusal;

export type ChangeKeyResult =
  | Accepted
  | Refused<'unknown_key' | 'key_revoked'>
  | ChangedSince
  | ActingKeyRefusal;

export type RevokeKeyResult = Accepted | Refused<'unknown_key'> | ChangedSince | ActingKeyRefusal;

export type ClaimVideoResult = Accepted | Refused<'no_hold' | 'claimed' | 'submitted'>;
export type SubmitVideoResult = Accepted | Refused<'no_hold' | 'not_claimed'>;
export type WithdrawVideoResult = Accepted | Refused<'no_hold' | 'not_claimed' | 'submitted'>;

/** In the order in which they are checked. */
export type StartUploadResult =
  | Accepted
  | Refused<'unknown_agent'>
  | Refused<'agent_inactive' | 'agent_suspended' | 'balance'>
  | { ok: false; reason: 'uploads_per_day'; retryAfterMs: number };

export type SetAgentResult = Accepted | Refused<'exists' | 'unknown_agent'>;

/** What each command answers, by its type. */
interface Results {
  grant: GrantResult;
  reserve: ReserveResult;
  renew: RenewResult;
  finish: FinishResult;
  settle: SettleResult;
  expire: ExpireResult;
  move_out: MoveOutResult;
  move_in: MoveInResult;
  put_key: PutKeyResult;
  change_key: ChangeKeyResult;
  revoke_key: RevokeKeyResult;
  start_upload: StartUploadResult;
  claim_video: ClaimVideoResult;
  submit_video: SubmitVideoResult;
  withdraw_video: WithdrawVideoResult;
  set_agent: SetAgentResult;
}

export type ResultOf<C extends Command> = Results[C['type']];
