import type { Conversation } from '#core/conversation/conversation.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';
import type { ClaudeLimits } from './claude-limits.ts';

interface SamplingFields {
  temperature: number | undefined;
  top_p: number | undefined;
  top_k: number | undefined;
}

/**
 * The sampling fields that a model is sent. Those that it does not take are named where they ask for something: a default asks for
 * what happens anyway.
 */
export function writeSampling(
  { temperature, topP, topK }: Pick<Conversation, 'temperature' | 'topP' | 'topK'>,
  limits: ClaudeLimits | null,
  thinks: boolean,
  unsupported: UnsupportedFields,
): SamplingFields {
  const takes = limits?.sampling ?? null;
  const fields: SamplingFields = {
    // The scale of this format ends at 1, where that of other formats ends at 2.
    temperature: temperature === null ? undefined : Math.min(temperature, TEMPERATURE_MAX),
    top_p: topP ?? undefined,
    top_k: topK ?? undefined,
  };
  if (takes === null) return fields;
  const asksTemperature = temperature !== null && temperature !== TEMPERATURE_DEFAULT;
  const asksTopP = topP !== null && topP !== TOP_P_DEFAULT;
  const asksTopK = topK !== null && topK > 0;
  const leaveOut = (name: keyof SamplingFields, asks: boolean): void => {
    fields[name] = undefined;
    if (asks) unsupported.leaveOut(name);
  };
  if (takes === 'none' || (thinks && fields.temperature !== TEMPERATURE_DEFAULT))
    leaveOut('temperature', asksTemperature);
  if (takes === 'none' || thinks) leaveOut('top_k', asksTopK);
  if (takes === 'none' || (thinks && topP !== null && topP < THINKING_TOP_P_MIN)) leaveOut('top_p', asksTopP);
  if (takes !== 'one' || fields.temperature === undefined || fields.top_p === undefined) return fields;
  // The one that asks for something is sent, and of two such the temperature.
  if (asksTopP && !asksTemperature) leaveOut('temperature', false);
  else leaveOut('top_p', asksTopP);
  return fields;
}

const TEMPERATURE_MAX = 1;
const TEMPERATURE_DEFAULT = 1;
const TOP_P_DEFAULT = 1;
const THINKING_TOP_P_MIN = 0.95;
