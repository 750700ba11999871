import { z } from 'zod';
import { callEnd, callFacts, pendingPrice, savedPrice, videoFile } from '#core/events/ledger-event.ts';
import type { Command, PutKey } from '#core/ledger/command.ts';

const MICROS_PER_MINUTE = 60_000_000;
const HIGH = 10n ** 15n;

/** The command that a script's arguments stand for: the way back from `toScriptCall`. */
export function toCommand(name: Command['type'], args: readonly string[]): Command {
  const at = (place: number): string => args[place] ?? '';
  const number = (place: number): number => Number(at(place));
  const json = (place: number): unknown => JSON.parse(at(place));
  const text = (place: number): string => z.string().parse(json(place));
  const numberOrNull = (place: number): number | null => (at(place) === '' ? null : number(place));
  const limit = (place: number): PutKey['limit'] =>
    at(place) === '' ? null : { limitNanoUsd: BigInt(at(place)), reset: reset.parse(at(place + 1)) };
  const agentId = number(0);
  switch (name) {
    case 'reserve':
      return {
        type: name,
        agentId,
        keyId: number(1),
        callId: number(2),
        nonce: text(3),
        kind: z.enum(['text', 'image', 'video']).parse(at(4)),
        nanoUsd: BigInt(at(5)),
        timeLimitMs: number(6),
        callerNowMs: number(7),
        call: callFacts.parse(json(8)),
        price: savedPrice.parse(json(9)),
        limits: {
          callsPerMinute: MICROS_PER_MINUTE / number(10),
          burst: number(11),
          runningCalls: number(12),
          dailyShareNanoUsd: at(13) === '' ? null : BigInt(at(13)),
        },
        ...(args.length > 15 && {
          video: { ...videoFacts.parse(json(17)), openVideosMax: number(19) },
        }),
      };
    case 'renew':
      return {
        type: name,
        agentId,
        callId: number(1),
        generationId: at(2) === '' ? null : text(2),
        holdsSlot: number(3) > 0,
      };
    case 'finish':
      return {
        type: name,
        agentId,
        callId: number(1),
        end: callEnd.parse(json(2)),
        pending: pendingPrice.parse(json(3)),
      };
    case 'settle':
      return {
        type: name,
        agentId,
        callId: number(1),
        costNanoUsd: BigInt(at(2)) * HIGH + BigInt(at(3)),
        end: callEnd.parse(json(4)),
        cause: z.enum(['end', 'orphan']).parse(at(5)),
        ...(at(7) !== '' && { video: videoFile.parse(json(7)) }),
        ...(args.length > 8 && { stored: { bytes: number(8), untilMs: number(9) } }),
      };
    case 'grant':
      return { type: name, agentId, grantId: text(1), expiresAtMs: number(2), nanoUsd: BigInt(at(3)) };
    case 'expire':
      return { type: name, agentId, endedByMs: number(1) };
    case 'move_out':
    case 'move_in': {
      const trade = { agentId, tradeId: text(1), expiresAtMs: number(2), nanoUsd: BigInt(at(3)) };
      return name === 'move_in'
        ? { type: name, ...trade }
        : { type: name, ...trade, buyerAgentId: number(4) };
    }
    case 'put_key':
      return {
        type: name,
        agentId,
        keyId: number(1),
        label: text(2),
        prefix: text(3),
        hash: at(4),
        limit: limit(5),
        actingKeyId: numberOrNull(7),
        readVersion: numberOrNull(11),
        madeOverMcp: at(8) === 'true',
        limits: { activeKeys: number(9), mcpKeysPerDay: number(10) },
      };
    case 'change_key':
      return {
        type: name,
        agentId,
        keyId: number(1),
        label: at(2) === '' ? null : text(2),
        limit: at(3) === 'keep' ? 'keep' : limit(3),
        actingKeyId: numberOrNull(5),
        readVersion: numberOrNull(6),
      };
    case 'revoke_key':
      return {
        type: name,
        agentId,
        keyId: number(1),
        actingKeyId: numberOrNull(2),
        readVersion: numberOrNull(3),
      };
    case 'start_upload':
      return { type: name, agentId, uploadId: text(1), limits: { uploadsPerDay: number(2) } };
    case 'claim_video':
    case 'withdraw_video':
      return { type: name, agentId, callId: number(1), nonce: text(2) };
    case 'submit_video':
      return { type: name, agentId, callId: number(1), nonce: text(2), providerJobId: text(3) };
    case 'set_agent':
      return {
        type: name,
        agentId,
        mode: z.enum(['create', 'update', 'upsert']).parse(at(1)),
        source: text(2),
        sourceVersion: number(3),
        status: z.enum(['inactive', 'active', 'suspended']).parse(at(4)),
        name: text(5),
        token: z.string().nullable().parse(json(6)),
      };
    default:
      return name satisfies never;
  }
}

const videoFacts = z.strictObject({
  videoId: z.string(),
  idempotencyKey: z.string().nullable(),
  upstreamModel: z.string(),
  orderFile: z.string(),
});

const reset = z.enum(['daily', 'weekly', 'monthly']);
