import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { Provider } from '#core/catalog/catalog.ts';
import type { CatalogSettings } from '#core/catalog/catalog-settings.ts';
import { createCatalog, type LiveCatalog } from '#core/catalog/create-catalog.ts';
import { ProviderAnswerError } from '#core/catalog/import-source.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { Secret } from '#core/secret.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { atto, model, provider, row, settings } from './support.ts';

interface Fixture {
  catalog: LiveCatalog;
  clock: FakeClock;
  /** By provider: rows, or the sentence of a failure. */
  answers: Record<string, unknown[] | string>;
  fetched: string[];
  logged: string[];
  /** Moves the clock and lets what fell due come to its end. */
  advance: (ms: number) => Promise<void>;
}

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Of a provider whose catalogue is imported: of text, video and image models. */
const LISTS = 3;

const open: LiveCatalog[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

function start(given: CatalogSettings, answers: Fixture['answers'] = {}): Fixture {
  const clock = createFakeClock();
  const fetched: string[] = [];
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const fetchJson = async (from: Provider, path: string): Promise<unknown> => {
    if (path !== '/models') throw new ProviderAnswerError('The provider answered 404.', 404);
    fetched.push(`${from.baseUrl}${path}`);
    const answer = answers[from.id] ?? 'Nothing there.';
    if (typeof answer === 'string') throw new Error(answer);
    return { data: answer };
  };
  const catalog = createCatalog({
    settings: given,
    clock,
    log: { info: note, warn: note, error: note },
    fetchJson,
    bundledSimulatorUrl: 'http://localhost:7/v1',
  });
  open.push(catalog);
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  return { catalog, clock, answers, fetched, logged, advance };
}

const status = (catalog: LiveCatalog, id: string): string => catalog.find(id).status;

test('models of the configuration are served before any list has come', () => {
  const { catalog } = start(settings({ models: [model('acme/small')] }));
  expect(catalog.find('acme/small')).toMatchObject({
    status: 'served',
    model: { id: 'acme/small', createdAtMs: null },
  });
});

test('an imported model is served once its list is there; until then nobody is told that it does not exist', async () => {
  const { catalog } = start(settings(), { p: [row('x/y'), row('x/z:free')] });
  expect(status(catalog, 'x/y')).toBe('unavailable');
  await catalog.refresh();
  expect(status(catalog, 'x/y')).toBe('served');
  expect(status(catalog, 'x/z:free')).toBe('not_served');
  expect(catalog.find('x/yy')).toEqual({ status: 'unknown', nearest: ['x/y'] });
  expect(catalog.status().slice(0, 1)).toEqual([
    {
      providerId: 'p',
      list: 'models',
      lastSuccessAtMs: expect.any(Number),
      lastError: null,
      servedModels: 1,
      notServedModels: 1,
      heldBack: [],
      stale: false,
    },
  ]);
});

test('without imports an id that is not listed does not exist', () => {
  const { catalog } = start(
    settings({ providers: [provider({ catalog: 'none' })], models: [model('acme/small')] }),
  );
  expect(catalog.find('acme/smal')).toEqual({ status: 'unknown', nearest: ['acme/small'] });
  expect(catalog.find('x'.repeat(100_000))).toEqual({ status: 'unknown', nearest: [] });
});

test('one list that never came is enough to doubt that a model does not exist', async () => {
  const two = settings({ providers: [provider(), provider({ id: 'q', baseUrl: 'http://q/v1' })] });
  const { catalog, answers } = start(two, { p: [row('x/y')] });
  await catalog.refresh();
  expect(status(catalog, 'x/y')).toBe('served');
  expect(status(catalog, 'a/b')).toBe('unavailable');
  answers.q = [row('q/q')];
  await catalog.refresh();
  expect(status(catalog, 'a/b')).toBe('unknown');
});

test('a list is fetched again every hour, and a minute after a failure', async () => {
  const { catalog, answers, fetched, advance } = start(settings(), { p: [row('x/y')] });
  await catalog.refresh();
  await advance(HOUR_MS - 1);
  expect(fetched).toEqual(['http://localhost:1/v1/models']);
  answers.p = 'The provider answered 500.';
  await advance(1);
  expect(fetched).toHaveLength(2);
  answers.p = [row('x/new')];
  await advance(MINUTE_MS - 1);
  expect(fetched).toHaveLength(2);
  await advance(1);
  expect(fetched).toHaveLength(3);
  expect(status(catalog, 'x/new')).toBe('served');
  expect(status(catalog, 'x/y')).toBe('unknown');
});

test('a failed fetch keeps the last good list and is visible', async () => {
  const { catalog, clock, answers, advance } = start(settings(), { p: [row('x/y')] });
  await catalog.refresh();
  const fetchedAtMs = clock.now();
  answers.p = 'The provider answered 500.';
  await advance(HOUR_MS);
  expect(status(catalog, 'x/y')).toBe('served');
  expect(catalog.status().slice(0, 1)).toEqual([
    {
      providerId: 'p',
      list: 'models',
      lastSuccessAtMs: fetchedAtMs,
      lastError: { message: 'The provider answered 500.', atMs: clock.now() },
      servedModels: 1,
      notServedModels: 0,
      heldBack: [],
      stale: false,
    },
  ]);
  answers.p = [];
  await advance(MINUTE_MS);
  expect(status(catalog, 'x/y')).toBe('served');
  expect(catalog.status()[0]?.lastError?.message).toBe('The answer is no list of models that can be served.');
});

describe('a list that does not come', () => {
  const owned = settings({
    providers: [provider(), provider({ id: 'q', baseUrl: 'http://q/v1' })],
    models: [model('own/one')],
  });

  test('is served from until it is too old, then its models are unavailable and no others', async () => {
    const { catalog, answers, advance } = start(owned, { p: [row('x/y'), row('x/f:free')], q: [row('q/q')] });
    await catalog.refresh();
    answers.p = 'The provider answered 503.';
    await advance(DAY_MS);
    expect(status(catalog, 'x/y')).toBe('served');
    await advance(MINUTE_MS);
    expect(['x/y', 'x/f:free', 'q/q', 'own/one'].map((id) => status(catalog, id))).toEqual([
      'unavailable',
      'not_served',
      'served',
      'served',
    ]);
    expect(catalog.models().map(({ id }) => id)).toEqual(['own/one', 'q/q']);
    // The other list is new enough to tell that there is no such model.
    expect(status(catalog, 'a/b')).toBe('unknown');
    expect(
      catalog
        .status()
        .slice(0, 2)
        .map(({ stale }) => stale),
    ).toEqual([true, false]);
  });

  test('is served from again as soon as it comes', async () => {
    const { catalog, answers, advance } = start(settings(), { p: [row('x/y')] });
    await catalog.refresh();
    answers.p = 'Gone.';
    await advance(DAY_MS);
    await advance(MINUTE_MS);
    expect(status(catalog, 'x/y')).toBe('unavailable');
    expect(status(catalog, 'a/b')).toBe('unavailable');
    answers.p = [row('x/y')];
    await advance(MINUTE_MS);
    expect(status(catalog, 'x/y')).toBe('served');
    expect(status(catalog, 'a/b')).toBe('unknown');
    expect(catalog.status()[0]?.stale).toBe(false);
  });

  test('may be as old as the operator says', async () => {
    const short = settings({ providers: [provider({ listMaxAgeMs: 2 * HOUR_MS })] });
    const { catalog, answers, advance } = start(short, { p: [row('x/y')] });
    await catalog.refresh();
    answers.p = 'Gone.';
    await advance(HOUR_MS);
    await advance(HOUR_MS);
    expect(status(catalog, 'x/y')).toBe('served');
    await advance(MINUTE_MS);
    expect(status(catalog, 'x/y')).toBe('unavailable');
  });

  test('leaves its model to another provider that lists it', async () => {
    const { catalog, answers, advance } = start(owned, { p: [row('x/y')], q: [row('x/y')] });
    await catalog.refresh();
    const runsAt = () => catalog.models().find(({ id }) => id === 'x/y')?.endpoints[0]?.providerId;
    expect(runsAt()).toBe('p');
    answers.p = 'Gone.';
    await advance(DAY_MS);
    await advance(MINUTE_MS);
    expect(runsAt()).toBe('q');
  });

  test('from the start serves nothing, and what the configuration lists is served', async () => {
    const { catalog, logged, advance } = start(owned, { q: [row('q/q')] });
    await catalog.refresh();
    expect(['x/y', 'q/q', 'own/one'].map((id) => status(catalog, id))).toEqual([
      'unavailable',
      'served',
      'served',
    ]);
    expect(catalog.status()[0]).toMatchObject({ stale: true, lastSuccessAtMs: null });
    await advance(MINUTE_MS);
    await advance(MINUTE_MS);
    expect(logged).toEqual(['a list of models did not come, it is asked for again']);
  });

  test('is logged once, once more when it is too old, and when it comes again', async () => {
    const { catalog, answers, logged, advance } = start(settings(), { p: [row('x/y')] });
    await catalog.refresh();
    answers.p = 'The provider answered 404.';
    await advance(HOUR_MS);
    for (let minute = 0; minute < 3; minute++) await advance(MINUTE_MS);
    await advance(DAY_MS);
    for (let minute = 0; minute < 3; minute++) await advance(MINUTE_MS);
    answers.p = [row('x/y')];
    await advance(MINUTE_MS);
    expect(logged).toEqual([
      'a list of models did not come, it is asked for again',
      'a list of models is too old, they are not served until it comes',
      'a list of models came again',
    ]);
  });
});

test('fetches that are asked for at once are one fetch', async () => {
  const { catalog, fetched } = start(settings(), { p: [row('x/y')] });
  await Promise.all([catalog.refresh(), catalog.refresh(), catalog.refresh()]);
  expect(fetched).toHaveLength(1);
});

test("the operator's margin is in every price, rounded up", async () => {
  const margin = settings({
    providers: [provider({ priceFactorPpm: 1_055_000n })],
    models: [model('a/b', '1e-18')],
  });
  const { catalog } = start(margin, {
    p: [
      row('x/y', {
        pricing: {
          prompt: '0.0000025',
          completion: '1',
          input_cache_read: '0.1',
          overrides: [{ min_prompt_tokens: 1, completion: '2' }],
        },
      }),
    ],
  });
  await catalog.refresh();
  const [own, imported] = catalog.models();
  expect(own?.endpoints[0]?.prices.prompt).toBe(2n);
  expect(imported?.endpoints[0]?.prices).toMatchObject({
    prompt: atto('0.0000026375'),
    completion: atto('1.055'),
    cacheRead: atto('0.1055'),
    overrides: [{ completion: atto('2.11') }],
  });
});

test('an id in two places is served from the configuration first, then by the order of the providers', async () => {
  const two = settings({
    providers: [provider({ id: 'q', baseUrl: 'http://q/v1' }), provider()],
    models: [model('x/own', '0.5')],
  });
  const { catalog } = start(two, { p: [row('x/own'), row('x/both'), row('x/p')], q: [row('x/both')] });
  await catalog.refresh();
  expect(catalog.models().map((each) => [each.id, each.endpoints[0]?.providerId])).toEqual([
    ['x/own', 'p'],
    ['x/both', 'q'],
    ['x/p', 'p'],
  ]);
  expect(catalog.models()[0]?.endpoints[0]?.prices.prompt).toBe(atto('0.5'));
});

test('a stopped model is not served, wherever it comes from', async () => {
  const { catalog } = start(settings({ stoppedModels: ['x/y', 'never/listed'] }), {
    p: [row('x/y'), row('x/z')],
  });
  await catalog.refresh();
  expect(status(catalog, 'x/y')).toBe('not_served');
  expect(status(catalog, 'never/listed')).toBe('not_served');
  expect(catalog.models().map((each) => each.id)).toEqual(['x/z']);
});

test('a model that one provider serves is served, though another lists it as not for us', async () => {
  const two = settings({ providers: [provider(), provider({ id: 'q', baseUrl: 'http://q/v1' })] });
  const { catalog } = start(two, { p: [row('x/y', { pricing: null }), row('p/p')], q: [row('x/y')] });
  await catalog.refresh();
  expect(status(catalog, 'x/y')).toBe('served');
});

test('the stop switches of gateway and provider take effect with the settings', () => {
  const { catalog } = start(settings({ models: [model('a/b')] }));
  expect(catalog.gatewayStopped()).toBe(false);
  expect(catalog.provider('p')?.stopped).toBe(false);
  catalog.apply(
    settings({ stopped: true, providers: [provider({ stopped: true })], models: [model('a/b')] }),
  );
  expect(catalog.gatewayStopped()).toBe(true);
  expect(catalog.provider('p')?.stopped).toBe(true);
  expect(status(catalog, 'a/b')).toBe('served');
});

test('a new margin counts at once and fetches nothing', async () => {
  const { catalog, fetched } = start(settings(), { p: [row('x/y')] });
  await catalog.refresh();
  catalog.apply(settings({ providers: [provider({ priceFactorPpm: 2_000_000n })] }));
  expect(catalog.models()[0]?.endpoints[0]?.prices.prompt).toBe(atto('0.000005'));
  expect(fetched).toHaveLength(1);
});

test('a provider that moved or is new is fetched at once, one that went takes its models along', async () => {
  const { catalog, clock, answers, fetched } = start(settings(), { p: [row('x/y')], q: [row('q/q')] });
  await catalog.refresh();
  catalog.apply(
    settings({
      providers: [provider({ baseUrl: 'http://moved/v1' }), provider({ id: 'q', baseUrl: 'http://q/v1' })],
    }),
  );
  expect(status(catalog, 'x/y')).toBe('unavailable');
  await expect.poll(() => status(catalog, 'x/y')).toBe('served');
  expect(status(catalog, 'q/q')).toBe('served');
  expect(fetched.slice(1)).toEqual(['http://moved/v1/models', 'http://q/v1/models']);

  answers.p = 'Gone.';
  catalog.apply(settings({ providers: [provider({ id: 'q', baseUrl: 'http://q/v1' })] }));
  expect(status(catalog, 'x/y')).toBe('unknown');
  expect(catalog.provider('p')).toBeUndefined();
  expect(clock.pendingTimers()).toBe(LISTS);
});

test('an answer that comes after its provider was replaced is dropped', async () => {
  let answer: (value: unknown) => void = () => {};
  const clock = createFakeClock();
  const fetchJson = async (from: Provider, path: string): Promise<unknown> => {
    if (path !== '/models') throw new ProviderAnswerError('The provider answered 404.', 404);
    if (from.baseUrl !== 'http://old/v1') return { data: [row('x/new')] };
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  const old = settings({ providers: [provider({ baseUrl: 'http://old/v1' })] });
  const catalog = createCatalog({ settings: old, clock, log: silent, fetchJson, bundledSimulatorUrl: null });
  open.push(catalog);
  const first = catalog.refresh();
  catalog.apply(settings({ providers: [provider({ baseUrl: 'http://new/v1' })] }));
  answer({ data: [row('x/old')] });
  await first;
  await catalog.refresh();
  expect(catalog.models().map((each) => each.id)).toEqual(['x/new']);
  expect(clock.pendingTimers()).toBe(LISTS);
});

test('a simulator without address is the one of this process, and its absence is a bug that shows at once', () => {
  const simulator = settings({ providers: [provider({ kind: providerKinds.simulator, baseUrl: null })] });
  expect(start(simulator).catalog.providers()[0]?.baseUrl).toBe('http://localhost:7/v1');
  const clock = createFakeClock();
  expect(() =>
    createCatalog({
      settings: simulator,
      clock,
      log: silent,
      fetchJson: async () => null,
      bundledSimulatorUrl: null,
    }),
  ).toThrow('runs no simulator');
});

test("a provider's key can be used but not printed", () => {
  const { catalog } = start(settings({ providers: [provider({ apiKey: new Secret('geheim') })] }));
  const [only] = catalog.providers();
  expect(only?.apiKey).toBe('geheim');
  expect(inspect(catalog.providers(), { depth: null })).not.toContain('geheim');
  expect(JSON.stringify({ ...only, priceFactorPpm: null })).not.toContain('geheim');
});

test('a closed catalogue leaves no timer', async () => {
  const { catalog, clock } = start(settings(), { p: [row('x/y')] });
  await catalog.refresh();
  expect(clock.pendingTimers()).toBe(LISTS);
  catalog.close();
  expect(clock.pendingTimers()).toBe(0);
});

const priced = (id: string, prompt: string) => row(id, { pricing: { prompt, completion: '0.00001' } });

test('a price that jumps is held back until the operator takes it, and the rest of the list is not', async () => {
  const { catalog, advance, answers } = start(settings(), {
    p: [priced('x/a', '0.000001'), priced('x/b', '0.000001'), priced('x/c', '0.000001')],
  });
  await catalog.refresh();
  answers.p = [
    priced('x/a', '0.00001'),
    priced('x/b', '0.0000001'),
    priced('x/c', '0.000003'),
    priced('x/d', '1'),
  ];
  await advance(HOUR_MS);
  const promptOf = (id: string) => {
    const entry = catalog.find(id);
    return entry.status === 'served' ? entry.model.endpoints[0]?.prices.prompt : entry.status;
  };
  expect(['x/a', 'x/b', 'x/c', 'x/d'].map(promptOf)).toEqual(
    ['0.000001', '0.000001', '0.000003', '1'].map(atto),
  );
  expect(catalog.status()[0]?.heldBack).toEqual(['x/a', 'x/b']);
  // However often it comes.
  await advance(HOUR_MS);
  expect(catalog.status()[0]?.heldBack).toEqual(['x/a', 'x/b']);
  await catalog.acceptPrices();
  expect(['x/a', 'x/b'].map(promptOf)).toEqual(['0.00001', '0.0000001'].map(atto));
  expect(catalog.status()[0]?.heldBack).toEqual([]);
});
