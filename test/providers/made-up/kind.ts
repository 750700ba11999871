import { StringDecoder } from 'node:string_decoder';
import type {
  AnswerAdapter,
  AskedAnswer,
  ProviderKind,
  ResponseHeaders,
} from '#core/catalog/provider-kind.ts';
import { openai } from '../../../api/providers/openai/kind.ts';

/*
 * A kind that nobody offers. The model is in its path, its key in a header of its own, its body, its answers, its errors and its
 * usage have a shape that no format has, and its streams are lines and not events.
 */

export const madeUp: ProviderKind = {
  ...openai,
  name: 'made-up',
  configuration: { ...openai.configuration, dialects: null, fromKey: null, formats: () => ['chat'] },
  headers: ({ apiKey }) => (apiKey === null ? {} : { 'x-parlour-token': apiKey }),
  answerPath: ({ upstreamModel, stream }) =>
    `/parlours/${encodeURIComponent(upstreamModel)}:${stream ? 'chat' : 'ask'}`,
  prepare(_provider, request) {
    if (request.method === 'GET') return request;
    const { messages, max_tokens: most } = JSON.parse(request.body.toString());
    const talk = messages.map(({ role, content }: Message) => ({ who: role, says: content }));
    return { ...request, body: Buffer.from(JSON.stringify({ talk, most })) };
  },
  openAdapter: (asked) => new ParlourAdapter(asked),
};

interface Message {
  role: string;
  content: string;
}

interface Meter {
  in: number;
  out: number;
}

class ParlourAdapter implements AnswerAdapter {
  readonly #asked: AskedAnswer;
  #status = 0;
  /** A character may come in two chunks. */
  readonly #decoder = new StringDecoder('utf8');
  #waiting = '';

  constructor(asked: AskedAnswer) {
    this.#asked = asked;
  }

  begin(status: number, headers: ResponseHeaders): ResponseHeaders {
    this.#status = status;
    const wait = headers['x-come-back-in'];
    return {
      'content-type': this.#isStream ? 'text/event-stream' : 'application/json',
      ...(wait === undefined ? {} : { 'retry-after': wait }),
    };
  }

  data(chunk: Buffer): Buffer {
    this.#waiting += this.#decoder.write(chunk);
    if (!this.#isStream) return NOTHING;
    const lines = this.#waiting.split('\n');
    this.#waiting = lines.pop() ?? '';
    return Buffer.from(lines.map((line) => this.#event(line)).join(''));
  }

  end(): Buffer {
    if (this.#isStream) return NOTHING;
    const answer = JSON.parse(this.#waiting);
    if (answer.problem !== undefined)
      return Buffer.from(JSON.stringify({ error: { message: answer.problem.words } }));
    const message = { role: 'assistant', content: answer.reply };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return Buffer.from(
      JSON.stringify({ ...this.#head, object: 'chat.completion', choices, ...usageOf(answer.meter) }),
    );
  }

  get #isStream(): boolean {
    return this.#status === 200 && this.#asked.stream;
  }

  get #head(): object {
    return { id: 'parlour-1', created: 1, model: this.#asked.upstreamModel };
  }

  #event(line: string): string {
    const { piece, meter, over, problem } = JSON.parse(line);
    if (problem !== undefined) return `data: ${JSON.stringify({ error: { message: problem.words } })}\n\n`;
    const delta = piece === undefined ? {} : { content: piece };
    const choices = [{ index: 0, delta, finish_reason: over === true ? 'stop' : null }];
    const chunk = { ...this.#head, object: 'chat.completion.chunk', choices, ...usageOf(meter) };
    return `data: ${JSON.stringify(chunk)}\n\n${over === true ? 'data: [DONE]\n\n' : ''}`;
  }
}

const NOTHING = Buffer.alloc(0);

const usageOf = (meter: Meter | undefined): object =>
  meter === undefined ? {} : { usage: { prompt_tokens: meter.in, completion_tokens: meter.out } };
