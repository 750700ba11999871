import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import {
  type Account,
  ANSWER,
  type Client,
  type ClientCalls,
  IMAGE,
  PROMPT,
  QUESTION,
  resultOf,
  SYSTEM,
  TOKENS_MAX,
  TOOLS,
} from '../client.ts';

/** The official Python packages, in one process that makes their calls one after another. */
export class PythonClients {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(python: string) {
    this.#process = spawn(python, [join(import.meta.dirname, 'clients.py')], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Neither a proxy nor a key of this machine's.
      env: { PATH: process.env.PATH },
    });
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('Python has no output.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    this.#write({
      system: SYSTEM,
      prompt: PROMPT,
      question: QUESTION,
      image: IMAGE,
      tokensMax: TOKENS_MAX,
      answer: ANSWER,
      tools: TOOLS,
      results: Object.fromEntries(TOOLS.map(({ name }) => [name, resultOf(name)])),
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await ended;
  }

  calls(client: string, account: Account): ClientCalls {
    const ask =
      <Result>(call: string, result: z.ZodType<Result>) =>
      (...args: unknown[]): Promise<Result> => {
        const answer = this.#last.then(() => this.#ask({ client, call, args, ...account }, result));
        this.#last = answer.catch(() => undefined);
        return answer;
      };
    return {
      text: ask('text', told),
      stream: ask('stream', told),
      tools: (model, { streamed }) => ask('tools', told.extend({ called: calledList }))(model, streamed),
      oneTool: ask('one_tool', calledList),
      structured: ask('structured', told),
      image: ask('image', told),
      fallback: ask('fallback', told),
      async hangUp(model) {
        await ask('hang_up', z.null())(model);
      },
      refused: ask('refused', failure),
      broken: ask('broken', failure),
    };
  }

  async #ask<Result>(what: object, result: z.ZodType<Result>): Promise<Result> {
    this.#write(what);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error('Python has ended.');
    const answer = z
      .object({ result: z.unknown(), error: z.string().optional() })
      .parse(JSON.parse(line.value));
    if (answer.error !== undefined) throw new Error(answer.error);
    return result.parse(answer.result);
  }

  #write(what: object): void {
    this.#process.stdin?.write(`${JSON.stringify(what)}\n`);
  }
}

const told = z.object({
  text: z.string(),
  model: z.string(),
  costs: z.array(z.unknown()),
});
const calledList = z.array(z.object({ name: z.string(), arguments: z.unknown() }));
const failure = z.object({
  name: z.string(),
  status: z
    .int()
    .nullable()
    .transform((status) => status ?? undefined),
  code: z.unknown(),
  message: z.string(),
});

type Shown = Pick<Client, 'format' | 'errors'>;
const clientOf = (name: string, format: Shown['format'], errors: Shown['errors']) => ({
  name: `${name} (Python)`,
  format,
  showsCost: { whole: true, streamed: true },
  errors,
});

/** By the names that the process knows them by. */
export const pythonClients = {
  'openai chat': clientOf('openai', 'chat', {
    refused: 'APIStatusError',
    broken: { name: 'APIError', code: 'provider_error' },
  }),
  'openai responses': clientOf('openai', 'responses', {
    refused: 'APIStatusError',
    broken: { name: 'APIError', code: 'provider_error' },
  }),
  'anthropic messages': clientOf('anthropic', 'messages', {
    refused: 'PaymentRequiredError',
    broken: { name: 'APIStatusError', code: 'provider_error' },
  }),
};
