import type { TestProvider } from '../support/provider.ts';

/** The fate of a text that stands as a value in a caller's body. */
export interface Passage {
  status: number;
  /** As the provider was sent it; `null`: nothing was sent. */
  sent: string | null;
}

const OPENING = '"default":';
const ENDING = ',"x-ends":1';

/** Calls a model with the text as a value inside a tool's schema, a place that means nothing to the gateway. */
export async function passValue(
  post: (body: string) => Promise<Response>,
  provider: TestProvider,
  modelId: string,
  text: string,
): Promise<Passage> {
  const before = provider.posts().at(-1);
  const answer = await post(
    `{"model":"${modelId}","messages":[{"role":"user","content":"Say hello."}],"max_tokens":50,` +
      `"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"a":{"type":"string",${OPENING}${text}${ENDING}}}}}}]}`,
  );
  await answer.arrayBuffer();
  const { status } = answer;
  const request = provider.posts().at(-1);
  if (request === undefined || request === before) return { status, sent: null };
  const body = request.body.toString();
  const begin = body.indexOf(OPENING) + OPENING.length;
  return { status, sent: body.slice(begin, body.indexOf(ENDING, begin)) };
}

/** Whether two texts are the same value to the last digit. A translation may write blanks, and the letters of a string, another way. */
export const isSameValue = (sent: string | null, text: string): boolean =>
  sent !== null && canonical(sent) === canonical(text);

const STRING_OR_BLANKS = /"(?:[^"\\]|\\.)*"|\s+/g;

const canonical = (text: string): string =>
  text.replaceAll(STRING_OR_BLANKS, (each) => (each.startsWith('"') ? JSON.stringify(JSON.parse(each)) : ''));
