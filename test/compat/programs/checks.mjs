/** Every program here tries things and prints one line of JSON for each. */
const env = process.env;
export const ORIGIN = env.FAREGATE_ORIGIN;
export const BASE_URL = `${ORIGIN}/v1`;
export const KEY = env.FAREGATE_KEY;
export const EMPTY_KEY = env.FAREGATE_EMPTY_KEY;
export const WRONG_KEY = env.FAREGATE_WRONG_KEY;
export const MODEL = env.FAREGATE_MODEL;
export const THINKER = env.FAREGATE_THINKER;
export const KIND = env.FAREGATE_KIND;

// The model of the simulator calls the tool that each step names, with what stands in quotes.
export const TASK = 'Use find_city for "lions", then use city_weather for "Oslo".';
export const CITY = 'The lions live in Oslo.';
export const WEATHER = 'It is 7 degrees.';

export function expectText(found, ...expected) {
  for (const part of expected)
    if (!String(found).includes(part))
      throw new Error(`${JSON.stringify(part)} is not in ${JSON.stringify(found)}`);
}

export const expectAnswers = (text) => expectText(text, CITY, WEATHER);

export function tell(name, outcome, detail = '') {
  console.log(JSON.stringify({ name, outcome, detail: String(detail).slice(0, 600) }));
}

export async function tried(name, attempt) {
  try {
    await attempt();
    tell(name, 'passed');
  } catch (error) {
    tell(
      name,
      'failed',
      `${error?.message ?? error} ${error?.responseBody ?? ''} ${error?.cause?.message ?? ''}`,
    );
  }
}

/** The library must throw an error that a person can read. */
export const refused = (name, attempt, words) =>
  tried(name, async () => {
    let refusal;
    try {
      await attempt();
    } catch (error) {
      refusal = error;
    }
    if (refusal === undefined) throw new Error('The call was not refused.');
    expectText(
      `${refusal.message} ${refusal.responseBody ?? ''} ${refusal.body ?? ''} ${refusal.cause?.message ?? ''}`,
      words,
    );
  });

/** `callWith(key)` makes a plain call with that key. */
export async function refusals(callWith, name) {
  await refused(`${name}: shows the refusal: wrong key`, () => callWith(WRONG_KEY), 'API key');
  await refused(`${name}: shows the refusal: no credit`, () => callWith(EMPTY_KEY), 'is spendable');
}
