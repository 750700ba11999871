import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { piecesOf, relayStream } from './relay-stream.ts';

/** How a stream of the model `vendor/m` passes. */
export interface Passing {
  /** Default: the provider's. */
  publicModel?: string;
  showUsage?: boolean;
  /** How many bytes come at once. */
  bytesAtOnce?: number;
}

export const UPSTREAM_MODEL = 'vendor/m';
export const OWN_ID = 'call-1';
export const CREATED_AT_S = 7;

/** The stream of a chat as its caller gets it, who is shown the counts of a call without a cost. */
export async function passedStream(
  chunks: readonly (object | string)[],
  { publicModel = UPSTREAM_MODEL, showUsage = false, bytesAtOnce = 1_000_000 }: Passing = {},
): Promise<string> {
  const reader = chatFormat.openStream({
    upstreamModel: UPSTREAM_MODEL,
    publicModel,
    showUsage,
    ownId: OWN_ID,
    createdAtS: CREATED_AT_S,
  });
  const events = chunks.map((chunk) => eventOf(typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  const { text } = await relayStream(reader, piecesOf(`${events.join('')}data: [DONE]\n\n`, bytesAtOnce));
  const identity = { id: OWN_ID, createdAtS: CREATED_AT_S, nowS: CREATED_AT_S, model: publicModel };
  const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
  return text + reader.end({ identity, shown: null, tokens }).toString();
}

export const eventOf = (json: string): string => `data: ${json}\n\n`;
