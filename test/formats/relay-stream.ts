import type { StreamReader } from '../../api/inference/formats/call-format.ts';
import { type StreamEnd, StreamRelay } from '../../api/inference/upstream/stream-relay.ts';
import { fakeCaller, fakeUpstream } from '../inference/fake-ends.ts';

/** A provider's stream as its caller gets it, until its end. */
export interface RelayedStream {
  end: StreamEnd;
  text: string;
}

/** Relays a stream that comes in these pieces, and ends. */
export async function relayStream(
  reader: StreamReader,
  pieces: readonly Buffer[],
  firstEvent: (event: Buffer) => void = () => undefined,
  scrub: (events: Buffer) => Buffer = (events) => events,
): Promise<RelayedStream> {
  const { clock, upstream, caller, controller, res } = { ...fakeCaller(), ...fakeUpstream() };
  upstream.onRequestStart(controller);
  const relay = new StreamRelay({
    clock,
    upstream,
    caller,
    reader,
    requestBytes: 0,
    textBytesMax: Number.POSITIVE_INFINITY,
    firstEvent,
    scrub,
    head: () => ({ 'content-type': 'text/event-stream' }),
  });
  for (const piece of pieces) {
    relay.data(piece);
    relay.flush();
  }
  relay.end();
  relay.flush();
  clock.advance(1_000);
  return { end: await relay.ended, text: res.text };
}

/** The bytes of a text, so many in each piece. */
export function piecesOf(text: string, bytesAtOnce: number): Buffer[] {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += bytesAtOnce)
    pieces.push(Buffer.from(bytes.subarray(at, at + bytesAtOnce)));
  return pieces;
}
