import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';

type Answer = Record<string, unknown>;

/** The answer that the official SDK of the format makes of a stream; rejects as the SDK does where it cannot read it. */
export async function officialAnswer(format: FormatName, stream: string): Promise<Answer> {
  const options = {
    apiKey: 'none',
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  };
  const model = 'm';
  switch (format) {
    case 'chat':
      return plain(
        await new OpenAI(options).chat.completions
          .stream({ model, messages: [], stream_options: { include_usage: true } })
          .finalChatCompletion(),
      );
    case 'responses':
      return plain(await new OpenAI(options).responses.stream({ model, input: 'x' }).finalResponse());
    case 'messages':
      return plain(
        await new Anthropic(options).messages.stream({ model, max_tokens: 1, messages: [] }).finalMessage(),
      );
  }
}

/** The answer without what the SDK alone adds. */
const plain = (answer: object): Answer =>
  JSON.parse(JSON.stringify(answer), (name, value) => (ADDED.has(name) ? undefined : value));
const ADDED: ReadonlySet<string> = new Set([
  'parsed',
  'parsed_arguments',
  'output_parsed',
  'parsed_output',
  '_request_id',
]);

/**
 * The part of an answer that the SDK puts together, without ids that are made for each answer, and times. It joins members that it
 * knows; of all others it keeps the last piece, such as of a reasoning.
 */
export const joinedPart = (format: FormatName, answer: Answer): Answer =>
  JSON.parse(JSON.stringify(joined(format, answer)).replaceAll(MADE_CALL_ID, '"call_made_$1"'));

const MADE_CALL_ID = /"call_[0-9A-Za-z]{8}_(\d+)"/g;

function joined(format: FormatName, answer: Answer): Answer {
  switch (format) {
    case 'chat':
      return joinedChat(answer);
    case 'responses': {
      const { id: _id, created_at: _created, completed_at: _completed, ...rest } = answer;
      return { ...rest, output: recordsOf(answer.output).map(({ id: _ofItem, ...item }) => item) };
    }
    case 'messages': {
      const { id: _id, usage, ...rest } = answer;
      const { cost: _cost, ...counters } = isRecord(usage) ? usage : {};
      return { ...rest, usage: counters };
    }
  }
}

function joinedChat({ choices, usage, model, object }: Answer): Answer {
  const joined = recordsOf(choices).map(({ index, finish_reason, message }) => {
    const { role, content, refusal, tool_calls: calls } = isRecord(message) ? message : {};
    return {
      index,
      finish_reason,
      // An absent text is a null to the one and an empty text to the other.
      message: { role, content: content || null, refusal: refusal || null },
      calls: recordsOf(calls).map(({ index: _, function: called, ...call }) => {
        const { name, arguments: json } = isRecord(called) ? called : {};
        return { ...call, function: { name, arguments: json } };
      }),
    };
  });
  return { object, model, usage, choices: joined };
}

const recordsOf = (value: unknown): Answer[] => (Array.isArray(value) ? value.filter(isRecord) : []);
