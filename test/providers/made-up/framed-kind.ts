import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { AnswerAdapter, ProviderKind, ResponseHeaders } from '#core/catalog/provider-kind.ts';
import type { Conversation, Turn, UserPart } from '#core/conversation/conversation.ts';
import {
  imagePlace,
  type NamedFields,
  type OwnEvent,
  type OwnFormat,
} from '#core/conversation/own-format.ts';
import { openai } from '../../../api/providers/openai/kind.ts';

/*
 * A kind that nobody offers, with a format of its own: the model is in its path, each body is signed, and answers are frames of
 * JSON behind their length.
 */

export const framedFormat: OwnFormat = {
  write(conversation, { outputTokensCap }, unsupported) {
    return {
      play: conversation.turns.map((turn) => lineOf(turn, unsupported)),
      setting: conversation.system.map(({ text }) => text),
      props: conversation.tools.map(({ name, parameters }) => ({ name, shape: parameters })),
      heat: conversation.temperature ?? undefined,
      ...leaveOutRest(conversation, unsupported),
      words: outputTokensCap,
    };
  },
  writeImage: (contentType, base64) => ({ scenery: contentType, paint: base64 }),
  openReader() {
    let calls = 0;
    return {
      read({ say, prop, use, close, count, boo }): OwnEvent {
        if (boo === true) throw new Error('no such event');
        const pieces: OwnEvent['pieces'][number][] = [];
        if (typeof say === 'string') pieces.push({ type: 'text', text: say });
        if (typeof prop === 'string') {
          const index = calls++;
          pieces.push({ type: 'tool_call', index, id: `use_${index}`, name: prop });
          pieces.push({ type: 'arguments', index, json: String(use) });
        }
        if (close === true) {
          const reason = calls > 0 ? 'tool_calls' : 'stop';
          pieces.push({ type: 'finish', reason, stopSequence: null });
        }
        const usage = Array.isArray(count) ? { prompt_tokens: count[0], completion_tokens: count[1] } : null;
        return { pieces, usage, isLast: close === true };
      },
    };
  },
};

export const framed: ProviderKind = {
  ...openai,
  name: 'framed',
  configuration: {
    ...openai.configuration,
    settings: {
      house: z
        .string()
        .regex(/^[a-z]+$/)
        .meta({ description: 'The house in which it plays.' }),
    },
    fromKey: null,
    dialects: null,
    formats: () => [],
  },
  headers: ({ settings }) => ({ 'x-house': String(settings.house) }),
  answerPath: ({ upstreamModel }) => `/stages/${encodeURIComponent(upstreamModel)}`,
  keyPath: '/box-office',
  async prepare({ apiKey }, request) {
    const signature = signatureOf(apiKey ?? '', `${request.method} ${request.path} ${request.body}`);
    return { ...request, headers: { ...request.headers, 'x-signature': signature } };
  },
  ownFormat: framedFormat,
  openAdapter: () => new FrameAdapter(),
};

export const signatureOf = (key: string, signed: string): string =>
  createHmac('sha256', key).update(signed).digest('hex');

function lineOf(turn: Turn, unsupported: NamedFields): object {
  switch (turn.role) {
    case 'system':
      unsupported.add(turn.at, 'a system message in the middle of a conversation');
      return {};
    case 'tool':
      return { prop: turn.callId, gave: turn.parts.map((part) => (part.type === 'text' ? part.text : '')) };
    case 'user':
      return { role: 'audience', says: turn.parts.map((part) => writePart(part, unsupported)) };
    case 'assistant':
      return { role: 'actor', says: turn.parts.map((part) => (part.type === 'text' ? part.text : '')) };
  }
}

function writePart(part: UserPart, unsupported: NamedFields): string | object {
  if (part.type === 'text') return part.text;
  if (part.type === 'image') return imagePlace(part.url);
  unsupported.add(part.at, 'a file');
  return '';
}

function leaveOutRest({ topK, answerFormat }: Conversation, unsupported: NamedFields): object {
  if (topK !== null) unsupported.leaveOut('top_k');
  if (answerFormat !== null) unsupported.add('response_format');
  return {};
}

/** Bytes of the length in front of each frame. */
export const LENGTH_BYTES = 4;

/** Turns frames into events. A frame is its length and so many bytes of JSON. */
class FrameAdapter implements AnswerAdapter {
  #status = 0;
  #waiting: Buffer = Buffer.alloc(0);

  begin(status: number): ResponseHeaders {
    this.#status = status;
    return { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' };
  }

  data(chunk: Buffer): Buffer {
    this.#waiting = Buffer.concat([this.#waiting, chunk]);
    if (this.#status !== 200) return Buffer.alloc(0);
    const events: string[] = [];
    for (;;) {
      if (this.#waiting.length < LENGTH_BYTES) break;
      const end = LENGTH_BYTES + this.#waiting.readUInt32BE();
      if (this.#waiting.length < end) break;
      const frame = this.#waiting.toString('utf8', LENGTH_BYTES, end);
      this.#waiting = this.#waiting.subarray(end);
      const { fault } = JSON.parse(frame);
      const event = fault === undefined ? frame : JSON.stringify({ error: { message: fault } });
      events.push(`data: ${event}\n\n`);
    }
    return Buffer.from(events.join(''));
  }

  end(): Buffer {
    if (this.#status === 200) return Buffer.alloc(0);
    const { fault } = JSON.parse(this.#waiting.toString());
    return Buffer.from(JSON.stringify({ error: { message: fault } }));
  }
}
