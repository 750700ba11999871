import {
  ChatResult$inboundSchema,
  ChatStreamChunk$inboundSchema,
  OpenResponsesResult$inboundSchema,
  StreamEvents$inboundSchema,
} from '@openrouter/sdk/models';
import type { FormatName } from '#core/catalog/catalog.ts';
import { openTypeJudge, type TypeJudge } from './type-judge.ts';

/** The complaints of an official package about an answer or an event, each with its place. */
export type Complaints = ReadonlySet<string>;

let types: TypeJudge | undefined;
/** Opened once for all tests of a process: the compiler takes seconds to read the packages. */
const typeJudge = (): TypeJudge => {
  types ??= openTypeJudge(new URL('official-types.ts', import.meta.url));
  return types;
};

const NAMES = {
  chat: { answer: 'ChatAnswer', event: 'ChatEvent' },
  responses: { answer: 'ResponsesAnswer', event: 'ResponsesEvent' },
  messages: { answer: 'MessagesAnswer', event: 'MessagesEvent' },
} as const satisfies Record<FormatName, object>;

/** By the types of OpenAI's and Anthropic's packages. Members that they do not know are no fault: vendors have their own. */
export function sdkComplaints(format: FormatName, kind: 'answer' | 'event', value: unknown): Complaints {
  const faults = typeJudge().faults(NAMES[format][kind], value);
  return new Set(
    faults
      .filter((fault) => fault.kind !== 'unknown' && !ADDED_BY_SDK.has(fault.path))
      .map(({ told }) => told),
  );
}

/** Members of a type that the SDK fills in by itself. */
const ADDED_BY_SDK: ReadonlySet<string> = new Set(['output_text', 'response.output_text', '_request_id']);

const schemas = {
  chat: { answer: ChatResult$inboundSchema, event: ChatStreamChunk$inboundSchema },
  responses: { answer: OpenResponsesResult$inboundSchema, event: StreamEvents$inboundSchema },
} as const;

/** By the schemas of OpenRouter's package, which has none of answers in the messages format. */
export function openRouterComplaints(
  format: FormatName,
  kind: 'answer' | 'event',
  value: unknown,
): Complaints {
  if (format === 'messages') return new Set();
  const { error } = schemas[format][kind].safeParse(value);
  return new Set(
    error?.issues.map(
      ({ path, message }) =>
        `${path.map((step) => (typeof step === 'number' ? '[]' : String(step))).join('.')}: ${message}`,
    ),
  );
}

/** Members that may stand in an answer of the gateway's own making beside those of the official types. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'provider',
  'choices[].message.reasoning',
  'choices[].message.reasoning_details',
  'choices[].delta.reasoning',
  'choices[].delta.reasoning_details',
  'choices[].delta.annotations',
  'usage.cost',
  'response.usage.cost',
  // The API has these, though its types do not.
  'frequency_penalty',
  'presence_penalty',
  'store',
  'response.frequency_penalty',
  'response.presence_penalty',
  'response.store',
  'name',
]);

/** Members of an answer of the gateway's own making that neither the official types nor this list know. */
export function strangeMembers(format: FormatName, kind: 'answer' | 'event', value: unknown): string[] {
  const faults = typeJudge().faults(NAMES[format][kind], value);
  return faults.flatMap(({ kind: fault, path }) =>
    fault === 'unknown' && !OWN_MEMBERS.has(path) ? [path] : [],
  );
}
