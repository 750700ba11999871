import type { Balance } from './balance.ts';
import type { Candles, MarketList, OrderBook } from './markets.ts';
import type { ImageModelList, VideoModelList } from './media-models.ts';
import type { Upload } from './upload.ts';

const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14, cost: 0.0000023 };
const chunk = { id: 'gen-1', object: 'chat.completion.chunk' };

/** Shown in the document, and validated against its schemas by the linter. */
export const chatExamples = {
  request: {
    model: 'acme/small',
    messages: [{ role: 'user', content: 'Say hello.' }],
    max_tokens: 64,
  },
  answer: {
    id: 'gen-1790000000-a1B2c3D4e5F6g7H8i9J0',
    object: 'chat.completion',
    created: 1790000000,
    model: 'acme/small',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
    usage,
  },
  events: [
    JSON.stringify({
      ...chunk,
      choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello!' }, finish_reason: null }],
    }),
    JSON.stringify({ ...chunk, choices: [], usage }),
    '[DONE]',
  ],
};

const responsesUsage = { input_tokens: 11, output_tokens: 3, total_tokens: 14, cost: 0.0000023 };
const output = [
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hello!', annotations: [] }],
  },
];
const response = { id: 'gen-1', object: 'response', created_at: 1790000000, model: 'acme/small' } as const;

export const responsesExamples = {
  request: { model: 'acme/small', input: 'Say hello.', max_output_tokens: 64 },
  answer: { ...response, status: 'completed', output, output_text: 'Hello!', usage: responsesUsage },
  events: [
    JSON.stringify({
      type: 'response.created',
      sequence_number: 0,
      response: { ...response, status: 'in_progress', output: [] },
    }),
    JSON.stringify({
      type: 'response.output_text.delta',
      sequence_number: 4,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'Hello!',
    }),
    JSON.stringify({
      type: 'response.completed',
      sequence_number: 8,
      response: { ...response, status: 'completed', output, usage: responsesUsage },
    }),
  ],
};

const message = { id: 'gen-1', type: 'message', role: 'assistant', model: 'acme/small' } as const;

export const messagesExamples = {
  request: { model: 'acme/small', max_tokens: 64, messages: [{ role: 'user', content: 'Say hello.' }] },
  answer: {
    ...message,
    content: [{ type: 'text', text: 'Hello!' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 3, cost: 0.0000023 },
  },
  events: [
    JSON.stringify({
      type: 'message_start',
      message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 1 } },
    }),
    JSON.stringify({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    JSON.stringify({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: 'Hello!' },
    }),
    JSON.stringify({ type: 'content_block_stop', index: 0 }),
    JSON.stringify({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 3, cost: 0.0000023 },
    }),
    JSON.stringify({ type: 'message_stop' }),
  ],
};

export const modelListExample = {
  object: 'list',
  data: [
    {
      id: 'acme/small',
      object: 'model',
      type: 'model',
      created: 1790000000,
      created_at: '2026-09-21T13:33:20.000Z',
      owned_by: 'acme',
      name: 'Acme Small',
      display_name: 'Acme Small',
      context_length: 32768,
      max_output_tokens: 4096,
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      description: 'Small and quick.',
      supported_parameters: ['max_tokens', 'temperature', 'tools'],
      reasoning: { mandatory: false },
      expires_on: null,
      endpoints: ['chat/completions', 'responses', 'messages'],
      pricing: { prompt: '0.0000001', completion: '0.0000004', input_cache_read: '0.00000005' },
      canonical_slug: 'acme/small',
      architecture: {
        modality: 'text+image->text',
        input_modalities: ['text', 'image'],
        output_modalities: ['text'],
        tokenizer: 'Other',
        instruct_type: null,
      },
      top_provider: { context_length: 32768, max_completion_tokens: 4096, is_moderated: false },
      per_request_limits: null,
      default_parameters: null,
      supported_voices: null,
      links: { details: '/v1/models' },
    },
  ],
  has_more: false,
  first_id: 'acme/small',
  last_id: 'acme/small',
  total_count: 1,
  links: { next: null },
};

export const videoExamples = {
  request: {
    model: 'acme/film',
    prompt: 'A paper boat on a rainy street.',
    duration: 4,
    resolution: '720p',
    aspect_ratio: '16:9',
  },
  answer: {
    id: 'vid_a1B2c3D4e5F6g7H8i9J0',
    object: 'video.generation',
    model: 'acme/film',
    status: 'pending',
    polling_url: 'https://gw.example.com/v1/videos/vid_a1B2c3D4e5F6g7H8i9J0',
    unsigned_urls: [],
    estimated_cost: 0.32,
    usage: null,
    error: null,
    created_at: '2026-11-24T10:00:00.000Z',
    expires_at: null,
  },
};

export const doneVideoExample = {
  ...videoExamples.answer,
  status: 'completed',
  unsigned_urls: ['https://gw.example.com/v1/videos/vid_a1B2c3D4e5F6g7H8i9J0/content'],
  usage: { cost: 0.32 },
  expires_at: '2026-12-24T10:01:12.000Z',
};

