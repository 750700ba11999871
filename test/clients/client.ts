import type { FormatName } from '#core/catalog/catalog.ts';

/** A client package as its users have it: only translated to the calls of the table, in `scenarios.ts`. */
export interface Client {
  name: string;
  format: FormatName;
  /** Where it shows what a call cost. */
  showsCost: { whole: boolean; streamed: boolean };
  /** The names of its errors: for a refusal; and for an error in the middle of a stream, with the code that it shows. */
  errors: { refused: string; broken: { name: string; code: string | undefined } };
  open(account: Account): ClientCalls;
}

export interface Account {
  /** Ends in `/v1`. */
  baseUrl: string;
  key: string;
}

export interface ClientCalls {
  text(model: string): Promise<Told>;
  stream(model: string): Promise<Told>;
  /** Two calls: one that is answered by calls of tools, one with their results. */
  tools(model: string, options: { streamed: boolean }): Promise<Told & { called: Called[] }>;
  /** The same first call, of at most one tool. */
  oneTool(model: string): Promise<Called[]>;
  structured(model: string): Promise<Told>;
  image(model: string): Promise<Told>;
  fallback(model: string, fallback: string): Promise<Told>;
  /** Ends as soon as a first piece came and the client went away. */
  hangUp(model: string): Promise<void>;
  /** `text`, as it fails. */
  refused(model: string): Promise<Failure>;
  /** `stream`, as it fails. */
  broken(model: string): Promise<Failure>;
}

export interface Told {
  text: string;
  model: string | undefined;
  /** What the client shows as the cost of each call; `undefined` where it shows none. */
  costs: unknown[];
}

export interface Called {
  name: string;
  arguments: unknown;
}

export interface Failure {
  name: string;
  status: number | undefined;
  code: unknown;
  message: string;
}

export const SYSTEM = 'Be short.';
export const PROMPT = 'Hello';
export const QUESTION = 'Weather and time in Oslo?';
export const IMAGE = 'https://example.com/cat.png';
export const TOKENS_MAX = 300;

const object = (property: string) => ({
  type: 'object' as const,
  properties: { [property]: { type: 'string' as const } },
  required: [property],
  additionalProperties: false,
});

export const ANSWER = object('city');

export const TOOLS = [
  { name: 'get_weather', description: 'The weather in a city.', parameters: object('city') },
  { name: 'get_time', description: 'The time in a zone.', parameters: object('zone') },
];

const RESULTS: Readonly<Record<string, string>> = { get_weather: '7 degrees', get_time: 'half past nine' };

/** What the caller's own code answers. */
export const resultOf = (name: string): string => RESULTS[name] ?? 'no such tool';

export const costOf = (usage: unknown): unknown => Reflect.get(Object(usage), 'cost');

/** What a call that has to fail fails with. */
export async function failureOf(
  call: Promise<unknown>,
  read: (error: Error) => Omit<Failure, 'name' | 'message'> & Partial<Failure>,
): Promise<Failure> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const name = error.name === 'Error' ? error.constructor.name : error.name;
    return { name, message: error.message, ...read(error) };
  }
  throw new Error('The call did not fail.');
}
