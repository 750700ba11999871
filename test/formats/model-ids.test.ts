import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';
import { FORMATS, requestIn } from './requests.ts';

const SERVED = 'acme/small';
const row = (id: string, given: object = {}) => ({
  id,
  context_length: 32_768,
  architecture: { input_modalities: ['text'], output_modalities: ['text'], tokenizer: 'GPT' },
  pricing: { prompt: '0.000001', completion: '0.000004' },
  ...given,
});
const free = { pricing: { prompt: '0', completion: '0' } };

let wire: WireProvider;
let gateway: TestGateway;
beforeAll(async () => {
  wire = await startWireProvider();
  const data = [
    row(SERVED),
    row('acme/small:free', free),
    row('acme/gift', free),
    row('acme/small:batch'),
    row('acme/old', { expiration_date: '2020-01-01' }),
    row('openrouter/auto', { pricing: { prompt: '-1', completion: '-1' } }),
    row('switch/router', {
      architecture: { input_modalities: ['text'], output_modalities: ['text'], tokenizer: 'Router' },
    }),
    row('~acme/newest', { alias_target: { name: 'Small', slug: SERVED } }),
  ];
  wire.answer({ body: JSON.stringify({ data }) });
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: router, kind: openrouter, baseUrl: "${wire.url}/v1" }
`,
  });
});
afterAll(async () => {
  await gateway.stop();
  await wire[Symbol.asyncDispose]();
});

const BELL = String.fromCharCode(7);
const asked: [string, string, string][] = [
  ['a free model', 'acme/gift', 'model_not_served'],
  ['the free version of a model', 'acme/small:free', 'model_not_served'],
  ['the batch version of a model', 'acme/small:batch', 'model_not_served'],
  ['a free version, steered', 'acme/small:free:nitro', 'model_not_served'],
  ['a retired model', 'acme/old', 'model_not_served'],
  ['a router', 'openrouter/auto', 'model_not_served'],
  ['a router of another vendor', 'switch/router', 'model_not_served'],
  ['a preset', '@preset/x', 'model_not_served'],
  ['a model with a preset', 'acme/small@preset/x', 'model_not_served'],
  ['the newest of a family', '~acme/newest', 'model_not_served'],
  ['two suffixes that steer', 'acme/small:nitro:floor', 'unknown_model'],
  ['a suffix that is none', 'acme/small:turbo', 'unknown_model'],
  ['nothing like a model', 'zzz', 'unknown_model'],
  ['ten kilobytes', `acme/${'small'.repeat(2_000)}`, 'invalid_request'],
  ['control characters', `acme/${BELL}small\r\nevent: x\n\ndata: {}`, 'unknown_model'],
  ['a byte of nothing', 'acme/small\u0000', 'unknown_model'],
  ['other letters that look alike', 'аcme/small', 'unknown_model'],
];

describe.each(FORMATS)('by %s', (format) => {
  const refused = async (body: object) => {
    const agent = await gateway.newAgent();
    const before = wire.requests.length;
    const res = await gateway.post(body, { path: pathOf(format), agent });
    const text = await res.text();
    expect(res.status).toBe(400);
    // In the answer's text nothing of an id stands raw that could end a line.
    expect(/\p{Cc}/u.test(text)).toBe(false);
    expect(text.length).toBeLessThan(600);
    expect(wire.requests).toHaveLength(before);
    expect((await gateway.view(agent)).holds).toEqual([]);
    return JSON.parse(text).error;
  };

  it.each(asked)('%s is refused by its name before anything is held', async (_what, id, code) => {
    for (const stream of [false, true]) {
      const error = await refused(requestIn(format, id, { stream }));
      expect(error.code).toBe(code);
      const isTooLong = code === 'invalid_request';
      expect(error.message).toContain(isTooLong ? '256 characters' : id.slice(0, 5));
    }
  });

  it.each(asked)('%s is refused as a fallback, too', async (_what, id, code) => {
    const error = await refused(requestIn(format, SERVED, { models: [SERVED, id] }));
    expect(error.code).toBe(code);
    if (format !== 'messages') expect(error.param).toBe('models[1]');
  });

  it('a wrong name is answered with the nearest', async () => {
    expect((await refused(requestIn(format, 'acme/smal'))).message).toBe(
      'No model has the id `acme/smal`. Did you mean `acme/small`?',
    );
    expect((await refused(requestIn(format, 'acme/small:nitro:floor'))).message).toContain(
      '`acme/small:nitro`',
    );
  });
});
