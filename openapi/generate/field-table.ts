import type { Catalog, FormatName, Model, Prices, Provider } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { systemClock } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { runAtOnce } from '#core/steps.ts';
import { type ApiError, isApiError } from '../../api/contract/errors.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { imagesToInline } from '../../api/inference/linked-images/inline-images.ts';
import { createEndpointHealth } from '../../api/inference/routing/endpoint-health.ts';
import { DIALECT_NAMES, dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { type KnownField, knownFields, plainRequest } from './field-rows.ts';
import { markdownTable } from './markdown-table.ts';

/*
 * The table of what becomes of each field at each kind of provider, as the code decides it: every cell is a request with the field in it, which
 * is admitted, and whose body for the provider is compared with that of the same request without it.
 */

export type Fate = 'passed' | 'translated' | 'by the gateway' | 'left out' | 'refused';

/** A kind of provider, as the table names it. */
export interface Target {
  name: string;
  kind: keyof typeof providerKinds;
  dialect: Dialect;
  formats: readonly FormatName[];
}

const ALL: readonly FormatName[] = ['chat', 'responses', 'messages'];

/** The kinds of providers, as columns. */
export const targets: readonly Target[] = [
  { name: 'a router', kind: 'openrouter', dialect: dialects.other, formats: ALL },
  { name: 'a server of all three formats', kind: 'openai', dialect: dialects.other, formats: ALL },
  { name: 'your own server of all three', kind: 'openai', dialect: dialects['self-hosted'], formats: ALL },
  { name: 'a server of chat alone', kind: 'openai', dialect: dialects.other, formats: ['chat'] },
  { name: 'Anthropic, the newest Claude', kind: 'anthropic', dialect: dialects.other, formats: ['messages'] },
];

const noPrices: Prices = {
  ...{ prompt: 1n, completion: 1n, request: 0n, cacheRead: null, cacheWrite: null, cacheWrite1h: null },
  ...{ internalReasoning: null, image: null, webSearch: 10_000_000n, overrides: [] },
};

/** One model at one provider of this kind. */
function catalogOf({ kind, dialect, formats }: Target): Catalog {
  const provider: Provider = {
    ...{ id: 'p', kind: providerKinds[kind], formats, dialect, cancel: 'stops_billing', apiKey: null },
    ...{ baseUrl: 'http://127.0.0.1:1/v1', settings: {}, priceFactorPpm: 1_000_000n, stopped: false },
  };
  const endpoint = { providerId: 'p', upstreamModel: 'claude-opus-5-5', prices: noPrices };
  const model: Model = {
    ...{ id: 'm', name: 'M', contextLength: 100_000, maxOutputTokens: 4_000 },
    inputModalities: ['text', 'image', 'file'],
    ...{ createdAtMs: null, about: null },
    endpoints: [{ ...endpoint, contextLength: null, maxOutputTokens: null }],
  };
  return {
    find: () => ({ status: 'served', model }),
    models: () => [model],
    findVideoModel: () => ({ status: 'unknown', nearest: [] }),
    videoModels: () => [],
    findImageModel: () => ({ status: 'unknown', nearest: [] }),
    imageModels: () => [],
    provider: () => provider,
    providers: () => [provider],
    gatewayStopped: () => false,
  };
}

const health = createEndpointHealth({
  clock: systemClock,
  probe: null,
  log: { info() {}, warn() {}, error() {} },
  current: () => undefined,
});

/** How a request fares at a provider of a kind. */
interface Asked {
  sent: Record<string, unknown>;
  /** The names of what it is not sent. */
  leftOut: readonly string[];
  hints: readonly string[];
  /** Whether images are sent in the places of their links. */
  inlines: boolean;
}

export function askTarget(format: FormatName, body: object, target: Target): Asked | ApiError {
  const links = { ownerOf: () => FOREIGN, linksMax: 1 };
  const routes = { catalog: catalogOf(target), health, links, betas: BETAS };
  const admitted = admitCall(callFormats[format], Buffer.from(JSON.stringify(body)), 'active', routes);
  if (!admitted.ok) return admitted.error;
  const { plan } = admitted;
  const [candidate] = plan.candidates;
  if (candidate === undefined) throw new Error('A plan has no candidate.');
  const asked = { ...plan, body: candidate.translated ?? plan.body };
  const sent = JSON.parse(runAtOnce(candidate.format.buildBody(asked, candidate, 1)).toString());
  const inlines = imagesToInline(candidate.provider, plan.linkedImages).length > 0;
  return { sent, leftOut: candidate.leftOut, hints: candidate.hints, inlines };
}

const FOREIGN = { kind: 'foreign' } as const;
/** A caller switches on those that a field needs. */
const BETAS = 'context-management-2025-06-27,task-budgets-2026-03-13';

export function fateOf(format: FormatName, known: KnownField, target: Target): Fate {
  const { name, sample, path = name, plain } = known;
  const asked = askTarget(format, { ...plainRequest[format], ...sample }, target);
  if (isApiError(asked)) return 'refused';
  // A thing in a field is left out as a whole, and of a field a part may be.
  const isLeftOut = (each: string): boolean =>
    plain === undefined ? isWithin(each, path) : isWithin(path, each);
  if ([...asked.leftOut, ...asked.hints].some(isLeftOut)) return 'left out';
  const [top = ''] = path.split(/[.[]/);
  const others = { ...plainRequest[format], ...(plain ?? { [top]: undefined }) };
  const without = askTarget(format, others, target);
  if (!isApiError(without) && JSON.stringify(without.sent) === JSON.stringify(asked.sent))
    return 'by the gateway';
  return isPassed(asked.sent, known) && !asked.inlines ? 'passed' : 'translated';
}

/** Whether what a provider is sent has it where and how the caller wrote it. */
export const isPassed = (sent: unknown, { name, sample, path = name }: KnownField): boolean =>
  JSON.stringify(valueAt(sent, path)) === JSON.stringify(valueAt(sample, path));

/** Whether a name is that of the field, or of a part of it. */
const isWithin = (name: string, field: string): boolean =>
  name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`);

/** `messages[0].content` in an object; `undefined`: there is no such place. */
const valueAt = (value: unknown, path: string): unknown =>
  path
    .replaceAll(']', '')
    .split(/[.[]/)
    .reduce<unknown>(
      (inside, name) => (isRecord(inside) || Array.isArray(inside) ? Reflect.get(inside, name) : undefined),
      value,
    );

/** A field, and what becomes of it in each column. */
interface FieldRow {
  title: string;
  fates: readonly Fate[];
}

const rowsOf = (format: FormatName, columns: readonly Target[]): FieldRow[] =>
  knownFields[format].map((known) => ({
    title: titleOf(known),
    fates: columns.map((target) => fateOf(format, known, target)),
  }));

const fieldTable = (format: FormatName): string =>
  markdownTable(['fields', ...targets.map(({ name }) => name)], joinAlike(rowsOf(format, targets)));

/** Fields that fare alike everywhere have one row, in the place of the first of them. */
function joinAlike(rows: readonly FieldRow[]): string[][] {
  const joined = new Map<string, { titles: string[]; fates: readonly Fate[] }>();
  for (const { title, fates } of rows) {
    const key = fates.join();
    const row = joined.get(key) ?? { titles: [], fates };
    row.titles.push(title);
    joined.set(key, row);
  }
  return [...joined.values()].map(({ titles, fates }) => [titles.join(', '), ...fates]);
}

/** Names of fields are code, and things in words are not. */
const titleOf = ({ name }: KnownField): string => (/^an? /.test(name) ? name : `\`${name}\``);

/** Servers of the chat format, by their dialect: the fields that not all of them are sent alike. */
export function dialectFields(): string {
  const servers = DIALECT_NAMES.map(
    (name): Target => ({ name, kind: 'openai', dialect: dialects[name], formats: ['chat'] }),
  );
  const differing = rowsOf('chat', servers).filter(({ fates }) => new Set(fates).size > 1);
  return markdownTable(['fields', ...DIALECT_NAMES.map((name) => `\`${name}\``)], joinAlike(differing));
}

export const chatFields = (): string => fieldTable('chat');
export const responsesFields = (): string => fieldTable('responses');
export const messagesFields = (): string => fieldTable('messages');
