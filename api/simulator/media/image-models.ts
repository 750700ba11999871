import { type AttoUsd, attoUsd } from '#core/money.ts';

/** The image models of the simulator. */
export interface SimImageModel {
  id: string;
  name: string;
  parameters: Readonly<Record<string, SimParameter>>;
  streaming: boolean;
  /** The first is the one that answers who pins none. */
  endpoints: readonly [SimImageEndpoint, ...SimImageEndpoint[]];
}

export interface SimImageEndpoint {
  providerName: string;
  tag: string;
  pricing: readonly SimImagePrice[];
  /** What it really takes, said once more by hand. */
  priceAtto(made: MadeImages): AttoUsd;
}

export interface SimImagePrice {
  billable: string;
  unit: string;
  cost_usd: number;
  variant?: string;
}

export interface MadeImages {
  images: number;
  widthPx: number;
  heightPx: number;
  resolution: string;
  references: number;
  promptTokens: number;
  outputTokens: number;
}

type SimParameter =
  | { type: 'enum'; values: readonly string[] }
  | { type: 'range'; min: number; max: number }
  | { type: 'boolean' };

const RATIOS: SimParameter = { type: 'enum', values: ['1:1', '16:9', '9:16', '3:2'] };
const FORMATS: SimParameter = { type: 'enum', values: ['png', 'webp'] };
const tiers = (...values: string[]): SimParameter => ({ type: 'enum', values });
const times = (usd: string, count: number): AttoUsd => attoUsd(usd) * BigInt(count);
const free = (): AttoUsd => 0n;

const simCloud = (
  pricing: SimImageEndpoint['pricing'],
  priceAtto: SimImageEndpoint['priceAtto'] = free,
): SimImageEndpoint => ({ providerName: 'SimCloud', tag: 'sim-cloud', pricing, priceAtto });

/** Of one image of a model that counts tokens. */
export const IMAGE_TOKENS = 1_120;
const REFERENCE_TOKENS = 560;

const sketchAt = (providerName: string, tag: string, factor: number): SimImageEndpoint => ({
  providerName,
  tag,
  pricing: [
    { billable: 'output_image', unit: 'token', cost_usd: 0.00003 * factor },
    { billable: 'input_text', unit: 'token', cost_usd: 0.0000005 * factor },
    { billable: 'input_image', unit: 'token', cost_usd: 0.0000003 * factor },
  ],
  priceAtto: ({ outputTokens, promptTokens, references }) =>
    BigInt(factor) *
    (times('0.00003', outputTokens) +
      times('0.0000005', promptTokens) +
      times('0.0000003', references * REFERENCE_TOKENS)),
});

export const simImageModels: readonly SimImageModel[] = [
  {
    id: 'faregate-sim/paint',
    name: 'Sim Paint',
    parameters: {
      n: { type: 'range', min: 1, max: 4 },
      resolution: tiers('512', '1K', '2K'),
      aspect_ratio: RATIOS,
      output_format: FORMATS,
      seed: { type: 'range', min: 0, max: 2_147_483_647 },
    },
    streaming: false,
    endpoints: [
      simCloud(
        [
          { billable: 'output_image', unit: 'image', cost_usd: 0.01, variant: '512' },
          { billable: 'output_image', unit: 'image', cost_usd: 0.02, variant: '1k' },
          { billable: 'output_image', unit: 'image', cost_usd: 0.04, variant: '2k' },
        ],
        ({ images, resolution }) =>
          times(resolution === '512' ? '0.01' : resolution === '2K' ? '0.04' : '0.02', images),
      ),
    ],
  },
  {
    id: 'faregate-sim/sketch',
    name: 'Sim Sketch',
    parameters: {
      aspect_ratio: RATIOS,
      transparent: { type: 'boolean' },
      input_references: { type: 'range', min: 0, max: 2 },
    },
    streaming: false,
    // Who pins none may be answered by the dearer one.
    endpoints: [sketchAt('SimFast', 'sim-fast/priority', 2), sketchAt('SimCloud', 'sim-cloud', 1)],
  },
  {
    id: 'faregate-sim/develop',
    name: 'Sim Develop',
    parameters: {
      n: { type: 'range', min: 1, max: 2 },
      resolution: tiers('1K', '512'),
      aspect_ratio: RATIOS,
      quality: { type: 'enum', values: ['auto', 'low', 'high'] },
      output_format: FORMATS,
      input_references: { type: 'range', min: 0, max: 4 },
    },
    streaming: true,
    endpoints: [
      simCloud(
        [
          { billable: 'output_image', unit: 'megapixel', cost_usd: 0.01 },
          { billable: 'input_reference', unit: 'image', cost_usd: 0.002 },
        ],
        ({ images, widthPx, heightPx, references }) =>
          times('0.01', images * Math.ceil((widthPx * heightPx) / 1_000_000)) + times('0.002', references),
      ),
    ],
  },
  {
    id: 'faregate-sim/poster',
    name: 'Sim Poster',
    parameters: { fonts: { type: 'range', min: 0, max: 9 } },
    streaming: false,
    endpoints: [
      simCloud([
        { billable: 'output_image', unit: 'image', cost_usd: 0.05 },
        { billable: 'input_font', unit: 'request', cost_usd: 0.01 },
      ]),
    ],
  },
  {
    id: 'faregate-sim/endless',
    name: 'Sim Endless',
    parameters: {},
    streaming: false,
    endpoints: [simCloud([{ billable: 'output_image', unit: 'token', cost_usd: 0.00004 }])],
  },
];

export const findSimImageModel = (id: string): SimImageModel | undefined =>
  simImageModels.find((each) => each.id === id);
