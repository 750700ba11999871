import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName, ProviderCancel } from '#core/catalog/catalog.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { formatUsd } from '#core/money.ts';
import { Secret } from '#core/secret.ts';
import { nextTurn } from '#core/wait.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import {
  startWireProvider,
  type WireAnswer,
  type WireProvider,
  type WireRequest,
} from '../support/wire-provider.ts';

/** What a provider counts: tokens of the prompt and of the answer. */
export interface WireUsage {
  prompt: number;
  completion: number;
  /** Dollars, of a provider that reports them. */
  cost: number;
}

/** The bytes of an answer. A text is written in UTF-8. */
export type Bytes = string | Buffer;

const joined = (parts: readonly Bytes[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part)));

/** How servers of one kind read requests and write answers, byte for byte. */
export interface ProviderWire {
  kind: ProviderKind;
  /** The format in which the tests ask. */
  format: FormatName;
  readRequest(request: WireRequest): { model: string; key: string; prompt: string; stream: boolean };
  /** A whole answer. `null`: it counts nothing. */
  answer(text: string, usage: WireUsage | null): Bytes;
  /** A stream of these pieces of text, part by part, its end included. */
  stream(pieces: readonly string[], usage: WireUsage | null): Bytes[];
  streamType: string;
  /** Headers of an answer or a stream beside its type, such as its usage. */
  answerHeaders?(usage: WireUsage | null): Record<string, string>;
  /** Servers of the kind are asked for streams alone. */
  alwaysStreams?: boolean;
  /** The body of an error. */
  error(words: string): Bytes;
  /** Headers of an error beside its type. */
  errorHeaders?: Readonly<Record<string, string>>;
  /** What its configuration says beside what all providers say. */
  settings?: Readonly<Record<string, unknown>>;
  /** What the provider says later of a call that cost `COST_USD`, if it keeps such records. */
  record?: string;
}

export const CONTRACT_KEY = 'key-of-the-operator-0123456789';
const PROMPT = 'How far is the moon?';
const PIECES = ['About ', '384,400 ', 'km – 🌕.'];
const USAGE: WireUsage = { prompt: 11, completion: 7, cost: 0.000039 };
/** 11 × $0.000001 + 7 × $0.000004. */
const COST_USD = '0.000039';

const promptIn = (format: FormatName): object =>
  format === 'responses'
    ? { input: PROMPT, max_output_tokens: 100 }
    : { messages: [{ role: 'user', content: PROMPT }], max_tokens: 100 };

export interface KindGatewayOptions {
  cancel?: ProviderCancel;
  /** Asked when the first provider refuses. */
  fallback?: Pick<ProviderWire, 'kind' | 'settings'>;
}

const yaml = (url: string, ids: readonly string[], cancel: ProviderCancel): string => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
${ids.map((id) => `  - { id: ${id}, kind: openai, dialect: other, baseUrl: "${url}", catalog: none, cancel: ${cancel} }\n`).join('')}
models:
  - id: acme/moon
    contextLength: 32768
    maxOutputTokens: 1024
    inputModalities: [text, image]
    endpoints:
