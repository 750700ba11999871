import type { Conversation } from '#core/conversation/conversation.ts';
import { onceByName } from '../formats/once-by-name.ts';
import { effortOf, takenEffort } from '../formats/reasoning-words.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';

/*
 * OpenAI answers 400 to fields of a chat that its reasoning models do not take. Its pages on reasoning and on its latest models name the
 * versions. The answers to each case stand in public reports: openai/openai-openapi#541, BerriAI/litellm#34569 and danny-avila/LibreChat#14355
 * (functions beside reasoning), vercel/ai#10932 and langchain-ai/langchain#35424 (sampling), huggingface/smolagents#1893 and
 * BerriAI/litellm#28650 (stop sequences), openai/openai-agents-python#2089 and anomalyco/opencode#36141 (words for efforts).
 */

/** The fields of a chat that a reasoning model of OpenAI takes. */
export interface GptLimits {
  /** The least first. Without `none` it always reasons. */
  efforts: readonly string[];
  /** It does not reason unless it is told to. */
  restsByDefault: boolean;
  /** It calls functions only where it does not reason. */
  callsAtRest: boolean;
  takesStop: boolean;
}

/** `gpt-5`, `openai/gpt-5.6-terra`, `gpt-5.2-2025-12-11`. A name with `-chat` stands for a model that does not reason. */
const GPT = /(?:^|[/:])gpt-([5-9]|[12]\d)(?:\.(\d{1,2}))?(?![\d.])(?!-chat)/;
/** `o3`, `o4-mini`, `openai/o1`. */
const O_SERIES = /(?:^|[/:])o[134](?![\w.])/;

const LOW_TO_HIGH = ['low', 'medium', 'high'];

/** The first version that each line applies to, as major times a hundred and minor, the newest first. */
const BY_VERSION: readonly { from: number; limits: GptLimits }[] = [
  {
    from: 506,
    limits: {
      efforts: ['none', ...LOW_TO_HIGH, 'xhigh', 'max'],
      restsByDefault: false,
      callsAtRest: true,
      takesStop: true,
    },
  },
  {
    from: 505,
    limits: {
      efforts: ['none', ...LOW_TO_HIGH, 'xhigh'],
      restsByDefault: false,
      callsAtRest: true,
      takesStop: true,
    },
  },
  {
    from: 502,
    limits: {
      efforts: ['none', ...LOW_TO_HIGH, 'xhigh'],
      restsByDefault: true,
      callsAtRest: true,
      takesStop: false,
    },
  },
  {
    from: 501,
    limits: {
      efforts: ['none', ...LOW_TO_HIGH],
      restsByDefault: true,
      callsAtRest: false,
      takesStop: false,
    },
  },
  {
    from: 500,
    limits: {
      efforts: ['minimal', ...LOW_TO_HIGH],
      restsByDefault: false,
      callsAtRest: false,
      takesStop: false,
    },
  },
];

const OF_O_SERIES: GptLimits = {
  efforts: LOW_TO_HIGH,
  restsByDefault: false,
  callsAtRest: false,
  takesStop: false,
};

/** @returns `null`: another model, of which no limits are known. */
export const gptLimits = onceByName((upstreamModel): GptLimits | null => {
  const name = upstreamModel.toLowerCase();
  const [, major, minor] = GPT.exec(name) ?? [];
  if (major === undefined) return O_SERIES.test(name) ? OF_O_SERIES : null;
  const version = Number(major) * 100 + Number(minor ?? 0);
  return BY_VERSION.find(({ from }) => version >= from)?.limits ?? null;
});

const NONE = 'none';

/** Whether the model has to stop reasoning to call a function. */
const restsToCall = ({ tools }: Pick<Conversation, 'tools'>, limits: GptLimits | null): boolean =>
  limits?.callsAtRest === true && tools.length > 0;

/** Whether a wish to reason is lost, because tools are offered beside it. */
export const cannotReason = (
  conversation: Pick<Conversation, 'tools' | 'reasoning'>,
  limits: GptLimits | null,
): boolean => conversation.reasoning?.enabled === true && restsToCall(conversation, limits);

/**
 * The word for the effort. Some servers reject `none`, so it is sent only to a model that calls no function without it, or if
 * the caller wrote it, to a server that is known to take it.
 *
 * @param efforts Those that the server takes; `null`: every one.
 */
export function writeChatEffort(
  conversation: Conversation,
  outputTokensCap: number,
  efforts: readonly string[] | null,
  limits: GptLimits | null,
): string | undefined {
  const { reasoning } = conversation;
  if (limits !== null && restsToCall(conversation, limits))
    return limits.restsByDefault && reasoning?.effort !== NONE ? undefined : NONE;
  if (reasoning === null) return undefined;
  const effort = reasoning.enabled ? effortOf(reasoning, outputTokensCap) : reasoning.effort;
  if (effort === undefined || effort === null) return undefined;
  return reasoning.enabled || effort === NONE ? takenEffort(effort, limits?.efforts ?? efforts) : undefined;
}

interface ChatSampling {
  temperature: number | undefined;
  top_p: number | undefined;
  stop: readonly string[] | undefined;
}

/** The fields of a chat that such models take at rest, or never. A default asks for what happens anyway. */
export function writeChatSampling(
  { temperature, topP, stop }: Pick<Conversation, 'temperature' | 'topP' | 'stop'>,
  effort: string | undefined,
  limits: GptLimits | null,
  unsupported: UnsupportedFields,
): ChatSampling {
  const rests = limits === null || (effort === undefined ? limits.restsByDefault : effort === NONE);
  const takesStop = stop.length > 0 && (limits?.takesStop ?? true);
  if (stop.length > 0 && !takesStop) unsupported.leaveOut('stop_sequences');
  if (!rests && temperature !== null && temperature !== DEFAULT) unsupported.leaveOut('temperature');
  if (!rests && topP !== null && topP !== DEFAULT) unsupported.leaveOut('top_p');
  return {
    temperature: rests ? (temperature ?? undefined) : undefined,
    top_p: rests ? (topP ?? undefined) : undefined,
    stop: takesStop ? stop : undefined,
  };
}

const DEFAULT = 1;
