import { createDearestPricer, createPricer, type PriceList, type Pricer } from './prices.ts';

/** The catalogue of the simulator: one model for every way in which a real row can surprise an importer. */
export interface SimModel {
  id: string;
  name: string;
  description: string;
  contextLength: number;
  /** `null`, as in many real rows: as long as the context allows. */
  maxOutputTokens: number | null;
  inputModalities: readonly string[];
  reasons: boolean;
  /** It works with tools as the models of agents do (`agent-model.ts`). */
  acts: boolean;
  tokenizer: string;
  /** `YYYY-MM-DD`; the model may be gone after it. */
  expirationDate: string | null;
  /** The first is the top provider, whose prices the model's row shows. */
  endpoints: readonly [SimEndpoint, ...SimEndpoint[]];
}

export interface SimEndpoint {
  providerName: string;
  tag: string;
  pricing: PriceList;
  price: Pricer;
  dearestPrice: Pricer;
}

export const smallModelId = 'faregate-sim/small';
const LONG_PROMPT_TOKENS = 200_000;

const endpoint = (providerName: string, tag: string, pricing: PriceList): SimEndpoint => ({
  providerName,
  tag,
  pricing,
  price: createPricer(pricing),
  dearestPrice: createDearestPricer(pricing),
});

type ModelBasis = Pick<SimModel, 'id' | 'name' | 'description' | 'endpoints'> & Partial<SimModel>;

const model = (basis: ModelBasis): SimModel => ({
  contextLength: 32_768,
  maxOutputTokens: 4_096,
  inputModalities: ['text'],
  reasons: false,
  acts: false,
  tokenizer: 'Sim',
  expirationDate: null,
  ...basis,
});

const smallPrices: PriceList = { prompt: '0.0000001', completion: '0.0000004' };

export const simModels: readonly SimModel[] = [
  model({
    id: smallModelId,
    name: 'Sim Small',
    description: 'Cheap and quick. Says back what it was told.',
    endpoints: [endpoint('SimCloud', 'sim-cloud', smallPrices)],
  }),
  model({
    id: 'faregate-sim/large',
    name: 'Sim Large',
    description: 'Two providers at different prices, so that a call may cost more than the row says.',
    contextLength: 131_072,
    maxOutputTokens: 16_384,
    endpoints: [
      endpoint('SimCloud', 'sim-cloud', { prompt: '0.000002', completion: '0.000008' }),
      endpoint('SimFast', 'sim-fast/priority', { prompt: '0.000003', completion: '0.000012' }),
    ],
  }),
  model({
    id: 'faregate-sim/long',
    name: 'Sim Long',
    description: 'A long context, prices finer than a nano-dollar, and dearer ones for long prompts.',
    contextLength: 1_048_576,
    maxOutputTokens: null,
    endpoints: [
      endpoint('SimCloud', 'sim-cloud', {
        prompt: '0.0000000375',
        completion: '0.00000015',
        input_cache_read: '0.0000000093755',
        input_cache_write: '0.00000004688',
        overrides: [
          { min_prompt_tokens: LONG_PROMPT_TOKENS, prompt: '0.000000075', completion: '0.0000003' },
        ],
      }),
    ],
  }),
  model({
    id: 'faregate-sim/thinker',
    name: 'Sim Thinker',
    description: 'Reasons before it answers; reasoning has a price of its own.',
    contextLength: 65_536,
    maxOutputTokens: 32_768,
    reasons: true,
    endpoints: [
      endpoint('SimCloud', 'sim-cloud', {
        prompt: '0.000001',
        completion: '0.000004',
        internal_reasoning: '0.000005',
      }),
    ],
  }),
  model({
    id: 'faregate-sim/agent',
    name: 'Sim Agent',
    description:
      'Calls the tools that its task speaks of, step by step, and answers when their results are there.',
    contextLength: 262_144,
    maxOutputTokens: 32_768,
    acts: true,
    endpoints: [endpoint('SimCloud', 'sim-cloud', { prompt: '0.0000002', completion: '0.0000008' })],
  }),
  model({
    id: 'faregate-sim/agent-thinker',
    name: 'Sim Agent Thinker',
    description: 'Works with tools, and reasons before each step.',
    contextLength: 262_144,
    maxOutputTokens: 32_768,
    acts: true,
    reasons: true,
    endpoints: [endpoint('SimCloud', 'sim-cloud', { prompt: '0.0000002', completion: '0.0000008' })],
  }),
  model({
    id: 'faregate-sim/vision',
    name: 'Sim Vision',
    description: 'Reads images, and has a fee for each and one for the call.',
    inputModalities: ['text', 'image'],
    endpoints: [
      endpoint('SimCloud', 'sim-cloud', {
        prompt: '0.0000005',
        completion: '0.000002',
        image: '0.0004',
        request: '0.00001',
      }),
    ],
  }),
  model({
    id: 'faregate-sim/searcher',
    name: 'Sim Searcher',
    description:
      'Can search by itself, at a price for each search, and bills dearly for what goes to a cache.',
    contextLength: 131_072,
    maxOutputTokens: 8_192,
    inputModalities: ['text', 'image', 'file'],
    endpoints: [
      endpoint('SimCloud', 'sim-cloud', {
        prompt: '0.000001',
        completion: '0.000005',
        input_cache_read: '0.0000001',
        input_cache_write: '0.00000125',
        input_cache_write_1h: '0.000002',
        web_search: '0.01',
      }),
    ],
  }),
  model({
    id: 'faregate-sim/small:free',
    name: 'Sim Small (free)',
    description: 'Costs nothing.',
    endpoints: [endpoint('SimCloud', 'sim-cloud', { prompt: '0', completion: '0' })],
  }),
  model({
    id: 'faregate-sim/small:batch',
    name: 'Sim Small (batch)',
    description: 'Only in batches.',
    endpoints: [endpoint('SimCloud', 'sim-cloud', { prompt: '0.00000005', completion: '0.0000002' })],
  }),
  model({
    id: 'faregate-sim/auto',
    name: 'Sim Router',
    description: 'Picks a model after the call was made.',
    tokenizer: 'Router',
    endpoints: [endpoint('SimCloud', 'sim-cloud', { prompt: '-1', completion: '-1' })],
  }),
  model({
    id: 'faregate-sim/retired',
    name: 'Sim Retired',
    description: 'Past its last day.',
    expirationDate: '2025-01-31',
    endpoints: [endpoint('SimCloud', 'sim-cloud', smallPrices)],
  }),
];

const modelsById = new Map(simModels.map((each) => [each.id, each]));

export const findSimModel = (id: string): SimModel | undefined => modelsById.get(id);
