import { splitJsonList } from '../json-list.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import type { StreamUsage } from '../usage.ts';
import { looksLikeObject, objectIn, presentMember, USAGE_NEEDLE } from './stream-text.ts';

/** One vendor counts once more in the last event of a stream, under its own name. */
const INVOCATION_METRICS = 'amazon-bedrock-invocationMetrics';

/**
 * Every usage record of an answer or of one event, the outermost last: where two of them say something, that one counts. Vendors put
 * records into a member of their own (`x_groq`), a choice, its `delta`, or beside the object that they belong to.
 *
 * @param scanned A member that was scanned before, and may be long.
 */
export function usageRecordsIn(object: JsonObject, scanned?: ScannedHolder): Buffer[] {
  const records: Buffer[] = [];
  if (object.bytes.indexOf(USAGE_NEEDLE) >= 0) {
    for (const choice of choicesOf(object)) {
      if (typeof choice !== 'string') records.push(...recordsOfHolders(choice), ...recordOf(choice));
    }
    records.push(...recordsOfHolders(object, scanned));
  }
  for (const name of OWN_NAMES) {
    const record = presentMember(object, name);
    if (record !== null) records.push(record);
  }
  return records;
}

/**
 * What cuts every record out of a chunk or a whole answer of a chat: a caller gets one record of ours at the end, or asked for none.
 */
export function withoutUsage(object: JsonObject): MemberChanges {
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

/** What cuts out an object's own record and those one level below it. Empty where there is none. */
export function cutRecords(object: JsonObject, scanned?: ScannedHolder): MemberChanges {
  const changes = new MemberChanges();
  for (const name of OWN_NAMES) if (memberBytes(object, name) !== undefined) changes.set(name, null);
  for (const [name, holder] of holdersIn(object, scanned)) {
    if (memberBytes(holder, 'usage') !== undefined)
      changes.set(name, rebuildJsonObject(holder, new MemberChanges([['usage', null]])));
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

const OWN_NAMES = [INVOCATION_METRICS, 'usage'];

const recordsOfHolders = (object: JsonObject, scanned?: ScannedHolder): Buffer[] =>
  holdersIn(object, scanned).flatMap(([, holder]) => recordOf(holder));

function recordOf(holder: JsonObject): Buffer[] {
  const record = objectIn(holder, 'usage');
  return record === null ? [] : [record.bytes];
}

function holdersIn(object: JsonObject, scanned?: ScannedHolder): ScannedHolder[] {
  return object.members.flatMap(({ key }) => {
    if (key === scanned?.[0]) return [scanned];
    const holder = HOLDERS.has(key) || VENDOR_MEMBER.test(key) ? objectIn(object, key) : null;
    return holder === null ? [] : [[key, holder] as const];
  });
}

const HOLDERS: ReadonlySet<string> = new Set(['delta', 'message', 'response']);
const VENDOR_MEMBER = /^x_\w{1,40}$/;

/** Empty where no record stands in a choice. A choice that is no object stays text. */
function choicesOf(object: JsonObject): (JsonObject | string)[] {
  const choices = memberBytes(object, 'choices');
  if (choices === undefined || choices.indexOf(USAGE_NEEDLE) < 0) return [];
  return (splitJsonList(choices.toString('utf8')) ?? []).map((choice) => {
    const scanned = scanJsonObject(Buffer.from(choice), answerBounds);
    return typeof scanned === 'string' ? choice : scanned;
  });
}
