import { createHash } from 'node:crypto';
import type { Endpoint, FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import {
  type AttoUsd,
  FACTOR_ONE_PPM,
  formatAttoUsd,
  maxBigint,
  minBigint,
  readAttoUsd,
} from '#core/money.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import {
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { type FieldRule, fieldRules } from '../policy/field-rules.ts';
import { contextTokens, modelOutputTokens, reachableOverrides } from '../price/estimate.ts';
import { writeServerTools } from '../server-tools/write-server-tools.ts';
import { leaveOutUntaken } from './fit-to-dialect.ts';

/** The rules of fields that no provider is sent. */
const NEVER_SENT: ReadonlySet<FieldRule['rule'] | undefined> = new Set(['drop', 'leave_out']);

/** What the gateway changes in every body, whatever its format. The rest is the format's own. */
export function commonChanges(
  { body, stream }: CallPlan,
  candidate: Candidate,
  agentId: number,
): MemberChanges {
  const changes = new MemberChanges();
  for (const { key } of body.members) {
    if (NEVER_SENT.has(fieldRules.get(key)?.rule)) changes.set(key, null);
  }
  // Fallbacks are ours to try: one upstream call runs one model at one price.
  changes.set('models', null);
  if (stream) changes.set('stream', 'true');
  if (/^\[\s*\]$/.test(memberText(body, 'tools') ?? '')) changes.set('tools', null);
  writeServerTools(body, candidate, changes);
  writeCallerTags(body, agentId, changes);
  return changes;
}

interface CapFields {
  /** Those of the format. */
  fields: readonly string[];
  ownField: string;
  /** The server heeds `ownField` alone: a cap by another name would be none. */
  onlyOwn: boolean;
  required: boolean;
}

/**
 * The caller's caps, none longer than what the model can write. Without one the model's own is written in, so that no
 * server writes more than was held for; a model without one is bounded by its context.
 */
export function writeOutputCap(
  plan: CallPlan,
  candidate: Candidate,
  { fields, ownField, onlyOwn, required }: CapFields,
  changes: MemberChanges,
): void {
  const whole = modelOutputTokens(candidate);
  const sent = fields.filter((field) => memberText(plan.body, field) !== undefined);
  const caps: number[] = [];
  for (const field of sent) {
    const text = memberText(plan.body, field);
    if (text !== 'null') caps.push(Math.min(Number(text), whole));
    if (text === 'null' || (onlyOwn && field !== ownField)) changes.set(field, null);
    else if (Number(text) > whole) changes.set(field, String(whole));
  }
  const known = candidate.endpoint.maxOutputTokens ?? candidate.model.maxOutputTokens;
  if (caps.length === 0) {
    if (required || known !== null) changes.set(ownField, String(ownCap(plan, candidate, whole)));
  } else if (onlyOwn && sent.some((field) => field !== ownField)) {
    changes.set(ownField, String(Math.min(...caps)));
  }
}

/**
 * Servers refuse a cap that does not fit into the context beside the prompt, so ours leaves room for it: what its
 * bound leaves free, or half of what its estimate does, whichever is more.
 */
function ownCap(plan: CallPlan, candidate: Candidate, whole: number): number {
  const context = contextTokens(candidate);
  const surelyFree = context - plan.promptTokensMax - (candidate.addedTokens ?? 0);
  const likelyFree = Math.floor((context - plan.promptEstimateTokens) / 2);
  return Math.max(1, Math.min(whole, Math.max(surelyFree, likelyFree)));
}

/** Sticky routing and abuse tags are kept per upstream account, which all agents share: each gets its own. */
function writeCallerTags(body: JsonObject, agentId: number, changes: MemberChanges): void {
  for (const field of TAG_FIELDS) {
    const text = memberText(body, field);
    if (text !== undefined && text !== 'null') changes.set(field, callerTag(agentId, text));
  }
  if (memberText(body, 'user') !== undefined) changes.set('user', JSON.stringify(agentTag(agentId)));
}

/** JSON text. Hashed, because some providers take no more than 64 characters. */
export const callerTag = (agentId: number, text: string): string =>
  `"${agentTag(agentId)}-${shortHash(text)}"`;

const TAG_FIELDS = ['session_id', 'prompt_cache_key', 'safety_identifier'] as const;

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Opaque, and the same for one agent at all times. */
function agentTag(agentId: number): string {
  const known = tags.get(agentId);
  if (known !== undefined) return known;
  const tag = shortHash(`faregate agent ${agentId}`);
  if (tags.size >= TAGS_MAX) tags.clear();
  tags.set(agentId, tag);
  return tag;
}

const TAGS_MAX = 10_000;
const tags = new Map<number, string>();

/** A plain server refuses the router's fields, or does not know them. */
export function writePlainModel({ endpoint }: Candidate, changes: MemberChanges): void {
  changes.set('model', JSON.stringify(endpoint.upstreamModel));
  for (const field of ROUTER_FIELDS) changes.set(field, null);
}

const ROUTER_FIELDS = [
  'provider',
  'plugins',
  'transforms',
  'session_id',
  'stop_server_tools_when',
  'max_tool_calls',
];

/** What a server of this dialect is sent otherwise than others. Before anything that asks for usage or effort. */
export function writeDialect(
  format: FormatName,
  { body }: CallPlan,
  { provider }: Candidate,
  agentId: number,
  changes: MemberChanges,
): void {
  const { dialect } = provider;
  leaveOutUntaken(dialect, format, body, changes);
  // Else one agent could tell by its answer's speed what another has asked.
  if (dialect.saltedFormats.includes(format)) changes.set('cache_salt', JSON.stringify(agentTag(agentId)));
}

/** The router's own fields: which endpoint may run the call, at which price. */
export function writeRouterDialect(
  plan: CallPlan,
  candidate: Candidate,
  agentId: number,
  changes: MemberChanges,
): void {
  const suffixes = candidate.suffixes.filter((suffix) => suffix !== FASTEST);
  const id = [candidate.endpoint.upstreamModel, ...suffixes].join(':');
  changes.set('model', JSON.stringify(id));
  changes.set('user', JSON.stringify(agentTag(agentId)));
  changes.set('provider', providerText(plan, candidate));
}

/**
 * The suffix itself also admits endpoints of a dearer tier, which no list of models names. So what it promises is said in
 * the router's other words, which admit none.
 */
const FASTEST = 'nitro';

function providerText(plan: CallPlan, candidate: Candidate): string {
  const { endpoint, suffixes } = candidate;
  const given = memberBytes(plan.body, 'provider');
  // With prices that depend on the prompt, and with images, each call has its own.
  const isOwn =
    given !== undefined ||
    endpoint.prices.overrides.length > 0 ||
    plan.images > 0 ||
    suffixes.includes(FASTEST);
  if (isOwn) return makeProviderText(plan, candidate, given);
  // What most calls send: made once for each endpoint, because decimals of prices are dear to print.
  const known = providerTexts.get(endpoint);
  if (known !== undefined) return known;
  const text = makeProviderText(plan, candidate, undefined);
  providerTexts.set(endpoint, text);
  return text;
}

const providerTexts = new WeakMap<Endpoint, string>();

function makeProviderText(plan: CallPlan, candidate: Candidate, given: Buffer | undefined): string {
  const provider = parseMember(plan.body, 'provider');
  const ceilings = isRecord(provider) && isRecord(provider.max_price) ? provider.max_price : {};
  const changes = new MemberChanges([['max_price', maxPriceText(ceilings, plan, candidate)]]);
  if (candidate.suffixes.includes(FASTEST)) changes.set('sort', '"throughput"');
  const object = given === undefined ? NO_MEMBERS : scanJsonObject(given);
  return rebuildJsonObject(typeof object === 'string' ? NO_MEMBERS : object, changes).toString();
}

const NO_MEMBERS: JsonObject = {
  bytes: Buffer.from('{}'),
  members: [],
  keyCount: 0,
  valueCount: 0,
  hasExponent: false,
  disguisedKey: null,
  hasFoldableKey: false,
};

/**
 * The prices that the hold was made of, as the router's own ceiling, without our margin: an endpoint that is dearer
 * than the hold may not run the call. Dollars per million tokens, per request, per image. A lower ceiling of the
 * caller's counts, which has our margin in it, as the prices have that callers see.
 */
function maxPriceText(
  given: Readonly<Record<string, unknown>>,
  plan: CallPlan,
  candidate: Candidate,
): string {
  const overrides = reachableOverrides(plan, candidate);
  const members = Object.entries(given).map(([key, value]) => [key, JSON.stringify(value)] as const);
  const merged = new Map<string, string>(members);
  for (const unit of ['prompt', 'completion'] as const) {
    const listed = candidate.endpoint.prices[unit];
    const price = overrides.reduce((most, override) => maxBigint(most, override[unit] ?? 0n), listed);
    setCeiling(merged, unit, price * 1_000_000n, given, candidate);
  }
  const { request, image } = candidate.endpoint.prices;
  setCeiling(merged, 'request', request, given, candidate);
  if (plan.images > 0) setCeiling(merged, 'image', image ?? 0n, given, candidate);
  return `{${[...merged].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

function setCeiling(
  merged: Map<string, string>,
  unit: string,
  ours: AttoUsd,
  given: Readonly<Record<string, unknown>>,
  candidate: Candidate,
): void {
  const ceiling = minBigint(ours, readAttoUsd(given[unit]) ?? ours);
  merged.set(unit, formatAttoUsd(withoutMargin(ceiling, candidate)));
}

/** Rounded up: a ceiling below the listed price would leave no endpoint to run the call. */
const withoutMargin = (price: AttoUsd, { provider }: Candidate): AttoUsd =>
  (price * FACTOR_ONE_PPM + provider.priceFactorPpm - 1n) / provider.priceFactorPpm;

export function parseMember(body: JsonObject, key: string): unknown {
  const text = memberText(body, key);
  return text === undefined ? undefined : JSON.parse(text);
}
