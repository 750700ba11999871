import type { AskedDialect, AskedModel } from '#core/conversation/conversation.ts';
import type { ShownParts } from '../../api/inference/translation/translate-answer.ts';

/** A server that takes what most servers take. */
export const askedDialect: AskedDialect = {
  reasoningMember: 'reasoning_content',
  efforts: null,
  callIds: null,
  signsCalls: false,
  takesVerbosity: true,
  takesThinkingParts: false,
  takesReasoningDetails: false,
  turns: {
    hasDeveloper: true,
    systemFirst: false,
    userAfterResult: true,
    mayLackReasoning: true,
    prefill: null,
  },
  takesSchemas: true,
  takesSchemaChoices: true,
  restsByThinking: false,
  chatTags: [],
};

/** A caller who is shown all, and has no tools of a kind of their own. */
export const asAsked: ShownParts = {
  showUsage: true,
  showReasoning: true,
  names: new Map(),
  echo: '"tools":[]',
};

/** A model that is asked at such a server. */
export const asked: AskedModel = {
  upstreamModel: 'm',
  outputTokensCap: 4_000,
  reasonsByEffort: false,
  dialect: askedDialect,
};
