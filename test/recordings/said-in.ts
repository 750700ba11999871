import type { FormatName } from '#core/catalog/catalog.ts';
import { parseJson } from '#core/parse-json.ts';
import { recordOf, records, textOf } from '../../api/inference/formats/values.ts';
import { endOf, type Recording } from './recording.ts';

/** The content of an answer, whichever format it is in. */
export interface Heard {
  text: string;
  reasoning: string;
  refusal: string;
  calls: { id: string; name: string; input: object | string }[];
  citations: string[];
  end: string;
}

export function saidIn(format: FormatName, answer: Record<string, unknown>): Heard {
  switch (format) {
    case 'chat':
      return inChat(answer);
    case 'responses':
      return inResponses(answer);
    case 'messages':
      return inMessages(answer);
  }
}

/** As the recording has it. Ids that the gateway made are left open. */
export function saidBy({ said }: Recording): Heard {
  const { text = '', reasoning = '', refusal = '', calls = [], citations = [] } = said;
  const called = calls.map(({ id = '', name, input }) => ({ id, name, input }));
  return { text, reasoning, refusal, calls: called, citations: [...citations], end: endOf(said) };
}

const inputOf = (json: unknown): object | string => {
  const parsed = parseJson(textOf(json));
  return typeof parsed === 'object' && parsed !== null ? parsed : textOf(json);
};

function inChat(answer: Record<string, unknown>): Heard {
  const [choice] = records(answer.choices);
  const message = messageOf(answer);
  const parts = records(message.content);
  const ofParts = (type: string, member: string): string =>
    parts
      .flatMap((part) =>
        part.type === type
          ? [
              textOf(part[member]) ||
                records(part[member])
                  .map(({ text }) => textOf(text))
                  .join(''),
            ]
          : [],
      )
      .join('');
  return {
    text: textOf(message.content) || ofParts('text', 'text'),
    reasoning:
      textOf(message.reasoning) ||
      textOf(message.reasoning_content) ||
      textOf(message.reasoning_text) ||
      ofParts('thinking', 'thinking') ||
      ofParts('reasoning', 'summary'),
    refusal: textOf(message.refusal),
    calls: records(message.tool_calls).map(({ id, function: called }) => {
      const { name, arguments: given } = recordOf(called);
      return {
        id: textOf(id),
        name: textOf(name),
        input: typeof given === 'object' && given !== null ? given : inputOf(given),
      };
    }),
    citations: Array.isArray(answer.citations)
      ? answer.citations.map(textOf)
      : records(message.annotations).map(({ url_citation: cited }) => textOf(recordOf(cited).url)),
    end: textOf(choice?.finish_reason),
  };
}

/** The message of a chat answer, which one vendor spreads over several choices. */
export const messageOf = (answer: Record<string, unknown>): Record<string, unknown> =>
  Object.assign(
    {},
    ...records(answer.choices)
      .map(({ message }) => recordOf(message))
      .reverse(),
  );

function inResponses(answer: Record<string, unknown>): Heard {
  const output = records(answer.output);
  const parts = output.flatMap(({ type, content }) => (type === 'message' ? records(content) : []));
  const reason = textOf(recordOf(answer.incomplete_details).reason);
  const calls = output.filter(({ type }) => type === 'function_call');
  return {
    text: parts.map((part) => (part.type === 'output_text' ? textOf(part.text) : '')).join(''),
    reasoning: output
      .flatMap(({ type, content, summary }) =>
        type === 'reasoning' ? [...records(content), ...records(summary)] : [],
      )
      .map(({ text }) => textOf(text))
      .join(''),
    refusal: parts.map((part) => textOf(part.refusal)).join(''),
    calls: calls.map(({ call_id, name, arguments: json }) => ({
      id: textOf(call_id),
      name: textOf(name),
      input: inputOf(json),
    })),
    citations: parts.flatMap(({ annotations }) => records(annotations)).map(({ url }) => textOf(url)),
    end:
      answer.status === 'completed' ? (calls.length > 0 ? 'tool_calls' : 'stop') : (ENDS[reason] ?? reason),
  };
}

function inMessages(answer: Record<string, unknown>): Heard {
  const content = records(answer.content);
  const joined = (type: string, member: string): string =>
    content.map((block) => (block.type === type ? textOf(block[member]) : '')).join('');
  const stop = textOf(answer.stop_reason);
  return {
    text: joined('text', 'text'),
    reasoning: joined('thinking', 'thinking'),
    refusal: '',
    calls: content.flatMap(({ type, id, name, input }) =>
      type === 'tool_use'
        ? [
            {
              id: textOf(id),
              name: textOf(name),
              input: typeof input === 'object' && input !== null ? input : textOf(input),
            },
          ]
        : [],
    ),
    citations: content.flatMap(({ citations }) => records(citations)).map(({ url }) => textOf(url)),
    end: ENDS[stop] ?? stop,
  };
}

const ENDS: Readonly<Record<string, string>> = {
  max_output_tokens: 'length',
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};
