import { splitJsonList } from '../json/json-list.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { type SentUsage, StreamUsage, usageOfAnswer } from '../price/usage.ts';
import type { UsageReading } from '../price/usage-counters.ts';
import type { GoodAnswer } from './call-format.ts';
import { looksLikeObject, METRICS_NEEDLE, objectIn, presentMember, USAGE_NEEDLE } from './stream-text.ts';

/**
 * Every usage record of an answer or of one event, the outermost last: where two of them say something, that one counts. Vendors put
 * records into a member of their own (`x_groq`), a choice, its `delta`, or beside the object that they belong to.
 *
 * @param scanned A member that was scanned before, and may be long.
 */
export function usageRecordsIn(object: JsonObject, scanned?: ScannedHolder): Buffer[] {
  if (!hasOtherRecords(object)) {
    const own = presentMember(object, 'usage');
    return own === null ? [] : [own];
  }
  const records: Buffer[] = [];
  for (const choice of choicesOf(object)) {
    if (typeof choice !== 'string') records.push(...recordsWithin(choice, HOLDER_DEPTH_MAX));
  }
  records.push(...recordsWithin(object, HOLDER_DEPTH_MAX, scanned));
  return records;
}

/** Reads the records of a whole answer together, because the same records cost the same in a stream. */
export function recordsOfAnswer(
  answer: JsonObject,
  reading: UsageReading,
): Pick<GoodAnswer, 'sent' | 'hasOtherRecords'> {
  const others = hasOtherRecords(answer);
  return { sent: usageInAnswer(answer, reading, others), hasOtherRecords: others };
}

/** `null`: the answer has no object there. */
function usageInAnswer(answer: JsonObject, reading: UsageReading, hasOthers: boolean): SentUsage | null {
  const own = usageOfAnswer(answer, reading);
  if (!hasOthers) return own;
  const records = usageRecordsIn(answer);
  if (records.length === 0 || (records.length === 1 && own !== null)) return own;
  const together = new StreamUsage(reading);
  for (const record of records) together.add(record);
  return together.together;
}

/**
 * The changes that cut every record out of a chunk or a whole answer of a chat: a caller gets one record of ours at the end, or
 * asked for none.
 */
export function withoutUsage(object: JsonObject): MemberChanges {
  if (namesOnlyOwnRecord(object)) return ownRecordCut();
  const changes = cutRecords(object);
  const choices = choicesOf(object);
  let isChanged = false;
  const shown = choices.map((choice) => {
    if (typeof choice === 'string') return choice;
    const cut = cutRecords(choice);
    if (cut.keys.length > 0) isChanged = true;
    return rebuildJsonObject(choice, cut).toString('utf8');
  });
  if (isChanged) changes.set('choices', `[${shown.join(',')}]`);
  return changes;
}

/** The changes that cut out an object's own record and those below it. Empty where there is none. */
export function cutRecords(object: JsonObject, scanned?: ScannedHolder): MemberChanges {
  if (namesOnlyOwnRecord(object)) return ownRecordCut();
  return mayHoldRecord(object.bytes) ? cutWithin(object, HOLDER_DEPTH_MAX, scanned) : new MemberChanges();
}

const ownRecordCut = (): MemberChanges => new MemberChanges([['usage', null]]);

/** Changes of a whole answer that leave no record but the one that they write, in its own place. */
export function withOneRecord(
  { answer, hasOtherRecords }: Pick<GoodAnswer, 'answer' | 'hasOtherRecords'>,
  shown: MemberChanges,
  cut = cutRecords,
): MemberChanges {
  if (!hasOtherRecords) return shown;
  const changes = cut(answer);
  changes.add(shown);
  return changes;
}

function cutWithin(object: JsonObject, depth: number, scanned?: ScannedHolder): MemberChanges {
  const changes = new MemberChanges();
  for (const name of OWN_NAMES) if (memberBytes(object, name) !== undefined) changes.set(name, null);
  if (depth === 0) return changes;
  for (const [name, holder] of holdersIn(object, scanned)) {
    const cut = cutWithin(holder, depth - 1);
    if (cut.keys.length > 0) changes.set(name, rebuildJsonObject(holder, cut));
  }
  return changes;
}

/** Counts an event that came behind the end mark of its stream. Nothing of it is shown. */
export function addLateRecords(records: StreamUsage, data: Buffer): void {
  const object = looksLikeObject(data) ? scanJsonObject(data, answerBounds) : 'not_an_object';
  if (typeof object === 'string') return;
  for (const record of usageRecordsIn(object)) records.addFinal(record);
}

export type ScannedHolder = readonly [name: string, holder: JsonObject];

/** One vendor counts once more in the last event of a stream, under its own name. */
const OWN_NAMES = ['amazon-bedrock-invocationMetrics', 'usage'];
/** A member of the vendor's in a message or a response, which is in an event. */
const HOLDER_DEPTH_MAX = 2;

/** False where no record can stand, told by the bytes alone. */
export const mayHoldRecord = (bytes: Buffer): boolean =>
  bytes.indexOf(USAGE_NEEDLE) >= 0 || bytes.indexOf(METRICS_NEEDLE) >= 0;

/** Whether a record may stand in another place than the object's own `usage`. Most objects have none. */
const hasOtherRecords = (object: JsonObject): boolean =>
  !namesOnlyOwnRecord(object) && mayHoldRecord(object.bytes);

function namesOnlyOwnRecord({ bytes, members, disguisedKey }: JsonObject): boolean {
  const nameAt = bytes.indexOf(USAGE_NEEDLE);
  if (nameAt < 0) return false;
  const isOnce = bytes.indexOf(USAGE_NEEDLE, nameAt + 1) < 0 && bytes.indexOf(METRICS_NEEDLE) < 0;
  return isOnce && disguisedKey === null && members.some(({ startsAt }) => startsAt + 1 === nameAt);
}

function recordsWithin(object: JsonObject, depth: number, scanned?: ScannedHolder): Buffer[] {
  const holders = depth === 0 ? [] : holdersIn(object, scanned);
  const records = holders.flatMap(([, holder]) => recordsWithin(holder, depth - 1));
  for (const name of OWN_NAMES) {
    const record = presentMember(object, name);
    if (record !== null) records.push(record);
  }
  return records;
}

function holdersIn(object: JsonObject, scanned?: ScannedHolder): ScannedHolder[] {
  return object.members.flatMap(({ key, valueStartsAt, endsAt }) => {
    const isHolder = HOLDERS.has(key) || VENDOR_MEMBER.test(key);
    if (!isHolder || !mayHoldRecord(object.bytes.subarray(valueStartsAt, endsAt))) return [];
    if (key === scanned?.[0]) return [scanned];
    const holder = objectIn(object, key);
    return holder === null ? [] : [[key, holder] as const];
  });
}

const HOLDERS: ReadonlySet<string> = new Set(['delta', 'message', 'response']);
const VENDOR_MEMBER = /^x_\w{1,40}$/;

/** Empty where no record stands in a choice. A choice that is no object stays text. */
function choicesOf(object: JsonObject): (JsonObject | string)[] {
  const choices = memberBytes(object, 'choices');
  if (choices === undefined || !mayHoldRecord(choices)) return [];
  return (splitJsonList(choices.toString('utf8')) ?? []).map((choice) => {
    const scanned = scanJsonObject(Buffer.from(choice), answerBounds);
    return typeof scanned === 'string' ? choice : scanned;
  });
}
