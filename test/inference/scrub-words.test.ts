import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Hidden, repeatsHidden, scrubWords } from '../../api/inference/scrub/scrub-words.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { hidden, usefulSentences, worstSentences } from './worst-sentences.ts';

describe('words of a provider', () => {
  it.each(worstSentences)(
    'show nothing of who answers, by which key or from where: $words',
    ({ words, secrets, kept }) => {
      const shown = scrubWords(words, hidden) ?? '';
      for (const secret of secrets) expect(shown.toLowerCase()).not.toContain(secret.toLowerCase());
      if (kept !== undefined) expect(shown).toContain(kept);
    },
  );

  it.each(usefulSentences)('say what to change, letter by letter: %s', (words) => {
    expect(scrubWords(words, hidden)).toBe(words);
  });

  it.each(usefulSentences)(
    'say it also where the provider has an ordinary name and a placeholder as its key: %s',
    (words) => {
      const plain: Hidden = {
        provider: { id: 'local', apiKey: 'EMPTY', baseUrl: 'http://localhost:8000/v1' },
        upstreamModel: 'default',
        publicModel: 'default',
      };
      expect(scrubWords(words, plain)).toBe(words);
    },
  );

  it('name the model as the caller knows it, vendor and all', () => {
    const router: Hidden = {
      provider: { id: 'openrouter', apiKey: 'sk-or-v1-0123456789', baseUrl: 'https://openrouter.ai/api/v1' },
      upstreamModel: 'openai/gpt-4o-2024-11-20',
      publicModel: 'openai/gpt-4o',
    };
    const words = 'openai/gpt-4o-2024-11-20 (gpt-4o-2024-11-20, openai/gpt-4o) takes no audio, says OpenAI';
    expect(scrubWords(words, router)).toBe(
      'openai/gpt-4o (openai/gpt-4o, openai/gpt-4o) takes no audio, says the provider',
    );
  });

  it.each([
    [
      'EMPTY',
      'messages must not be empty; key EMPTY is unknown',
      'messages must not be empty; key … is unknown',
    ],
    ['none', 'none of the fields is set (none)', '… of the fields is set (…)'],
    ['a', 'a field is missing', '… field is missing'],
    ['k3y-9', 'fieldk3y-9 is missing', 'field… is missing'],
  ])('hide a key as short as %j', (apiKey, words, shown) => {
    const { provider } = hidden;
    expect(scrubWords(words, { ...hidden, provider: { ...provider, apiKey } })).toBe(shown);
  });

  it.each(['', '  ', '…', 'http://10.0.0.1:8000/v1', 'token-abc123', '"token-abc123"'])(
    'are none where nothing is left of them: %j',
    (words) => {
      expect(scrubWords(words, hidden)).toBeNull();
    },
  );
});

