import { isRecord } from '#core/is-record.ts';
import type { CallRequest, OutputCap } from './call-format.ts';

/** Reads the members that all formats have. A format that has more of them overrides what is said here. */
export const readMembers = (request: SharedMembers, capFields: ReadonlySet<string>): CallRequest => ({
  model: request.model,
  fallbacks: request.models ?? [],
  stream: request.stream === true,
  showUsage: true,
  showReasoning: true,
  ...readOutputCaps(request, [...capFields]),
  extraOutputTokens: 0,
  choices: 1,
  hasTools: (request.tools?.length ?? 0) > 0,
});

interface SharedMembers extends Readonly<Record<string, unknown>> {
  model: string;
  models?: readonly string[] | null | undefined;
  stream?: boolean | null | undefined;
  tools?: readonly unknown[] | null | undefined;
}

type Caps = Pick<CallRequest, 'outputTokensCap' | 'outputCapField' | 'outputCaps' | 'budgets'>;

/**
 * What bounds the length of an answer. With tools a model may reason past its cap, as far as its budget goes, so the larger
 * of the two counts. Either word for a budget may be read by a provider, whatever the format.
 *
 * @param fields Names of the format's own caps; the first one is advised to a caller who sent none, else the last sent.
 */
function readOutputCaps(request: Readonly<Record<string, unknown>>, fields: readonly string[]): Caps {
  const outputCaps = fields.flatMap((field) => capAt(field, request[field]));
  const { reasoning, thinking } = request;
  const budgets = [
    ...(isRecord(reasoning) ? capAt('reasoning.max_tokens', reasoning.max_tokens) : []),
    ...(isRecord(thinking) ? capAt('thinking.budget_tokens', thinking.budget_tokens) : []),
  ];
  const most = Math.max(0, ...[...outputCaps, ...budgets].map(({ tokens }) => tokens));
  return {
    outputTokensCap: outputCaps.length === 0 ? null : most,
    outputCapField: outputCaps.at(-1)?.field ?? fields[0] ?? '',
    outputCaps,
    budgets,
  };
}

/** A value that is no number is refused by `field-policy.ts`. */
const capAt = (field: string, value: unknown): OutputCap[] =>
  typeof value === 'number' && Number.isSafeInteger(value) ? [{ field, tokens: value }] : [];
