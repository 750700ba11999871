import type { FormatName } from '#core/catalog/catalog.ts';
import type { StreamReader } from '../../api/inference/formats/call-format.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
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

/** A stream of these events as its caller sees it, and the bytes of text that it is charged for where it has no usage. */
export async function relayEvents(
  format: FormatName,
  events: readonly Readonly<Record<string, unknown>>[],
): Promise<{ shown: string; countedBytes: number }> {
  const reader = callFormats[format].openStream({
    ...{ upstreamModel: 'm', publicModel: 'm', showUsage: false, ownId: 'own', createdAtS: 1 },
  });
  const lines = events.map((event) => {
    const name = format === 'chat' ? '' : `event: ${String(event.type)}\n`;
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  const { text: passed } = await relayStream(reader, piecesOf(lines.join(''), 1_000_000));
  const identity = { id: 'own', createdAtS: 1, nowS: 1, model: 'm' };
  const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
  const last = reader.isComplete() ? reader.end({ identity, shown: null, tokens }).toString() : '';
  return { shown: passed + last, countedBytes: reader.text.bytes };
}
