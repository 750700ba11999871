/**
 * What `helm test` runs in the cluster: asks for health, makes a streamed call that costs something, and looks whether the balance
 * fell by it. Without a key it asks for health and the public document, and says so. It prints no key.
 */
async function makePaidCall(): Promise<void> {
  const {
    FAREGATE_URL = '',
    FAREGATE_INTERNAL_URL = '',
    FAREGATE_API_KEY: key,
    FAREGATE_MODEL,
  } = process.env;
  await ask(`${FAREGATE_INTERNAL_URL}/readyz`);
  say('The gateway is ready.');
  const document = (await (await ask(`${FAREGATE_URL}/openapi.json`)).json()) as { openapi?: string };
  if (document.openapi === undefined) throw new TestError('/openapi.json is no OpenAPI document.');
  say('It serves its document.');
  if (!key) {
    say('No call was paid for: test.existingSecret names no Secret with a key of an agent that has credit.');
    return;
  }

  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const read = async <T,>(path: string) =>
    (await (await ask(`${FAREGATE_URL}/v1${path}`, { headers })).json()) as T;
  const balance = async () => Number((await read<{ balance_usd: string }>('/balance')).balance_usd);
  const model = FAREGATE_MODEL || cheapest((await read<{ data: Model[] }>('/models')).data);
  const before = await balance();
  const { cost, events } = await streamAnswer(`${FAREGATE_URL}/v1/chat/completions`, {
    headers,
    method: 'POST',
    body: JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'Say hello.' }],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  if (!(cost > 0))
    throw new TestError(`A call of ${model} cost nothing: name a model with a price in test.model.`);
  // Other calls of this agent may take more, never less.
  for (let left = 20; (await balance()) > before - cost + HALF_NANO_USD; left -= 1) {
    if (left === 0) throw new TestError(`A call cost ${cost} dollars, and the balance is still ${before}.`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  say(`${model} answered in ${events} events for ${cost} dollars, which the balance fell by.`);
}

interface Model {
  id: string;
  endpoints: string[];
  pricing: { prompt: string; completion: string };
}

const HALF_NANO_USD = 5e-10;
const PATIENCE_MS = 120_000;

class TestError extends Error {
  override readonly name = 'TestError';
}

const say = (sentence: string): boolean => process.stdout.write(`${sentence}\n`);

async function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const path = new URL(url).pathname;
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) }).catch(
    (error: Error) => {
      throw new TestError(`${path} cannot be reached: ${String(error.cause ?? error)}`);
    },
  );
  if (answer.ok) return answer;
  throw new TestError(`${path} answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`);
}

function cheapest(models: readonly Model[]): string {
  const price = ({ pricing }: Model) => Number(pricing.completion) + Number(pricing.prompt);
  const [first] = models
    .filter((model) => model.endpoints.includes('chat/completions') && price(model) > 0)
    .sort((one, other) => price(one) - price(other));
  if (first === undefined)
    throw new TestError('/v1/models has no model with a price: look at the providers.');
  return first.id;
}

/** Throws where the stream is cut, or ends in an error. */
async function streamAnswer(url: string, init: RequestInit): Promise<{ cost: number; events: number }> {
  const text = await (await ask(url, init)).text();
  const data = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  if (data.at(-1) !== '[DONE]') throw new TestError(`The stream has no end: ${text.slice(-500)}`);
  const chunks = data.slice(0, -1).map((each) => JSON.parse(each) as { usage?: { cost?: number } | null });
  return { cost: Number(chunks.findLast(({ usage }) => usage)?.usage?.cost ?? 0), events: chunks.length };
}

try {
  await makePaidCall();
} catch (error) {
  process.stderr.write(`${error instanceof TestError ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
