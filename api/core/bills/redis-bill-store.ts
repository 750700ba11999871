import type { RedisClient } from '../drivers/redis.ts';
import { type BillAccount, type BillStore, formatMark, parseMark } from './bill-store.ts';

const KEY = 'faregate:bills';
const recordedField = (providerId: string): string => `recorded ${providerId}`;
const markField = ({ name }: BillAccount): string => `mark ${name}`;

/** KEYS[1]: the hash. ARGV: provider, nano-dollars, and so on. All or none, so that a repetition never counts a part twice. */
const ADD = `for i = 1, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end`;

/** ARGV: field, what it was read as ('' for nothing), what it becomes. */
const REPLACE = `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
`;

/** In one hash beside the ledger. When Redis is lost, so are both sides of the comparison: it begins anew. */
export function createRedisBillStore(redis: RedisClient): BillStore {
  return {
    async add(costs) {
      const args = [...costs].flatMap(([id, nanoUsd]) => [recordedField(id), nanoUsd.toString()]);
      await redis.eval(ADD, 1, KEY, ...args);
    },
    async read(account) {
      const fields = account.providerIds.map(recordedField);
      const [stored, ...recorded] = await redis.hmget(KEY, markField(account), ...fields);
      const text = stored ?? '';
      const recordedNanoUsd = recorded.reduce((sum, each) => sum + BigInt(each ?? 0), 0n);
      return { mark: parseMark(text), text, recordedNanoUsd };
    },
    async replace(account, { text }, next) {
      const done = await redis.eval(REPLACE, 1, KEY, markField(account), text, formatMark(next));
      return done === 1;
    },
  };
}
