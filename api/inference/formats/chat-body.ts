import { createHash } from 'node:crypto';
import type { Endpoint } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { type AttoUsd, formatAttoUsd, maxBigint, minBigint, parseAttoUsd } from '#core/money.ts';
import type { CallPlan, Candidate } from '../call-plan.ts';
import { contextTokens, modelOutputTokens, reachableOverrides } from '../estimate.ts';
import {
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import { chatFieldRules } from './chat-fields.ts';

/**
 * The body that goes upstream: every field that decides price or policy is written by us from what we parsed,
 * every other byte passes as sent.
 */
export function buildChatBody(plan: CallPlan, candidate: Candidate, agentId: number): Buffer {
  const { body } = plan;
  const changes = new MemberChanges();
  for (const { key } of body.members) {
    if (chatFieldRules.get(key)?.rule === 'drop') changes.set(key, null);
  }
  // Fallbacks are ours to try: one upstream call runs one model at one price.
  changes.set('models', null);
  if (/^\[\s*\]$/.test(memberText(body, 'tools') ?? '')) changes.set('tools', null);
  writeOutputCap(plan, candidate, changes);
  writeStreamOptions(plan, changes);
  writeCallerTags(body, agentId, changes);
  if (candidate.provider.kind === 'openai') writePlainDialect(body, candidate, changes);
  else writeRouterDialect(plan, candidate, agentId, changes);
  return rebuildJsonObject(body, changes);
}

const CAP_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;

/**
 * Without a cap of the caller's the model's own is written in, so that no server writes more than was held for.
 * A model without one is bounded by its context.
 */
function writeOutputCap(plan: CallPlan, candidate: Candidate, changes: MemberChanges): void {
  const whole = modelOutputTokens(candidate);
  let capped = false;
  for (const field of CAP_FIELDS) {
    const text = memberText(plan.body, field);
    if (text === undefined) continue;
    const cap = Number(text);
    if (text === 'null') changes.set(field, null);
    else capped = true;
    if (cap > whole) changes.set(field, String(whole));
  }
  const known = candidate.endpoint.maxOutputTokens ?? candidate.model.maxOutputTokens;
  if (capped || known === null) return;
  const field = candidate.provider.kind === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  changes.set(field, String(ownCap(plan, candidate, whole)));
}

/**
 * Servers refuse a cap that does not fit into the context beside the prompt, so ours leaves room for it: what its
 * bound leaves free, or half of what its estimate does, whichever is more.
 */
function ownCap(plan: CallPlan, candidate: Candidate, whole: number): number {
  const context = contextTokens(candidate);
  const surelyFree = context - plan.promptTokensMax;
  const likelyFree = Math.floor((context - plan.promptEstimateTokens) / 2);
  return Math.max(1, Math.min(whole, Math.max(surelyFree, likelyFree)));
}

/** Usage is always asked for: it is what the call is charged by. */
function writeStreamOptions(plan: CallPlan, changes: MemberChanges): void {
  if (!plan.stream) {
    changes.set('stream_options', null);
    return;
  }
  const given = memberBytes(plan.body, 'stream_options');
  const object = given === undefined ? 'not_an_object' : scanJsonObject(given);
  changes.set(
    'stream_options',
    typeof object === 'string'
      ? '{"include_usage":true}'
      : rebuildJsonObject(object, new MemberChanges([['include_usage', 'true']])).toString(),
  );
}

/** Sticky routing and abuse tags are kept per upstream account, which all agents share: each gets its own. */
function writeCallerTags(body: JsonObject, agentId: number, changes: MemberChanges): void {
  for (const field of TAG_FIELDS) {
    const text = memberText(body, field);
    // Hashed, because some providers take no more than 64 characters.
    if (text !== undefined && text !== 'null')
      changes.set(field, `"${agentTag(agentId)}-${shortHash(text)}"`);
  }
  if (memberText(body, 'user') !== undefined) changes.set('user', JSON.stringify(agentTag(agentId)));
}

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

/** Fields of the router's dialect that a plain OpenAI-compatible server refuses or does not know. */
const ROUTER_FIELDS = ['provider', 'plugins', 'transforms', 'session_id'];

function writePlainDialect(body: JsonObject, candidate: Candidate, changes: MemberChanges): void {
  changes.set('model', JSON.stringify(candidate.endpoint.upstreamModel));
  for (const field of ROUTER_FIELDS) changes.set(field, null);
  const reasoning = parseMember(body, 'reasoning');
  if (reasoning === undefined) return;
  changes.set('reasoning', null);
  if (isRecord(reasoning) && typeof reasoning.effort === 'string' && !memberText(body, 'reasoning_effort')) {
    changes.set('reasoning_effort', JSON.stringify(reasoning.effort));
  }
}

function writeRouterDialect(
  plan: CallPlan,
  candidate: Candidate,
  agentId: number,
  changes: MemberChanges,
): void {
  const id = [candidate.endpoint.upstreamModel, ...candidate.suffixes].join(':');
  changes.set('model', JSON.stringify(id));
  changes.set('user', JSON.stringify(agentTag(agentId)));
  const given = memberBytes(plan.body, 'provider');
  changes.set(
    'provider',
    given === undefined ? ownProviderText(plan, candidate) : mergedProviderText(plan, given, candidate),
  );
}

/** What most calls send: made once for each endpoint, because decimals of prices are dear to print. */
function ownProviderText(plan: CallPlan, candidate: Candidate): string {
  // With prices that depend on the prompt, and with pictures, each call has its own.
  if (candidate.endpoint.prices.overrides.length > 0 || plan.images > 0) {
    return `{"max_price":${maxPriceText({}, plan, candidate)}}`;
  }
  const known = providerTexts.get(candidate.endpoint);
  if (known !== undefined) return known;
  const text = `{"max_price":${maxPriceText({}, plan, candidate)}}`;
  providerTexts.set(candidate.endpoint, text);
  return text;
}

const providerTexts = new WeakMap<Endpoint, string>();

function mergedProviderText(plan: CallPlan, given: Buffer, candidate: Candidate): string {
  const object = scanJsonObject(given);
  const provider = parseMember(plan.body, 'provider');
  const ceilings = isRecord(provider) && isRecord(provider.max_price) ? provider.max_price : {};
  const maxPrice = maxPriceText(ceilings, plan, candidate);
  if (typeof object === 'string') return `{"max_price":${maxPrice}}`;
  return rebuildJsonObject(object, new MemberChanges([['max_price', maxPrice]])).toString();
}

/**
 * The prices that the hold was made of, as the router's own ceiling, without our margin: an endpoint that is dearer
 * than the hold may not run the call. Dollars per million tokens, per request, per picture. A lower ceiling of the
 * caller's stays.
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
    setCeiling(merged, unit, withoutMargin(price, candidate) * 1_000_000n, given);
  }
  const { request, image } = candidate.endpoint.prices;
  setCeiling(merged, 'request', withoutMargin(request, candidate), given);
  if (plan.images > 0) setCeiling(merged, 'image', withoutMargin(image ?? 0n, candidate), given);
  return `{${[...merged].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

/** `null`: no ceiling at all, whatever a provider would make of it. */
const readCeiling = (value: unknown): AttoUsd | null =>
  typeof value === 'number' || typeof value === 'string' ? parseAttoUsd(String(value)) : null;

function setCeiling(
  merged: Map<string, string>,
  unit: string,
  ours: AttoUsd,
  given: Readonly<Record<string, unknown>>,
): void {
  merged.set(unit, formatAttoUsd(minBigint(ours, readCeiling(given[unit]) ?? ours)));
}

/** Rounded up: a ceiling below the listed price would leave no endpoint to run the call. */
const withoutMargin = (price: AttoUsd, { provider }: Candidate): AttoUsd =>
  (price * 1_000_000n + provider.priceFactorPpm - 1n) / provider.priceFactorPpm;

function parseMember(body: JsonObject, key: string): unknown {
  const text = memberText(body, key);
  return text === undefined ? undefined : JSON.parse(text);
}
