import { createHmac, randomBytes } from 'node:crypto';
import { isRecord } from '#core/is-record.ts';
import { parseRecord } from '../json/parse-record.ts';
import { type AnswerPlace, type PlaceName, placeOf } from './answer-places.ts';
import { mayTellHidden, tellsFound, tellsHidden, tellsOwn } from './hidden-forms.ts';
import type { Hidden } from './scrub-words.ts';

type Members = Record<string, unknown>;

/**
 * An answer, or one event of it, without the members beside its content that repeat the provider's key, its address or its name of the
 * model. Servers write their host, their file of the model or the parameters of the call there, under names that no list has all of. An
 * answer without any is the same buffer, and is searched for the words alone, not parsed.
 */
export function withoutHiddenMembers(record: Buffer, hidden: Hidden): Buffer {
  if (!mayTellHidden(record, hidden)) return record;
  const value = parseRecord(record);
  return value !== null && cleanRecord(value, 'answer', hidden) ? Buffer.from(JSON.stringify(value)) : record;
}

/** @returns Whether anything was changed. */
function cleanRecord(record: Members, placeName: PlaceName, hidden: Hidden): boolean {
  const place = placeOf(placeName, record);
  let isChanged = false;
  for (const [name, value] of Object.entries(record)) {
    const part = typeof value === 'object' && value !== null ? place.parts[name] : undefined;
    if (part !== undefined) {
      const changes = (Array.isArray(value) ? value : [value]).map(
        (each) => isRecord(each) && !JSON.isRawJSON(each) && cleanRecord(each, part, hidden),
      );
      isChanged ||= changes.includes(true);
    } else if (mustHide(name, value, place, hidden)) {
      isChanged = true;
      hide(name, record, hidden);
    }
  }
  return isChanged;
}

function mustHide(name: string, value: unknown, place: AnswerPlace, hidden: Hidden): boolean {
  if (INTERNAL.has(name)) return true;
  if (place.written.has(name) || (FORMAT_WORDS.has(name) && isFormatWord(value))) return false;
  const json = JSON.stringify(value);
  if (place.echoed.has(name)) return tellsOwn(json, hidden);
  return place.found.has(name) ? tellsFound(json, hidden) : tellsHidden(json, hidden);
}

function hide(name: string, record: Members, { publicModel }: Hidden): void {
  const value = record[name];
  if (typeof value === 'string' && IDS.has(name)) record[name] = ownId(value);
  else if (name === 'status') record[name] = 'completed';
  else if (name === 'finish_reason') record[name] = 'stop';
  else if (name === 'model' && (record.type !== undefined || record.choices !== undefined))
    record[name] = publicModel;
  else delete record[name];
}

/** The same id in each event. Its beginning stays, because servers that are sent an id back ask how it begins. */
function ownId(id: string): string {
  const digest = createHmac('sha256', SALT).update(id).digest('hex').slice(0, ID_CHARS);
  return `${/^[a-z]{2,6}_/.exec(id)?.[0] ?? 'call_'}${digest}`;
}

const SALT = randomBytes(32);
const ID_CHARS = 24;
const IDS: ReadonlySet<string> = new Set([
  'id',
  'call_id',
  'item_id',
  'response_id',
  'tool_call_id',
  'tool_use_id',
]);

/** Members that say what a part is. A short host or model may have the name of one. */
const FORMAT_WORDS: ReadonlySet<string> = new Set(['finish_reason', 'object', 'role', 'type']);
const isFormatWord = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:[a-z_]{0,60}|(?:chat|response)\.[a-z_.]{1,60})$/.test(value);

/** Members that servers write for other servers of the operator: where they run, and what a proxy was configured with. */
const INTERNAL: ReadonlySet<string> = new Set(['kv_transfer_params', '_hidden_params']);
