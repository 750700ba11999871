import { validateHeaderName, validateHeaderValue } from 'node:http';
import { z } from 'zod';
import { parseAttoUsd } from '#core/money.ts';

/**
 * What a test, or `POST /_script`, says about the next calls. Everything may be left out; a rule without content
 * changes nothing but uses up a call. Offsets count the bytes of the answer's body, after its content-encoding.
 */
export const scriptRule = z.strictObject({
  // --- Which calls: the first rule in line whose conditions all hold.
  path: z
    .enum([
      '/chat/completions',
      '/responses',
      '/messages',
      '/models',
      '/generation',
      '/key',
      '/videos',
      '/videos/models',
      '/videos/{id}',
      '/videos/{id}/content',
      '/images',
      '/images/models',
      '/images/models/{id}/endpoints',
    ])
    .default('/chat/completions'),
  /** The model id as it was sent, with its suffix. */
  model: z.string().optional(),
  /** The last user message starts with this. */
  prefix: z.string().optional(),
  times: z.union([z.int().min(1), z.literal('always')]).default(1),

  // --- The request. Without `read` the rule cannot look at model or prefix.
  /** `ignore`: never read, never answered. `close`: reset unread. `answer_early`: answered unread, then closed. */
  request: z.enum(['read', 'ignore', 'close', 'answer_early']).default('read'),

  // --- What the answer says. A scripted text is sent whole, whatever cap the request had.
  /** The answer's text, or with `chunks` the text of each. */
  text: z.string().optional(),
  chunks: z.int().min(0).max(100_000).optional(),
  /** Calls of tools after the text, side by side, whatever the request offered. */
  toolCalls: z.array(z.strictObject({ name: z.string(), argumentsJson: z.string() })).optional(),
  /** Token counts shown and billed, in place of the counted ones. */
  promptTokens: z.int().min(0).optional(),
  cachedTokens: z.int().min(0).optional(),
  completionTokens: z.int().min(0).optional(),
  reasoningTokens: z.int().min(0).optional(),

  /** Bills all that it may: every byte a token, every token at its dearest price, every step of every tool. */
  dearest: z.boolean().default(false),

  // --- What the answer says about its cost, and what the provider really bills.
  /** `twice` repeats the key in a JSON answer and the chunk in a stream; `after_done` comes behind `[DONE]`. */
  usageAt: z.enum(['end', 'last_chunk', 'every_chunk', 'twice', 'after_done', 'missing']).default('end'),
  /** The whole usage record as raw JSON text, right or wrong. */
  usageText: z.string().optional(),
  /** Raw JSON text per field of usage (`{"cost": "1e30"}`); `null` leaves the field out. */
  usageFields: z.record(z.string(), z.string().nullable()).default({}),
  /** The provider's bill and what `/generation` says, in dollars; without it the counted tokens at list price. */
  billUsd: z
    .string()
    .refine((text) => parseAttoUsd(text) !== null, 'No decimal')
    .optional(),
  /** What a stream bills whose reader went away. */
  hangUpBills: z.enum(['delivered', 'all']).default('delivered'),
  /** How often `/generation` first answers 404 for this call, besides the simulator's own delay. */
  lookupMisses: z.union([z.int().min(0), z.literal('always')]).default(0),

  // --- Videos and images. `billUsd` is what they cost, whatever is shown.
  /** Of the job that `POST /videos` makes. */
  video: z
    .strictObject({
      pendingMs: z.int().min(0).optional(),
      inProgressMs: z.int().min(0).optional(),
      end: z.enum(['completed', 'failed', 'cancelled', 'expired', 'never']).optional(),
      /** Of a failed one. */
      error: z.string().optional(),
      /** Raw JSON text of `usage.cost`; `null`: no usage. */
      costText: z.string().nullable().optional(),
      /** How many polls of a completed one are answered without its usage. */
      costAfterPolls: z.int().min(0).optional(),
      /** Whether there is a job; without it, as the answer's status says. */
      taken: z.boolean().optional(),
    })
    .optional(),
  /** Of `/videos/{id}/content`: so many bytes, the video first; `html`: a page instead. */
  content: z
    .strictObject({ bytes: z.int().min(0).optional(), type: z.enum(['mp4', 'html']).optional() })
    .optional(),
  /** Of `POST /images`: how many, each at least so large, of which type. */
  images: z
    .strictObject({
      count: z.int().min(0).max(10).optional(),
      bytes: z
        .int()
        .min(0)
        .max(256 * 1024 * 1024)
        .optional(),
      type: z.enum(['png', 'webp', 'svg', 'garbage']).optional(),
    })
    .optional(),

  // --- Errors.
  error: z
    .strictObject({
      /** `stream`: after `afterChunks` content chunks. `choice`: inside the only choice of a JSON answer. */
      at: z.enum(['body', 'stream', 'choice']).default('body'),
      afterChunks: z.int().min(0).default(1),
      style: z
        .enum(['openrouter', 'availability', 'openai', 'google', 'flat', 'string', 'text', 'html', 'empty'])
        .default('openrouter'),
      code: z.union([z.int(), z.string()]).optional(),
      type: z.string().optional(),
      message: z.string().default('The simulator was told to fail.'),
    })
    .optional(),

  // --- How the answer looks on the wire.
  status: z.int().min(200).max(599).optional(),
  /** Added or replaced; `null` takes one away. */
  headers: z.record(z.string(), z.string().nullable()).refine(areHeaders, 'No header').default({}),
  /** The whole body as it is, instead of everything above. */
  body: z.string().optional(),
  /** 1xx statuses sent first. */
  informational: z.array(z.union([z.literal(102), z.literal(103)])).default([]),
  /** `lie`: the header says gzip, the bytes are plain. */
  encoding: z.enum(['gzip', 'br', 'deflate', 'lie']).optional(),
  done: z.boolean().default(true),
  lineEnd: z.enum(['\n', '\r\n']).default('\n'),
  /** Keep-alive comments before the first chunk; `forever`: nothing but comments, one per `gapMs`. */
  comments: z.union([z.int().min(0), z.literal('forever')]).optional(),
  /** The data of this chunk, counted from 0, is broken JSON. */
  malformedChunk: z.int().min(0).optional(),

  // --- When its bytes are written.
  headersDelayMs: z.number().min(0).default(0),
  firstByteDelayMs: z.number().min(0).default(0),
  /** Between two writes: an event each, or what `writeBytes` and `splitAt` make of it. */
  gapMs: z.number().min(0).default(0),
  /** Waits at `gateAt` until the gate is released. */
  gate: z.string().optional(),
  gateAt: z.union([z.literal('headers'), z.int().min(0)]).default('headers'),
  /** Goes silent for good, with the connection open. */
  stallAt: z.union([z.literal('headers'), z.int().min(0)]).optional(),
  /** The connection ends there. */
  cutAt: z.union([z.literal('headers'), z.int().min(0)]).optional(),
  cutWith: z.enum(['rst', 'fin']).default('rst'),
  writeBytes: z.int().min(1).optional(),
  splitAt: z.array(z.int().min(1)).default([]),
});

/** As a caller writes it. */
export type ScriptRule = z.input<typeof scriptRule>;
/** With every default filled in. */
export type Rule = z.output<typeof scriptRule>;

/** What every call follows that no rule speaks of. */
export const plainRule: Rule = scriptRule.parse({});

function areHeaders(headers: Record<string, string | null>): boolean {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value ?? '');
    }
    return true;
  } catch {
    return false;
  }
}
