import { onceByName } from '../formats/once-by-name.ts';
import { type ClaudeVersion, claudeVersion, isNewer } from '../formats/reasoning-words.ts';

/*
 * Claude answers 400 to fields that other models of the messages format take. Which version refuses what stands on its vendor's pages on
 * thinking, on preserved thinking, and on the migration to Opus 4.1, 4.7, 5.5, Sonnet 5.5, Haiku 5.5 and Fable 5.1. The answers to each case
 * stand in public reports: BerriAI/litellm#15097 (temperature with top_p), BerriAI/litellm#26444 and promptfoo/promptfoo#9500 (none of the
 * three), MartialBE/one-hub#529 (temperature with thinking), can1357/oh-my-pi#341 and langchain-ai/langchain-aws#1141 (forced tools with
 * thinking), withceleste/celeste-python#393 (forced tools at all), letta-ai/letta-code#2815 (thinking off), docker/docker-agent#3415
 * (thinking that is not shown), bastani-inc/atomic#2809 (thinking of a history that was edited), anomalyco/opencode#3077 (calls without their
 * thinking), BerriAI/litellm#18926 (thinking of calls that are gone on with without thinking),
 * promptfoo/promptfoo#10631 (thinking where nothing is said of it).
 */

/** Which sampling fields a model takes: all, `temperature` or `top_p` but not both, or none but the defaults. */
export type Sampling = 'all' | 'one' | 'none';

export interface ClaudeLimits {
  sampling: Sampling;
  /** When a tool may be forced. */
  forcedTools: 'always' | 'without_thinking' | 'never';
  /** The type of `thinking` that stands for the least of it; `null`: the model always thinks. */
  thinkingOff: 'disabled' | 'between_tools' | null;
  /** It thinks also where nothing is said of it. */
  thinksUnasked: boolean;
  /** It shows its thinking only where that is asked for. */
  hidesThinking: boolean;
  /** Also what it says between calls is thinking. Earlier thinking must stand behind the same history as at first. */
  bindsThinking: boolean;
  /** The last turn may be an answer that goes on. */
  continuesAnswers: boolean;
  /** It can be held to a schema in its answer and in what it calls tools with. */
  holdsToSchemas: boolean;
  /** A model that takes a budget takes an effort as well. */
  takesEffort: boolean;
}

type VersionLimits = Omit<ClaudeLimits, 'thinkingOff' | 'forcedTools' | 'bindsThinking' | 'thinksUnasked'>;

/** The last version to which each line applies, the oldest first. */
const BY_VERSION: readonly (VersionLimits & { upTo: ClaudeVersion })[] = [
  {
    upTo: version(4, 0),
    sampling: 'all',
    hidesThinking: false,
    continuesAnswers: true,
    holdsToSchemas: false,
    takesEffort: false,
  },
  {
    upTo: version(4, 5),
    sampling: 'one',
    hidesThinking: false,
    continuesAnswers: true,
    holdsToSchemas: true,
    takesEffort: false,
  },
  {
    upTo: version(4, 6),
    sampling: 'one',
    hidesThinking: false,
    continuesAnswers: false,
    holdsToSchemas: true,
    takesEffort: true,
  },
];
const NEWEST: VersionLimits = {
  sampling: 'none',
  hidesThinking: true,
  continuesAnswers: false,
  holdsToSchemas: true,
  takesEffort: true,
};

interface FamilyLimits {
  family: RegExp;
  /** The first version with preserved thinking. */
  bindsFrom: ClaudeVersion;
  /** From that version on. */
  forcesThen: ClaudeLimits['forcedTools'];
  offThen: ClaudeLimits['thinkingOff'];
  /** Before it. */
  offBefore: ClaudeLimits['thinkingOff'];
}

const BY_FAMILY: readonly FamilyLimits[] = [
  {
    family: /fable|mythos/,
    bindsFrom: version(5, 1),
    forcesThen: 'never',
    offThen: null,
    offBefore: null,
  },
  {
    family: /sonnet/,
    bindsFrom: version(5, 5),
    forcesThen: 'never',
    offThen: 'between_tools',
    offBefore: 'disabled',
  },
  {
    family: /haiku/,
    bindsFrom: version(5, 5),
    forcesThen: 'always',
    offThen: 'disabled',
    offBefore: 'disabled',
  },
];
const OTHERS: FamilyLimits = {
  family: /opus/,
  bindsFrom: version(5, 5),
  forcesThen: 'never',
  offThen: null,
  offBefore: 'disabled',
};

/** The last version that thinks only where it is told to. */
const LAST_QUIET = version(4, 8);
/** The last version that calls no tool by force while it thinks. */
const LAST_FREE_THINKER = version(4, 7);

/** @returns `null`: another vendor's model, of which no limits are known. */
export const claudeLimits = onceByName((upstreamModel): ClaudeLimits | null => {
  const known = claudeVersion(upstreamModel);
  if (known === null) return null;
  const name = upstreamModel.toLowerCase();
  const ofFamily = BY_FAMILY.find(({ family }) => family.test(name)) ?? OTHERS;
  const ofVersion = BY_VERSION.find(({ upTo }) => !isNewer(known, upTo)) ?? NEWEST;
  const binds = !isNewer(ofFamily.bindsFrom, known);
  const forcesBefore = isNewer(known, LAST_FREE_THINKER) ? 'always' : 'without_thinking';
  return {
    sampling: ofVersion.sampling,
    thinksUnasked: isNewer(known, LAST_QUIET),
    hidesThinking: ofVersion.hidesThinking,
    continuesAnswers: ofVersion.continuesAnswers,
    holdsToSchemas: ofVersion.holdsToSchemas,
    takesEffort: ofVersion.takesEffort,
    bindsThinking: binds,
    forcedTools: binds ? ofFamily.forcesThen : forcesBefore,
    thinkingOff: binds ? ofFamily.offThen : ofFamily.offBefore,
  };
});

function version(major: number, minor: number): ClaudeVersion {
  return { major, minor };
}
