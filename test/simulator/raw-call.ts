import { type IncomingHttpHeaders, request } from 'node:http';

export interface RawAnswer {
  /** 0 when no headers came. */
  status: number;
  headers: IncomingHttpHeaders;
  informational: number[];
  /** As they came from the socket. */
  chunks: Buffer[];
  text: string;
  /** `whole`, or the code of the error that ended it. */
  ending: string;
}

export interface RawCall {
  answer: Promise<RawAnswer>;
  hangUp(): void;
}

/** One POST with nothing between the test and the bytes. */
export function rawCall(url: string, body: unknown, onChunk: (bytes: number) => void = () => {}): RawCall {
  const answer: RawAnswer = {
    status: 0,
    headers: {},
    informational: [],
    chunks: [],
    text: '',
    ending: 'whole',
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const req = request(url, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  });
  const done = new Promise<RawAnswer>((resolve) => {
    const finish = (ending: string): void => {
      resolve({ ...answer, text: Buffer.concat(answer.chunks).toString(), ending });
    };
    req.on('information', ({ statusCode }) => answer.informational.push(statusCode));
    req.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    req.on('response', (res) => {
      answer.status = res.statusCode ?? 0;
      answer.headers = res.headers;
      let bytes = 0;
      res.on('data', (chunk: Buffer) => {
        answer.chunks.push(chunk);
        bytes += chunk.length;
        onChunk(bytes);
      });
      res.on('end', () => finish('whole'));
      res.on('error', (error: NodeJS.ErrnoException) => finish(error.code ?? error.message));
    });
  });
  req.end(text);
  return { answer: done, hangUp: () => req.destroy() };
}

export interface StreamEvent {
  choices: { delta: { content?: string } }[];
  [field: string]: unknown;
}

/** The JSON of every `data:` line, `[DONE]` left out. */
export function dataEvents(text: string): StreamEvent[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

/** The text of a stream, whatever it was cut into. */
export const streamText = (text: string): string =>
  dataEvents(text)
    .flatMap((event) => event.choices.map((choice) => choice.delta.content ?? ''))
    .join('');
