import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { HANDLED, saysNothing } from '../../api/inference/formats/unsupported-fields.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { type KnownField, knownFields, plainRequest } from '../../openapi/generate/field-rows.ts';
import { askTarget, fateOf, isPassed, type Target, targets } from '../../openapi/generate/field-table.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { FORMATS } from './requests.ts';

/* What the guide of fields says holds for every field in every format, at every server that the gateway knows. */

const ways: readonly FormatName[][] = [['chat', 'responses', 'messages'], ['chat'], ['messages']];
const servers: readonly Target[] = [
  ...Object.entries(dialects).flatMap(([name, dialect]) =>
    ways.map((formats) => ({
      name: `${name}, ${formats.join(' and ')}`,
      kind: 'openai' as const,
      dialect,
      formats,
    })),
  ),
  { name: 'anthropic', kind: 'anthropic', dialect: dialects.other, formats: ['messages'] },
  {
    name: 'a router',
    kind: 'openrouter',
    dialect: dialects.other,
    formats: ['chat', 'responses', 'messages'],
  },
];

/** The gateway heeds them in the answers that it shows, which have signed reasoning always. A tool that may load later is sent at once. */
const HEEDED = new Set([
  ...['reasoning.exclude', 'reasoning.summary', 'stream', 'include', 'tools[].defer_loading'],
]);

const mayVanish = ({ name, sample }: KnownField): boolean => {
  const [top = ''] = name.split('.');
  return (
    (name === top && HANDLED.has(top)) || HEEDED.has(name) || saysNothing(name, Object.values(sample)[0])
  );
};

const requestOf = (format: FormatName, { sample }: KnownField, provider: object | null = null): object => ({
  ...plainRequest[format],
  ...sample,
  ...(provider === null ? {} : { provider: { ...Object(Reflect.get(sample, 'provider')), ...provider } }),
});

describe.each(servers)('at a server of $name', (server) => {
  it.each(FORMATS)('no field of %s vanishes without its name', (format) => {
    const vanished = knownFields[format].filter(
      (known) => fateOf(format, known, server) === 'by the gateway' && !mayVanish(known),
    );
    expect(vanished.map(({ name }) => name)).toEqual([]);
  });

  it.each(FORMATS)(
    'a call in %s that wants every field heeded hears of each that is not, and of no hint',
    (format) => {
      for (const known of knownFields[format]) {
        const asked = askTarget(format, requestOf(format, known), server);
        if (isApiError(asked)) continue;
        const strict = askTarget(format, requestOf(format, known, { require_parameters: true }), server);
        const [missed] = asked.leftOut;
        if (missed === undefined) {
          expect([known.name, isApiError(strict)]).toEqual([known.name, false]);
          continue;
        }
        if (!isApiError(strict)) throw new Error(`${known.name} is admitted`);
        if (known.name === 'an offered search') {
          expect(strict.code).toBe('tool_not_served');
          continue;
        }
        expect([strict.code, strict.param]).toEqual(['no_provider', missed]);
        expect(strict.message).toContain(`\`${missed}\``);
      }
    },
  );
});

const FORMAT_PATHS = { chat: 'chat/completions', responses: 'responses', messages: 'messages' } as const;
const DIALECT_OF = ['other', 'other', 'self-hosted', 'other', 'other'];

describe('what the tables call passed', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const providers = targets.map(({ kind, formats }, at) => {
      const words = `formats: [${formats.map((name) => FORMAT_PATHS[name]).join(', ')}]`;
      const more = kind === 'openai' ? `, dialect: ${DIALECT_OF[at]}, ${words}` : '';
      const named = kind === 'openrouter' ? `simulator, ${words}` : kind;
      return `  - { id: p${at}, kind: ${named}${more}, catalog: none, cancel: stops_billing, baseUrl: PROVIDER_URL }`;
    });
    const prices = 'prompt: "0.000001", completion: "0.000001", webSearch: "0.01"';
    const models = targets.map(
      (_, at) =>
        `  - { id: m${at}, contextLength: 100000, maxOutputTokens: 4000, inputModalities: [text, image, file], endpoints: [{ provider: p${at}, model: claude-opus-5-5, pricing: { ${prices} } }] }`,
    );
    gateway = await startTestGateway({
      yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000 }
providers:
${providers.join('\n')}
models:
${models.join('\n')}
`,
    });
    gateway.provider.always({ status: 400, error: { message: 'No answer is needed.' } });
  });
  afterAll(() => gateway.stop());

  describe.each(targets.map((target, at) => ({ ...target, target, at })))('at $name', ({ target, at }) => {
    it.each(FORMATS)('is what the provider is sent, asked in %s', async (format) => {
      const passed = knownFields[format].filter((known) => fateOf(format, known, target) === 'passed');
      // The two formats have no field in common that the model of the tables takes.
      if (passed.length === 0) expect([target.kind, format]).toEqual(['anthropic', 'responses']);
      for (const known of passed) {
        const sentBefore = gateway.provider.posts().length;
        const body = { ...requestOf(format, known), model: `m${at}` };
        await (
          await gateway.post(body, {
            path: pathOf(format),
            headers: { 'anthropic-beta': 'context-management-2025-06-27,task-budgets-2026-03-13' },
          })
        ).text();
        const sent = gateway.provider.posts().slice(sentBefore).at(-1)?.body.toString() ?? 'null';
        expect([known.name, isPassed(JSON.parse(sent), known)]).toEqual([known.name, true]);
      }
    });
  });
});