export const balanceExample: Balance = {
  object: 'balance',
  agent: { id: 7, name: 'demo', token: null, status: 'active' },
  spendable_usd: '4.9877',
  balance_usd: '5',
  reserved_usd: '0.0123',
  running_calls: 1,
  expiring: [{ at: '2026-11-29T00:00:00.000Z', usd: '4.9877' }],
  key_limit: {
    limit_usd: '10',
    reset: 'daily',
    spent_usd: '1.5',
    reserved_usd: '0.0123',
    remaining_usd: '8.4877',
    resets_at: '2026-11-22T00:00:00.000Z',
  },
};

const link = 'https://files.example.com/faregate/uploads/20261122T10/7/upl_a1B2c3D4e5F6g7H8i9J0k1L2.png';

export const uploadExample: { request: object; answer: Upload } = {
  request: { content_type: 'image/png', size: 48_213 },
  answer: {
    object: 'upload',
    id: 'upl_a1B2c3D4e5F6g7H8i9J0k1L2',
    upload_url: `${link}?X-Amz-Expires=3600&X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost%3Bif-none-match&X-Amz-Signature=4fa1`,
    upload_method: 'PUT',
    upload_headers: { 'Content-Type': 'image/png', 'If-None-Match': '*' },
    upload_expires_at: '2026-11-21T11:05:00.000Z',
    url: `${link}?X-Amz-Expires=86400&X-Amz-Signature=9c07`,
    expires_at: '2026-11-22T10:05:00.000Z',
    content_type: 'image/png',
    size: 48_213,
  },
};

const imageLink =
  'https://files.example.com/faregate/pictures/20261128T10/7/img_a1B2c3D4e5F6g7H8i9J0k1L2.png?X-Amz-Expires=604800&X-Amz-Signature=51de';
const image = { url: imageLink, media_type: 'image/png', expires_at: '2026-11-28T10:05:00.000Z' };
const imageUsage = { prompt_tokens: 8, completion_tokens: 1120, total_tokens: 1128, cost: 0.0394 };

export const imageExamples = {
  request: { model: 'acme/painter', prompt: 'A red bicycle in the rain', resolution: '1K' },
  answer: { created: 1790000000, data: [image], usage: imageUsage },
  events: [
    JSON.stringify({
      type: 'image_generation.partial_image',
      partial_image_index: 0,
      b64_json: 'iVBORw0KGgo=',
      media_type: 'image/png',
    }),
    JSON.stringify({
      type: 'image_generation.completed',
      ...image,
      created: 1790000000,
      usage: imageUsage,
    }),
    '[DONE]',
  ],
};

export const videoModelsExample: VideoModelList = {
  object: 'list',
  data: [
    {
      id: 'acme/clip',
      object: 'model',
      name: 'Acme Clip',
      supported_resolutions: ['720p', '1080p'],
      supported_aspect_ratios: ['16:9', '9:16'],
      supported_durations: [4, 8],
      supported_frame_images: ['first_frame'],
      max_input_references: 3,
      generate_audio: true,
      seed: true,
      extends: false,
      from_price: '0.2',
    },
  ],
};

export const imageModelsExample: ImageModelList = {
  object: 'list',
  data: [
    {
      id: 'acme/painter',
      object: 'model',
      name: 'Acme Painter',
      reads_images: false,
      streaming: true,
      parameters: {
        n: { type: 'range', min: 1, max: 4 },
        resolution: { type: 'enum', values: ['1K', '2K'] },
      },
      pricing: [
        { billable: 'output_image', unit: 'image', usd: '0.02', variant: '1k' },
        { billable: 'output_image', unit: 'image', usd: '0.04', variant: '2k' },
      ],
    },
  ],
};

const market = 'credit-2026-11-30';

export const marketListExample: MarketList = {
  object: 'list',
  markets: [
    {
      id: market,
      base: 'credit',
      quote: 'USDT',
      opens_at: '2026-11-22T00:00:00.000Z',
      ends_at: '2026-11-30T00:00:00.000Z',
      newest: true,
      last_price: '0.851',
      best_bid: '0.85',
      best_ask: '0.852',
      volume_24h: '18250.5',
      price_tick: '0.001',
      size_step: '0.01',
    },
  ],
};

export const orderBookExample: OrderBook = {
  market,
  seq: 48_213,
  time: 1_795_341_600_000,
  bids: [
    { price: '0.85', size: '120.5', orders: 3 },
    { price: '0.849', size: '40', orders: 1 },
  ],
  asks: [{ price: '0.852', size: '75.25', orders: 2 }],
  freshPrice: '0.95',
};

export const candlesExample: Candles = {
  market,
  interval: '1h',
  candles: [
    {
      time: 1_795_338_000_000,
      open: '0.848',
      high: '0.852',
      low: '0.847',
      close: '0.851',
      volume: '1250.5',
      quoteVolume: '1063.175',
      trades: 87,
    },
  ],
};
