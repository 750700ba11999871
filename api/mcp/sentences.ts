import type { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { LABEL_CHARS_MAX, type Limits } from '#core/limits.ts';
import type { KeyRefusal } from '../account/keys.ts';
import { spendingLimitRange } from '../contract/key-record.ts';

/** Why a tool did not do what was asked. How each begins is the spec's (MCP refusals); callers may tell them apart by it. */
export const sentences = {
  limitedKey:
    'This key has a spending limit, so it can only read: use a key without a limit to create, change or revoke keys.',
  unknownKey: (keyId: number): string =>
    `No key ${keyId} belongs to this agent. \`list_keys\` shows those that do.`,
  revokedKey: (keyId: number): string =>
    `No key ${keyId} belongs to this agent any more: it was revoked, which cannot be undone.`,
  tooManyActiveKeys: (max: number): string =>
    `This agent already has ${max} active keys: revoke one before you create another.`,
  tooManyNewKeys: (max: number): string =>
    `This agent made ${max} keys over MCP in the last 24 hours, as many as it may: try again later.`,
  noKeysWhileInactive: 'This agent is not active, so it cannot get new keys.',
  noUploadsWhileInactive: 'This agent is not active, so it cannot start uploads.',
  noCredit: 'This agent has no credit left: an upload needs some, though it costs nothing.',
  noFiles: 'This service keeps no files, so nothing can be uploaded to it.',
  tooManyUploads: (max: number, retryAfterMs: number): string =>
    `This agent started ${max} uploads in the last 24 hours, as many as it may: the next can start in ${waitText(retryAfterMs)}.`,
  badLabel: `label: has to be one line of 1 to ${LABEL_CHARS_MAX} characters, without control characters.`,
  badAmount:
    `spending_limit.usd: has to be an amount of US dollars from ${spendingLimitRange}, ` +
    'such as "12.5", with at most nine decimals.',
  badInput: (tool: string, issues: readonly z.core.$ZodIssue[]): string =>
    `Input validation error: Invalid arguments for tool ${tool}: ${issues.map(issueText).join('; ')}`,
  unavailable: 'The service could not finish this right now: try again in a moment.',
} as const;

const issueText = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.join('.')}: ${message}`;

function waitText(waitMs: number): string {
  const [unit, name] = waitMs > HOUR_MS ? [HOUR_MS, 'hour'] : [MINUTE_MS, 'minute'];
  const count = Math.ceil(waitMs / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** @param keyId The key that was asked for. */
export function keySentence(reason: KeyRefusal, keyId: number, limits: Limits): string {
  const { unavailable } = sentences;
  const byReason: Record<KeyRefusal, string> = {
    acting_key_limited: sentences.limitedKey,
    unknown_key: sentences.unknownKey(keyId),
    key_revoked: sentences.revokedKey(keyId),
    too_many_active_keys: sentences.tooManyActiveKeys(limits.activeKeys),
    too_many_mcp_keys: sentences.tooManyNewKeys(limits.mcpKeysPerDay),
    agent_not_active: sentences.noKeysWhileInactive,
    // The key of this connection ended meanwhile: to try again tells its owner.
    acting_key_revoked: unavailable,
    ...{ unknown_agent: unavailable, id_taken: unavailable, hash_taken: unavailable },
    ...{ changed_since: unavailable, unavailable },
  };
  return byReason[reason];
}
