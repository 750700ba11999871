import type { Conversation } from '#core/conversation/conversation.ts';
import { type ClaudeVersion, claudeVersion, isNewer } from '../formats/reasoning-words.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';

/*
 * Claude answers 400 to sampling fields that other models of the messages format take. Its vendor's pages on extended thinking and on the
 * migration to Opus 4.1, 4.7 and Sonnet 5 name the versions. The answers to each case stand in public reports: BerriAI/litellm#15097
 * (temperature with top_p), BerriAI/litellm#26444 and promptfoo/promptfoo#9500 (none of the three), MartialBE/one-hub#529 (temperature
 * with thinking), can1357/oh-my-pi#341 (forced tools with thinking).
 */

/** Which sampling fields a model takes: all, `temperature` or `top_p` but not both, or none but the defaults. */
export type Sampling = 'all' | 'one' | 'none';

/** The last version to which each line applies, the oldest first. */
const CLAUDE: readonly { upTo: ClaudeVersion; takes: Sampling }[] = [
  { upTo: { major: 4, minor: 0 }, takes: 'all' },
  { upTo: { major: 4, minor: 6 }, takes: 'one' },
  { upTo: { major: Number.POSITIVE_INFINITY, minor: 0 }, takes: 'none' },
];

/** @returns `null`: another vendor's model, of which no limits are known. */
export function claudeSampling(upstreamModel: string): Sampling | null {
  const version = claudeVersion(upstreamModel);
  if (version === null) return null;
  return CLAUDE.find(({ upTo }) => !isNewer(version, upTo))?.takes ?? 'none';
}

/** Claude calls no tool by force while it thinks. */
export const forcesTool = (
  { toolChoice }: Pick<Conversation, 'toolChoice'>,
  upstreamModel: string,
): boolean =>
  (toolChoice?.type === 'required' || toolChoice?.type === 'tool') && claudeVersion(upstreamModel) !== null;

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
  upstreamModel: string,
  thinks: boolean,
  unsupported: UnsupportedFields,
): SamplingFields {
  const takes = claudeSampling(upstreamModel);
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
