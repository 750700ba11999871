import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { StreamRelay } from '../../api/inference/upstream/stream-relay.ts';
import { fakeCaller, fakeUpstream } from '../inference/fake-ends.ts';

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
  const ends = { ...fakeCaller(), ...fakeUpstream() };
  ends.upstream.onRequestStart(ends.controller);
  const reader = chatFormat.openStream({
    upstreamModel: UPSTREAM_MODEL,
    publicModel,
    showUsage,
    ownId: OWN_ID,
    createdAtS: CREATED_AT_S,
  });
  const relay = new StreamRelay({
    clock: ends.clock,
    upstream: ends.upstream,
    caller: ends.caller,
    reader,
    requestBytes: 0,
    textBytesMax: Number.POSITIVE_INFINITY,
    firstEvent: () => undefined,
    head: () => ({ 'content-type': 'text/event-stream' }),
  });
  const events = chunks.map((chunk) => eventOf(typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  const bytes = Buffer.from(`${events.join('')}data: [DONE]\n\n`);
  for (let at = 0; at < bytes.length; at += bytesAtOnce) {
    relay.data(Buffer.from(bytes.subarray(at, at + bytesAtOnce)));
    relay.flush();
  }
  relay.end();
  relay.flush();
  ends.clock.advance(1_000);
  await relay.ended;
  const identity = { id: OWN_ID, createdAtS: CREATED_AT_S, nowS: CREATED_AT_S, model: publicModel };
  const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
  return ends.res.text + reader.end({ identity, shown: null, tokens }).toString();
}

export const eventOf = (json: string): string => `data: ${json}\n\n`;