/** How a text may stand inside another one. */
const writings: Record<string, (text: string) => string> = {
  plain: (text) => text,
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  'percent signs': (text) => encodeURIComponent(text),
  'percent signs everywhere': (text) =>
    [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join(''),
  'percent signs twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'escapes of JSON': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  'escapes of JSON twice': (text) => JSON.stringify(JSON.stringify(text)),
  'escapes of JSON everywhere': (text) =>
    [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  'entities of HTML': (text) => [...text].map((char) => `&#x${char.charCodeAt(0).toString(16)};`).join(''),
  'quotes in the middle': (text) => `${text.slice(0, text.length >> 1)}"${text.slice(text.length >> 1)}`,
  'a sum of two texts': (text) => `'${text.slice(0, 5)}' + '${text.slice(5)}'`,
  'a line end in the middle': (text) => `${text.slice(0, 6)}\n${text.slice(6)}`,
};

const lowerAlphanumeric = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789');
const textOf = (minLength: number, maxLength: number) =>
  fc.string({ unit: lowerAlphanumeric, minLength, maxLength });

/** The digits of a short address, such as those of `[2::]`, stand in ordinary sentences, too. */
const isTelling = (address: string): boolean => bare(address).length >= 8;

const hiddenOnes = fc.record({
  key: fc.oneof(
    textOf(12, 40).map((rest) => `sk-${rest}`),
    textOf(6, 12).map((rest) => `token-9${rest}`),
    textOf(16, 40).map((rest) => `Zq7${rest}`),
  ),
  host: fc.oneof(
    fc.tuple(textOf(4, 10), textOf(3, 8)).map(([a, b]) => `q${a}.${b}.internal`),
    fc.tuple(textOf(4, 10), textOf(5, 8)).map(([a, b]) => `q${a}.x${b}`),
    fc.ipV4().filter(isTelling),
    fc
      .ipV6()
      .map((address) => `[2${address.slice(1)}]`)
      .filter((url) => URL.canParse(`http://${url}`) && isTelling(new URL(`http://${url}`).hostname)),
  ),
  port: fc.integer({ min: 1_024, max: 65_535 }),
  model: fc.tuple(textOf(4, 8), textOf(6, 12)).map(([owner, name]) => `q${owner}/Zz${name}`),
});

/** Only letters and digits count: a secret with its dots taken out is one still. */
const bare = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

describe('whatever is put into a refusal', () => {
  const property = (
    inserted: (hidden: Hidden) => string,
    secretsOf: (hidden: Hidden) => string[],
    options: { inWords: boolean; written?: (name: string) => boolean },
  ) =>
    fc.property(
      hiddenOnes,
      fc.constantFrom(...usefulSentences),
      fc.constantFrom(...Object.keys(writings).filter(options.written ?? (() => true))),
      fc.nat(),
      fc.nat({ max: 2_500 }),
      ({ key, host, port, model }, sentence, writing, place, padding) => {
        const all: Hidden = {
          provider: { id: 'acme-cluster', apiKey: key, baseUrl: `http://${host}:${port}/v1` },
          upstreamModel: model,
          publicModel: 'acme/large',
        };
        const write = writings[writing] ?? ((text: string) => text);
        const at = place % (sentence.length + 1);
        const glue = options.inWords ? '' : ' ';
        const words = `${'pad '.repeat(padding / 4)}${sentence.slice(0, at)}${glue}${write(inserted(all))}${glue}${sentence.slice(at)}`;
        const shown = bare(scrubWords(words, all) ?? '');
        for (const secret of secretsOf(all)) expect(shown).not.toContain(bare(secret));
      },
    );
  const keyOf = ({ provider }: Hidden) => provider.apiKey ?? '';
  const hostOf = ({ provider }: Hidden) => new URL(provider.baseUrl).hostname;

  it('the key is not shown, wherever it stands and however it is written', () => {
    fc.assert(
      property(keyOf, (all) => [keyOf(all)], { inWords: true }),
      { numRuns: 400 },
    );
  });

  it('the address is not shown', () => {
    const forms: ((all: Hidden) => string)[] = [
      ({ provider }) => provider.baseUrl,
      ({ provider }) => new URL(provider.baseUrl).host,
      hostOf,
    ];
    for (const form of forms)
      fc.assert(
        property(form, (all) => [hostOf(all)], { inWords: false }),
        { numRuns: 200 },
      );
  });

  it('the model’s id at the provider is not shown', () => {
    const modelOf = ({ upstreamModel }: Hidden) => upstreamModel;
    fc.assert(
      property(modelOf, (all) => [modelOf(all), modelOf(all).split('/')[1] ?? ''], { inWords: true }),
      { numRuns: 400 },
    );
  });

  it('a path is not shown', () => {
    const path = () => '/opt/qzservice/models/qzweights.bin';
    fc.assert(
      property(path, () => ['qzservice', 'qzweights'], {
        inWords: false,
        written: (name) =>
          !['quotes in the middle', 'a sum of two texts', 'a line end in the middle'].includes(name),
      }),
      { numRuns: 200 },
    );
  });

  it('takes no time to clean, whatever is repeated', () => {
    for (const part of [
      '@',
      'a.',
      'a-1',
      '1.',
      ' ',
      '/',
      '//',
      'a:',
      '::',
      '%41',
      '\\u0041',
      '&#x41;',
      '"',
      '*',
      '…',
      'x',
      '\\',
      'at (',
      'File "',
      'bearer ',
      'org-',
      'a@a.',
      'project ',
    ]) {
      const cpuMs = cpuMsOf(() => void scrubWords(part.repeat(60_000), hidden));
      expect(cpuMs, part).toBeLessThan(500);
    }
  });
});

describe('an id of a provider', () => {
  it.each([
    ['gen-1234567890', false],
    ['chatcmpl-9f8e7d', false],
    ['token-abc123', true],
    ['TOKEN-ABC123-1', true],
    ['vllm-0.acme.internal', true],
    ['acme/large', false],
  ])('%j repeats what is hidden: %s', (value, repeats) => {
    expect(repeatsHidden(value, hidden.provider)).toBe(repeats);
  });
});
