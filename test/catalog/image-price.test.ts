import { expect, test } from 'vitest';
import type { ImageModel, ImagePrice } from '#core/catalog/image-model.ts';
import { type ImageShape, imageHoldAtto } from '#core/catalog/image-price.ts';
import { atto } from './support.ts';

type Line = [billable: ImagePrice['billable'], unit: ImagePrice['unit'], usd: string, variant?: string];

const hold = (
  lines: Line[],
  given: Partial<ImageShape> = {},
  also: Partial<ImageModel> = {},
): bigint | null =>
  imageHoldAtto(
    {
      id: 'x/y',
      name: 'Y',
      createdAtMs: null,
      readsImages: true,
      streaming: false,
      parameters: new Map(),
      pricing: lines.map(([billable, unit, usd, variant]) => ({
        billable,
        unit,
        price: atto(usd),
        variant: variant ?? null,
      })),
      outputTokensMax: new Map(),
      inputImageTokensMax: null,
      providerId: 'p',
      upstreamModel: 'x/y',
      endpointTag: null,
      ...also,
    },
    { images: 1, promptBytes: 100, references: 0, resolution: null, size: null, quality: null, ...given },
  );

const tiers: Line[] = [
  ['output_image', 'image', '0.01', '512'],
  ['output_image', 'image', '0.02', '1k'],
  ['output_image', 'image', '0.04', '2k'],
];
const qualities: Line[] = [
  ['output_image', 'image', '0.01', 'low'],
  ['output_image', 'image', '0.2', 'high'],
];
const resolutions = new Map([['resolution', { type: 'enum' as const, values: ['1K', '2K'] }]]);

test.each<[string, Line[], Partial<ImageShape>, string | null]>([
  ['each image', [['output_image', 'image', '0.03']], { images: 3 }, '0.09'],
  ['the tier that is asked for', tiers, { resolution: '1K' }, '0.02'],
  ['the smallest tier', tiers, { resolution: '512' }, '0.01'],
  ['the dearest tier where none is asked for', tiers, {}, '0.04'],
  ['the dearest tier where it is left to the provider', tiers, { resolution: 'auto' }, '0.04'],
  [
    'the dearest tier of a size in pixels, even beside a tier',
    tiers,
    { resolution: '512', size: '640x480' },
    '0.04',
  ],
  ['a tier sent as size', tiers, { size: '512' }, '0.01'],
  ['the dearest of all where no line is of the tier', tiers, { resolution: '4K' }, '0.04'],
  ['the quality that is asked for', qualities, { quality: 'low' }, '0.01'],
  ['the dearest quality where it is left to the provider', qualities, { quality: 'auto' }, '0.2'],
  [
    'a line of an unknown variant as possible',
    [...qualities, ['output_image', 'image', '0.5', 'turbo']],
    { quality: 'low' },
    '0.5',
  ],
  [
    'the dearest of a line for all and one for the tier',
    [['output_image', 'image', '0.05'], ...tiers],
    { resolution: '1K' },
    '0.05',
  ],
  [
    'each reference',
    [
      ['output_image', 'image', '0.03'],
      ['input_reference', 'image', '0.002'],
    ],
    { references: 4 },
    '0.038',
  ],
  [
    'no reference where there is none',
    [
      ['output_image', 'image', '0.03'],
      ['input_image', 'token', '9'],
    ],
    {},
    '0.03',
  ],
  ['a request by each image', [['output_image', 'request', '0.03']], { images: 2 }, '0.06'],
  [
    'different billed items together',
    [
      ['output_image', 'image', '0.03'],
      ['input_text', 'request', '0.01'],
    ],
    {},
    '0.04',
  ],
  [
    'the prompt, every byte a token, and what is put around it',
    [
      ['output_image', 'image', '0.03'],
      ['input_text', 'token', '0.001'],
    ],
    {},
    '0.642',
  ],
  ['megapixels of the tier', [['output_image', 'megapixel', '0.01']], { resolution: '2K' }, '0.05'],
  [
    'megapixels of the size, a started one whole',
    [['output_image', 'megapixel', '0.01']],
    { size: '1024x1024' },
    '0.02',
  ],
  ['the most megapixels where nobody says', [['output_image', 'megapixel', '0.01']], {}, '0.18'],
  [
    'a prompt by the megapixel not at all',
    [
      ['output_image', 'image', '1'],
      ['input_text', 'megapixel', '1'],
    ],
    {},
    null,
  ],
  ['tokens without a known ceiling not at all', [['output_image', 'token', '0.00003']], {}, null],
  [
    'references in tokens without a known ceiling not at all',
    [
      ['output_image', 'image', '1'],
      ['input_image', 'token', '1'],
    ],
    { references: 1 },
    null,
  ],
  ['nothing at all as nothing', [], {}, '0'],
])('a hold covers %s', (_, lines, given, usd) => {
  expect(hold(lines, given)).toBe(usd === null ? null : atto(usd));
});

test('megapixels are those of the largest tier that the model lists', () => {
  expect(hold([['output_image', 'megapixel', '0.01']], {}, { parameters: resolutions })).toBe(atto('0.05'));
});

test('tokens of an image are those of its tier or quality, else the most of any', () => {
  const byTier = {
    outputTokensMax: new Map([
      ['1k', 1_000],
      ['4k', 2_000],
    ]),
    inputImageTokensMax: 500,
  };
  const lines: Line[] = [
    ['output_image', 'token', '0.001'],
    ['input_image', 'token', '0.0001'],
  ];
  expect(hold(lines, { resolution: '1K' }, byTier)).toBe(atto('1'));
  expect(hold(lines, { resolution: '4K', images: 2 }, byTier)).toBe(atto('4'));
  expect(hold(lines, {}, byTier)).toBe(atto('2'));
  expect(hold(lines, { resolution: '1K', references: 3 }, byTier)).toBe(atto('1.15'));
  const byQuality = {
    outputTokensMax: new Map([
      ['low', 100],
      ['high', 6_000],
    ]),
  };
  expect(hold([['output_image', 'token', '0.001']], { quality: 'low' }, byQuality)).toBe(atto('0.1'));
  expect(hold([['output_image', 'token', '0.001', '1k']], {}, byTier)).toBe(atto('1'));
  expect(hold([['output_image', 'token', '0.001']], {}, { outputTokensMax: new Map([['', 7]]) })).toBe(
    atto('0.007'),
  );
});
