import type { Tool } from './tool.ts';
import { createKey } from './tools/create-key.ts';
import { createUpload } from './tools/create-upload.ts';
import { getBalance } from './tools/get-balance.ts';
import { getLimits } from './tools/get-limits.ts';
import { getUsage } from './tools/get-usage.ts';
import { listCalls } from './tools/list-calls.ts';
import { listKeys } from './tools/list-keys.ts';
import { revokeKey } from './tools/revoke-key.ts';
import { updateKey } from './tools/update-key.ts';

/** Stands in the spec's order, and is the same for every caller. */
export const tools: readonly Tool[] = [
  getBalance,
  getLimits,
  getUsage,
  listCalls,
  listKeys,
  createKey,
  updateKey,
  revokeKey,
  createUpload,
];
