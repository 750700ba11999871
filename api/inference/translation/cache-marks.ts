import type { Cached } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';

/*
 * `cache_control` stands at the same places in all three formats, as routers have it: at a part, a message, a tool, or a result.
 */

/** The mark of a thing; none where its type is not known. Members that need a beta of their own are left out. */
export function cacheOf({ cache_control: mark }: Readonly<Record<string, unknown>>): Cached {
  if (!isRecord(mark) || mark.type !== 'ephemeral') return {};
  return { cache: { ttl: typeof mark.ttl === 'string' ? mark.ttl : null } };
}

/** The same in a body. */
export function writeCache({ cache }: Cached): { cache_control?: object } {
  if (cache === undefined) return {};
  return { cache_control: { type: 'ephemeral', ...(cache.ttl === null ? {} : { ttl: cache.ttl }) } };
}

/** A message's own mark is that of its last part. */
export function markLast<Part extends Cached>(parts: readonly Part[], { cache }: Cached): readonly Part[] {
  const last = parts.at(-1);
  if (cache === undefined || last === undefined || last.cache !== undefined) return parts;
  return [...parts.slice(0, -1), { ...last, cache }];
}
