import { isRecord } from '#core/is-record.ts';
import { recordOf } from '../../../api/inference/formats/values.ts';
import type { Recording } from '../recording.ts';
import { anthropic } from './anthropic.ts';
import { openaiResponses } from './openai-responses.ts';

/* Servers and proxies that speak Anthropic's or OpenAI's format in a way of their own: the same answers, in other events. */

type Event = Record<string, unknown>;

/** The recording of a kind, as another server streams it. */
function otherwise(
  recordings: readonly Recording[],
  kind: string,
  vendor: string,
  write: (event: Event, at: number) => readonly object[],
): Recording {
  const recording = recordings.find((each) => each.kind === kind);
  if (recording === undefined) throw new Error(`There is no recording of ${kind}.`);
  const stream = recording.stream.flatMap((event, at) => write({ ...event }, at));
  return { ...recording, vendor, stream, said: { ...recording.said, signedBy: recording.vendor } };
}

/** Members of a whole answer's record that this server has none for. */
const UNKNOWN = { cache_creation: null, inference_geo: null, service_tier: null, speed: null };

/** The whole answer has the counts of the stream, too. */
function countsLast(recording: Recording): Recording {
  const counted = recording.stream.map((event) => recordOf(recordOf(event).usage));
  const usage = counted.find((each) => Object.keys(each).length > 0);
  return { ...recording, whole: { ...recording.whole, usage } };
}

const withItem = (event: Event, members: object): Event =>
  isRecord(event.item) ? { ...event, item: { ...event.item, ...members } } : event;
const isLast = ({ type }: Event): boolean => type === 'response.completed';

export const proxies: readonly Recording[] = [
  /* ollama/ollama#17101: a block stays open, and the next one has its number. */
  otherwise(anthropic, 'thinking before a text', 'Ollama messages', (event) => {
    if (event.type === 'content_block_stop' && event.index === 0) return [];
    return 'index' in event ? [{ ...event, index: 0 }] : [event];
  }),
  /* jundot/omlx#1353, QuantumNous/new-api#5482: numbers are skipped, and blocks end that never began. */
  otherwise(
    anthropic,
    'thinking and redacted thinking before parallel calls',
    'A proxy that skips numbers',
    (event) => {
      const { type, index } = event;
      if (typeof index !== 'number') return [event];
      const shown = { ...event, index: 2 * index };
      return type === 'content_block_stop' ? [shown, { type, index: 2 * index + 1 }] : [shown];
    },
  ),
  /* Wei-Shaw/sub2api#4286: pieces of a block that never began. */
  otherwise(anthropic, 'text', 'A proxy that begins no block', (event) =>
    event.type === 'content_block_start' ? [] : [event],
  ),
  /* Alishahryar1/free-claude-code#209, earendil-works/pi#6567: no counts at the beginning, nor with the word for the end. */
  countsLast(
    otherwise(anthropic, 'text', 'A proxy that counts last', (event) => {
      const { usage, ...rest } = event;
      if (event.type === 'message_delta')
        return [rest, { type: 'message_delta', usage: { ...recordOf(usage), ...UNKNOWN } }];
      const { usage: _, content: _of, ...message } = recordOf(event.message);
      return event.type === 'message_start' ? [{ ...event, message }] : [event];
    }),
  ),
  /* QuantumNous/new-api#4362, router-for-me/CLIProxyAPI#2626: ChatGPT's own server leaves the items out of the last event. */
  otherwise(openaiResponses, 'reasoning before parallel calls', 'ChatGPT', (event) =>
    isLast(event) ? [{ ...event, response: { ...recordOf(event.response), output: [] } }] : [event],
  ),
  /* agentgateway/agentgateway#3326: pieces of a text alone. */
  otherwise(openaiResponses, 'text', 'A proxy that ends no item', (event) => {
    if (String(event.type).endsWith('.done')) return [];
    return isLast(event) ? [{ ...event, response: { ...recordOf(event.response), output: [] } }] : [event];
  }),
  /* can1357/oh-my-pi#4692, decolua/9router#2142. */
  otherwise(openaiResponses, 'reasoning before a text', 'A proxy that ends with response.done', (event) =>
    isLast(event) ? [{ ...event, type: 'response.done' }] : [event],
  ),
  /* BerriAI/litellm#30072: the ids of an item and of its answer change with each event. */
  otherwise(openaiResponses, 'reasoning before a text', 'GitHub Copilot', (event, at) => {
    if (isRecord(event.response)) return [{ ...event, response: { ...event.response, id: `resp_${at}` } }];
    if (isRecord(event.item)) return [withItem(event, { id: `id_${at}` })];
    return [{ ...event, item_id: `id_${at}` }];
  }),
  /* BerriAI/litellm#36375: several items under one number, and pieces of items that were not announced. */
  otherwise(openaiResponses, 'reasoning before parallel calls', 'LiteLLM responses', (event) => {
    if (event.type === 'response.output_item.added') return [];
    return 'output_index' in event ? [{ ...event, output_index: 0 }] : [event];
  }),
];
