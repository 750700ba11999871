import { z } from 'zod';
import {
  ASKED_TOKENS_MAX,
  FALLBACK_MODELS_MAX,
  MODEL_ID_CHARS_MAX,
  SERVER_TOOL_STEPS_DEFAULT,
  SERVER_TOOL_STEPS_MAX,
} from '#core/limits.ts';
import { type ApiError, apiError } from './errors.ts';

/*
 * What the requests of the three formats have in common. Every object is open: any other field of a format is accepted
 * and passed on (spec: Chat completion request). Optional fields may be null, which counts as absent, because official
 * clients send null for what was not set. An `error` text says what is expected; `describeIssue` makes the whole
 * sentence.
 */

export const object = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.looseObject(shape, { error: 'an object' });
export const text = () => z.string({ error: 'a string' });
export const tokenCap = () => {
  const error = `a whole number from 1 to ${ASKED_TOKENS_MAX}`;
  return z.int({ error }).min(1, { error }).max(ASKED_TOKENS_MAX, { error });
};
const modelId = () => {
  const error = `a model id: a string of 1 to ${MODEL_ID_CHARS_MAX} characters`;
  return z.string({ error }).min(1, { error }).max(MODEL_ID_CHARS_MAX, { error });
};

export const model = () =>
  modelId().meta({
    description:
      'A model id, optionally with a suffix: `:online` adds a web search; `:nitro`, `:floor` or `:exacto` steer which ' +
      'provider runs it.',
  });

export const fallbackModels = () =>
  z
    .array(modelId(), { error: 'an array of model ids' })
    .max(FALLBACK_MODELS_MAX, { error: `an array of at most ${FALLBACK_MODELS_MAX} model ids` })
    .nullish()
    .meta({
      description:
        'Fallbacks, tried in order when the first is busy or down. The reserve covers the dearest. ' +
        'An empty array counts as absent.',
    });

export const stream = () =>
  z.boolean({ error: 'a boolean' }).nullish().meta({ description: 'Answer by server-sent events.' });

const temperatureRange = 'a number from 0 to 2';
export const temperature = () =>
  z
    .number({ error: temperatureRange })
    .min(0, { error: temperatureRange })
    .max(2, { error: temperatureRange })
    .nullish();

export const TOOLS =
  'Functions that the caller runs, and web searches and fetches that the provider runs. The reserve covers every step ' +
  'of these. An empty array counts as absent.';

const stepRange = 'a whole number of at least 1';
export const toolSteps = () =>
  z
    .int({ error: stepRange })
    .min(1, { error: stepRange })
    .nullish()
    .meta({
      description:
        `Most steps of web searches and fetches in one call, ${SERVER_TOOL_STEPS_MAX} at the most; without it ` +
        `${SERVER_TOOL_STEPS_DEFAULT} for each tool. The reserve covers every step, so a lower number reserves less.`,
    });

/** `low`, `medium` and `high` by the spec; the others are values of the format that some models know. */
const EFFORTS = ['low', 'medium', 'high', 'none', 'minimal', 'xhigh', 'max'] as const;
export const Reasoning = object({
  effort: z.enum(EFFORTS, { error: `one of ${EFFORTS.join(', ')}` }).nullish(),
}).meta({ id: 'Reasoning', description: 'Reasoning tokens are billed as output.' });

/** Of what depends on another field, which no schema can say. */
export const expected = (param: string, what: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\` is required here and has to be ${what}.` });
