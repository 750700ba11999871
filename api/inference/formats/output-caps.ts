import { isRecord } from '#core/is-record.ts';
import type { CallRequest, OutputCap } from './call-format.ts';

/**
 * Reads the members that all formats have. A format that has more of them overrides what is said here.
 *
 * An answer may be as long as its cap or its budget, whichever is larger: with tools a model may reason past its cap, as far as its
 * budget goes. Providers may read either word for a budget, whatever the format.
 *
 * @param capFields Names of the format's own caps; the first one is advised to a caller who sent none, else the last sent.
 */
export function readMembers(request: SharedMembers, capFields: ReadonlySet<string>): CallRequest {
  const outputCaps: OutputCap[] = [];
  for (const field of capFields) addCap(outputCaps, field, request[field]);
  const budgets: OutputCap[] = [];
  const { reasoning, thinking } = request;
  if (isRecord(reasoning)) addCap(budgets, 'reasoning.max_tokens', reasoning.max_tokens);
  if (isRecord(thinking)) addCap(budgets, 'thinking.budget_tokens', thinking.budget_tokens);
  const [firstField = ''] = capFields;
  return {
    model: request.model,
    fallbacks: request.models ?? [],
    stream: request.stream === true,
    showUsage: true,
    showReasoning: true,
    outputTokensCap: outputCaps.length === 0 ? null : Math.max(mostOf(outputCaps), mostOf(budgets)),
    outputCapField: outputCaps.at(-1)?.field ?? firstField,
    outputCaps,
    budgets,
    extraOutputTokens: 0,
    choices: 1,
    hasTools: (request.tools?.length ?? 0) > 0,
  };
}

interface SharedMembers extends Readonly<Record<string, unknown>> {
  model: string;
  models?: readonly string[] | null | undefined;
  stream?: boolean | null | undefined;
  tools?: readonly unknown[] | null | undefined;
}

/** A value that is no number is refused by `field-policy.ts`. */
function addCap(caps: OutputCap[], field: string, value: unknown): void {
  if (typeof value === 'number' && Number.isSafeInteger(value)) caps.push({ field, tokens: value });
}

const mostOf = (caps: readonly OutputCap[]): number =>
  caps.reduce((most, { tokens }) => Math.max(most, tokens), 0);
