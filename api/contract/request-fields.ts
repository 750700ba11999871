import { z } from 'zod';
import { isRecord } from '#core/is-record.ts';
import {
  ASKED_TOKENS_MAX,
  FALLBACK_MODELS_MAX,
  MESSAGES_MAX,
  MODEL_ID_CHARS_MAX,
  SERVER_TOOL_STEPS_DEFAULT,
  SERVER_TOOL_STEPS_MAX,
  TOOLS_MAX,
  URL_CHARS_MAX,
} from '#core/limits.ts';
import { describeIssue } from './describe-issue.ts';
import { type ApiError, apiError, hasToBe } from './errors.ts';
import { parseInPieces } from './parse-in-pieces.ts';

/*
 * The fields that requests have in common. Every object of the three formats is open: any other field of a format is accepted
 * and passed on (spec: Chat completion request). Optional fields may be null, which counts as absent, because official
 * clients send null for what was not set. An `error` text says what is expected; `describeIssue` makes the whole
 * sentence.
 */

export const object = <Shape extends z.core.$ZodShape>(shape: Shape) =>
  z.looseObject(shape, { error: 'an object' });
export const text = () => z.string({ error: 'a string' });
export const wholeNumber = (min: number, max: number, error = `a whole number from ${min} to ${max}`) =>
  z.int({ error }).min(min, { error }).max(max, { error });
export const tokenCap = () => wholeNumber(1, ASKED_TOKENS_MAX);
export const answerTokens = () =>
  tokenCap().nullish().meta({
    description:
      "Longest answer in tokens. Without it the reserve covers the model's whole output; less reserves less.",
  });
export const modelId = () => {
  const error = `a model id: a string of 1 to ${MODEL_ID_CHARS_MAX} characters`;
  return z.string({ error }).min(1, { error }).max(MODEL_ID_CHARS_MAX, { error });
};

const ModelId = modelId().meta({
  id: 'ModelId',
  description: 'A model id, with or without one of the suffixes that `model` takes.',
});

export const model = () =>
  modelId().meta({
    description:
      'A model id, optionally with a suffix: `:online` adds a web search; `:nitro`, `:floor` or `:exacto` steer which ' +
      'provider runs it.',
  });

export const fallbackModels = () =>
  z
    .array(ModelId, { error: 'an array of model ids' })
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

export const messageList = <Message extends z.ZodType>(message: Message) =>
  z
    .array(message, { error: 'an array of messages' })
    .min(1, { error: 'an array of at least one message' })
    .meta({ description: 'Oldest first.' });

const JsonSchema = z
  .record(z.string(), z.unknown(), { error: 'an object' })
  .meta({ id: 'JsonSchema', description: 'A JSON Schema.' });

export const jsonSchema = (what: string) =>
  JsonSchema.nullish().meta({ description: `A JSON Schema of the ${what}.` });

export const toolList = <Tool extends z.ZodType>(tool: Tool) =>
  z
    .array(tool, { error: 'an array of tools' })
    .max(TOOLS_MAX, { error: `an array of at most ${TOOLS_MAX} tools` })
    .nullish()
    .meta({
      description:
        'Functions that the caller runs, and web searches and fetches that the provider runs. The reserve covers every step ' +
        'of these. An empty array counts as absent.',
    });

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

/** The members of an image that is named by its link. `id` is the document's name for where the image is. */
export const imageLink = (id: string) => ({
  type: z.literal('image_url', { error: '`image_url`' }),
  image_url: z
    .strictObject(
      {
        url: z
          .string({ error: `a public https link of at most ${URL_CHARS_MAX} characters` })
          .meta({ description: 'A public https link, or the `url` of an upload.' }),
      },
      { error: 'an object with `url`' },
    )
    .meta({ id, description: 'Where the image is.' }),
});

export type ParsedRequest<T> = { ok: true; request: T } | { ok: false; error: ApiError };

/** The schema looks at each member that it does not know, and a body may have thousands of them. */
function withoutUnknown(schema: z.ZodType, body: unknown): unknown {
  if (!(schema instanceof z.ZodObject) || !isRecord(body)) return body;
  if (Object.keys(body).length < MANY_MEMBERS) return body;
  const names = Object.keys(schema.shape).filter((name) => Object.hasOwn(body, name));
  return Object.fromEntries(names.map((name) => [name, body[name]]));
}

/** No format has as many. */
const MANY_MEMBERS = 200;

/** Checks the body of a call of a text model. `lists`: the lists that may be long, see `parseInPieces`. */
export function parseRequest<T>(
  schema: z.ZodType<T>,
  body: unknown,
  ...lists: [list: string, partsBeside?: string]
): ParsedRequest<T> {
  const [list] = lists;
  const items = isRecord(body) ? body[list] : null;
  if (Array.isArray(items) && items.length > MESSAGES_MAX)
    return { ok: false, error: hasToBe(list, `an array of at most ${MESSAGES_MAX} items`) };
  const parsed = parseInPieces(schema, withoutUnknown(schema, body), ...lists);
  return parsed.success
    ? { ok: true, request: parsed.data }
    : { ok: false, error: describeIssue(parsed.error.issues, body) };
}

/** Of what depends on another field, which no schema can say. */
export const expected = (param: string, what: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\` is required here and has to be ${what}.` });
