import type { CallFormat } from '../../api/inference/formats/call-format.ts';
import { piecesOf, relayStream } from './relay-stream.ts';

export const MODEL = 'vendor/m';
export const OWN_ID = 'call-1';

/** The event as a server writes it: its name, and its members or their JSON text. */
export function eventOf(event: object | string): string {
  const json = typeof event === 'string' ? event : JSON.stringify(event);
  return `event: ${/"type":\s*"([^"]+)"/.exec(json)?.[1]}\ndata: ${json}\n\n`;
}

/** A stream of named events as its caller gets it. */
export interface PassedEvents {
  /** The events before those of the end. */
  text: string;
  /** Empty: the stream did not end well. */
  last: string;
  end: string;
}

/** The stream as it passes to a caller who asked in the same format, in pieces of so many bytes. */
export async function passedEvents(
  format: CallFormat,
  events: readonly (object | string)[],
  bytesAtOnce = 1_000_000,
): Promise<PassedEvents> {
  const reader = format.openStream({
    upstreamModel: MODEL,
    publicModel: MODEL,
    showUsage: true,
    ownId: OWN_ID,
    createdAtS: 7,
  });
  const pieces = piecesOf(events.map(eventOf).join(''), bytesAtOnce);
  const { end, text } = await relayStream(reader, pieces);
  const identity = { id: OWN_ID, createdAtS: 7, nowS: 8, model: MODEL };
  const tokens = { prompt: 10, completion: 5, reasoning: null, cached: 0 };
  const last = end.kind === 'complete' ? reader.end({ identity, shown: null, tokens }).toString() : '';
  return { text, last, end: end.kind };
}

/** The same stream as JSON, as far as it comes from its events. */
export function assembled(format: CallFormat, events: readonly (object | string)[]): Record<string, unknown> {
  const assembly = format.openAssembly();
  for (const event of events) {
    const json = typeof event === 'string' ? event : JSON.stringify(event);
    if (assembly.read(Buffer.from(json), '').kind === 'done') break;
  }
  return JSON.parse(assembly.answer()?.toString() ?? 'null');
}