${ids.map((id) => `      - { provider: ${id}, model: "moon-2:big", pricing: { prompt: "0.000001", completion: "0.000004" } }\n`).join('')}
`;

/** A gateway whose model `acme/moon` is served by a provider of this kind, which need not be in the registry. */
export function startKindGateway(
  wire: Pick<ProviderWire, 'kind' | 'settings'>,
  url: string,
  { cancel = 'bills_full', fallback }: KindGatewayOptions = {},
): Promise<TestGateway> {
  const wires = new Map([['first', wire]]);
  if (fallback !== undefined) wires.set('second', fallback);
  return startTestGateway({
    yaml: yaml(url, [...wires.keys()], cancel),
    change: (config) => ({
      ...config,
      providers: config.providers.map((each) => {
        const { kind, settings = {} } = wires.get(each.id) ?? wire;
        const formats = kind.configuration.formats(each.dialect);
        return { ...each, kind, settings, apiKey: new Secret(CONTRACT_KEY), formats };
      }),
    }),
  });
}

/** What every kind of provider must do, with whatever its servers send. */
export function describeProviderContract(wire: ProviderWire): void {
  describe(`a provider of kind ${wire.kind.name}`, () => {
    let provider: WireProvider;
    let gateway: TestGateway;

    const start = (options?: KindGatewayOptions): Promise<TestGateway> =>
      startKindGateway(wire, provider.url, options);
    const answer = (given: WireAnswer): void =>
      provider.answer({ ...given, ...(wire.record === undefined ? {} : { record: wire.record }) });

    beforeAll(async () => {
      provider = await startWireProvider();
      gateway = await start();
    });
    afterAll(async () => {
      await gateway[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });

    const ask = (stream: boolean, at: TestGateway = gateway, signal?: AbortSignal): Promise<Response> =>
      at.post(
        { model: 'acme/moon', stream, ...promptIn(wire.format) },
        { path: pathOf(wire.format), ...(signal && { signal }) },
      );
    const streamed = (parts: readonly Bytes[], usage: WireUsage | null): WireAnswer => ({
      headers: { 'content-type': wire.streamType, ...wire.answerHeaders?.(usage) },
      body: joined(parts),
    });
    const streamOf = (usage: WireUsage | null): WireAnswer => streamed(wire.stream(PIECES, usage), usage);
    const whole = (usage: WireUsage | null): WireAnswer =>
      wire.alwaysStreams
        ? streamOf(usage)
        : {
            headers: { 'content-type': 'application/json', ...wire.answerHeaders?.(usage) },
            body: wire.answer(PIECES.join(''), usage),
          };
    const lastCall = async (at: TestGateway = gateway) => {
      await at.settled();
      const [call] = await at.calls();
      if (call === undefined) throw new Error('no call is in the history');
      return { outcome: call.outcome, costUsd: formatUsd(call.chargedNanoUsd) };
    };

    it.each([false, true])(
      'is asked for the model and the prompt with its key, stream: %s',
      async (stream) => {
        answer(stream ? streamOf(USAGE) : whole(USAGE));
        await (await ask(stream)).text();
        const request = provider.requests.at(-1);
        if (request === undefined) throw new Error('nothing was asked');
        expect(wire.readRequest(request)).toEqual({
          model: 'moon-2:big',
          key: CONTRACT_KEY,
          prompt: PROMPT,
          stream: stream || wire.alwaysStreams === true,
        });
        expect(JSON.stringify(request)).not.toContain(gateway.agent.key);
        await gateway.settled();
      },
    );

    it('answers whole, and the call costs what it counted', async () => {
      answer(whole(USAGE));
      const text = await (await ask(false)).text();
      expect(text).toContain(PIECES.join(''));
      expect(text).not.toContain('moon-2');
      expect(await lastCall()).toEqual({ outcome: 'ok', costUsd: COST_USD });
    });

    it('streams, and the call costs what it counted', async () => {
      answer(streamOf(USAGE));
      const text = await (await ask(true)).text();
      for (const piece of PIECES) expect(text).toContain(piece);
      expect(text).not.toContain('moon-2');
      expect(await lastCall()).toEqual({ outcome: 'ok', costUsd: COST_USD });
    });

    it.each([false, true])(
      'that counts nothing is paid for its text, never nothing, stream: %s',
      async (stream) => {
        answer(stream ? streamOf(null) : whole(null));
        await (await ask(stream)).text();
        const { costUsd } = await lastCall();
        expect(Number(costUsd)).toBeGreaterThan(0);
        expect(Number(costUsd)).toBeLessThan(0.001);
        if (wire.record !== undefined) expect(costUsd).toBe(COST_USD);
      },
    );

    it('that stops in the middle of a stream and goes on loses nothing', async () => {
      const [first = '', ...rest] = wire.stream(PIECES, USAGE);
      const goOn = Promise.withResolvers<void>();
      answer({
        ...streamed([first], USAGE),
        async play(res) {
          await goOn.promise;
          res.end(joined(rest));
        },
      });
      const response = await ask(true);
      goOn.resolve();
      const text = await response.text();
      for (const piece of PIECES) expect(text).toContain(piece);
      expect(await lastCall()).toEqual({ outcome: 'ok', costUsd: COST_USD });
    });

    it.each([false, true])('that writes one byte at a time says the same, stream: %s', async (stream) => {
      const { headers = {}, body } = stream ? streamOf(USAGE) : whole(USAGE);
      answer({
        headers,
        body: '',
        async play(res) {
          for (const byte of Buffer.from(body)) {
            res.write(Buffer.of(byte));
            await nextTurn();
          }
          res.end();
        },
      });
      const text = await (await ask(stream)).text();
      for (const piece of PIECES) expect(text).toContain(piece);
      expect(await lastCall()).toEqual({ outcome: 'ok', costUsd: COST_USD });
    });

    it('that breaks off in the middle of a stream ends it with an error, and its text is paid', async () => {
      answer({ ...streamed(wire.stream(PIECES, null).slice(0, -2), null), cut: true });
      const text = await (await ask(true)).text();
      expect(text).toMatch(/error/);
      const { costUsd } = await lastCall();
      expect(Number(costUsd)).toBeGreaterThan(0);
      expect(Number(costUsd)).toBeLessThan(0.001);
    });

    it('that stops billing is closed at once when the caller hangs up, and its text is paid', async () => {
      await using fresh = await start({ cancel: 'stops_billing' });
      const closed = Promise.withResolvers<void>();
      answer({
        ...streamed(wire.stream(PIECES, null).slice(0, -2), null),
        play: async (res) => void res.on('close', closed.resolve),
      });
      const caller = new AbortController();
      const response = await ask(true, fresh, caller.signal);
      await response.body?.getReader().read();
      caller.abort();
      await closed.promise;
      const { outcome, costUsd } = await lastCall(fresh);
      expect(outcome).toBe('stopped');
      expect(Number(costUsd)).toBeGreaterThan(0);
    });

    it('that bills the whole answer is read to its end after a hang-up, and paid for what it counted', async () => {
      const [first = '', ...rest] = wire.stream(PIECES, USAGE);
      const gone = Promise.withResolvers<void>();
      answer({
        ...streamed([first], USAGE),
        async play(res) {
          await gone.promise;
          res.end(joined(rest));
        },
      });
      const caller = new AbortController();
      await ask(true, gateway, caller.signal);
      caller.abort();
      await until(() => gateway.running.deps.gateway.openCalls.usageDrains === 1);
      gone.resolve();
      expect(await lastCall()).toEqual({ outcome: 'stopped', costUsd: COST_USD });
    });

    it('that says its end twice is paid once', async () => {
      const parts = wire.stream(PIECES, USAGE);
      answer(streamed([...parts, ...parts.slice(-1)], USAGE));
      await (await ask(true)).text();
      expect(await lastCall()).toEqual({ outcome: 'ok', costUsd: COST_USD });
    });

    it.each([false, true])(
      'that answers what is none is an error of the provider and costs nothing, stream: %s',
      async (stream) => {
        answer({
          headers: { 'content-type': stream || wire.alwaysStreams ? wire.streamType : 'application/json' },
          body: stream ? '\u0000no answer\n\n' : '{"half',
        });
        const text = await (await ask(stream)).text();
        expect(text).toMatch(/error/);
        expect(text).not.toContain(CONTRACT_KEY);
        expect(Number((await lastCall()).costUsd)).toBe(0);
      },
    );

    it.each([
      [400, 400, true],
      [401, 503, false],
      [402, 503, false],
      // The messages format has a status of its own for a busy model.
      [429, wire.format === 'messages' ? 529 : 503, false],
      [500, 502, false],
    ])('that refuses with %i is told as %i, in words that show no key', async (sent, shown, showsWords) => {
      // A gateway of its own, because a refusal may open the circuit breaker of the key.
      await using fresh = await start();
      answer({
        status: sent,
        headers: { 'content-type': 'application/json', ...wire.errorHeaders },
        body: wire.error(`the moon is away, ${CONTRACT_KEY}`),
      });
      const response = await ask(false, fresh);
      const text = await response.text();
      expect([response.status, text.includes('the moon is away')]).toEqual([shown, showsWords]);
      expect(text).not.toContain(CONTRACT_KEY);
      await fresh.settled();
    });

    it('has a name, an address for every model and no record that it cannot read', () => {
      const { kind } = wire;
      expect(kind.name).toMatch(/^[a-z][a-z0-9-]*$/);
      const format = kind.ownFormat === null ? wire.format : 'own';
      for (const upstreamModel of ['a', 'vendor/a:b', 'ü ?#%']) {
        const path = kind.answerPath({ format, upstreamModel, stream: true });
        const { pathname, search, hash } = new URL(`http://host/v1${path}`);
        expect([pathname + search, hash]).toEqual([`/v1${path}`, '']);
      }
      for (const record of [null, [], 'x', {}, { data: {} }, { data: { usage: 'x', total_cost: -1 } }]) {
        expect(kind.bill?.read(record) ?? null).toBeNull();
        expect(kind.price?.read(record) ?? null).toBeNull();
      }
      const { reportsCost, routesBetweenVendors } = kind.capabilities;
      expect(routesBetweenVendors && !reportsCost).toBe(false);
    });
  });
}
