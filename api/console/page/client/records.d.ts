/* The spec's records, as far as the console reads them. Amounts are exact decimal strings, times are ISO 8601. */

export interface SpendingLimit {
  limit_usd: string;
  reset: 'daily' | 'weekly' | 'monthly';
  spent_usd: string;
  reserved_usd: string;
  remaining_usd: string;
  resets_at: string;
}

export interface Balance {
  agent: { id: number; name: string; token: string | null; status: 'active' | 'inactive' | 'suspended' };
  spendable_usd: string;
  balance_usd: string;
  reserved_usd: string;
  running_calls: number;
  expiring: { at: string; usd: string }[];
  key_limit: SpendingLimit | null;
}

export interface Limits {
  key: {
    id: number;
    label: string;
    prefix: string;
    spending_limit: SpendingLimit | null;
  };
  agent: {
    calls_per_minute: number;
    burst: number;
    max_running_calls: number;
    running_calls: number;
    max_active_keys: number;
    active_keys: number;
  };
  request: { max_body_mb: number; max_stream_minutes: number; max_call_minutes: number };
  mcp: { requests_per_minute: number; burst: number; keys_per_day: number };
  images: {
    uploads_per_day: number;
    max_upload_mb: number;
    upload_link_hours: number;
    result_link_days: number;
    max_results_gb: number;
  };
}

export interface UsageSum {
  usd: string;
  calls: number;
  tokens: number;
}

export interface Usage {
  from: string;
  to: string;
  total: UsageSum;
  days: (UsageSum & { day: string })[];
  models: (UsageSum & { model: string; name: string })[];
}

export interface Call {
  id: number;
  started_at: string;
  duration_ms: number;
  key: { id: number; label: string; prefix: string };
  model: string;
  model_name: string;
  endpoint: string;
  stream: boolean;
  outcome: 'running' | 'pending' | 'ok' | 'stopped' | 'failed';
  http_status?: number;
  error_code: string | null;
  tokens: {
    prompt: number;
    completion: number;
    reasoning: number | null;
    cached: number;
    estimated?: boolean;
  };
  reserved_usd: string;
  charge_usd: string;
}

export interface CallPage {
  calls: Call[];
  next: string | null;
}

export interface Key {
  id: number;
  label: string;
  prefix: string;
  created_at: string;
  last_used_at: string | null;
  month_usd: string;
  spending_limit: SpendingLimit | null;
  this_key: boolean;
  created_by_key_id: number | null;
}

export interface KeyList {
  keys: Key[];
  max_active: number;
}

export interface CreatedKey {
  key: string;
  id: number;
  label: string;
  prefix: string;
}

export interface Model {
  id: string;
  name: string;
  context_length: number;
  pricing: { prompt: string; completion: string };
}

/** Of what a request may say beside `model` and `prompt`. */
export type ImageParameter =
  | { type: 'enum'; values: (string | number | boolean)[] }
  | { type: 'range'; min: number; max: number };

export interface ImageModel {
  id: string;
  name: string;
  reads_images: boolean;
  parameters: Record<string, ImageParameter>;
  pricing: { billable: string; unit: string; usd: string; variant?: string }[];
}

export interface ImageAnswer {
  data: { url: string; expires_at: string }[];
  usage: { cost: number };
}

export interface VideoModel {
  id: string;
  name: string;
  supported_resolutions: string[];
  supported_aspect_ratios: string[];
  supported_durations: number[];
  generate_audio: boolean;
  seed: boolean;
  from_price: string | number;
}

export interface VideoJob {
  id: string;
  model: string;
  status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'expired';
  /** JSON numbers of dollars, here and in `usage`. */
  estimated_cost: number;
  usage: { cost: number } | null;
  error: { code: string } | null;
  created_at: string;
  expires_at: string | null;
}

/** Of the public market data: prices are USDT for a dollar of credit, sizes and volumes dollars of credit. */
export interface Market {
  id: string;
  ends_at: string;
  newest: boolean;
  last_price: string | null;
  volume_24h: string;
  price_tick: string;
  size_step: string;
}

export interface MarketList {
  markets: Market[];
}

export interface BookLevel {
  price: string;
  size: string;
}

export interface Book {
  market: string;
  seq: number;
  /** Milliseconds, as in candles. */
  time: number;
  bids: BookLevel[];
  asks: BookLevel[];
  freshPrice: string | null;
}

export type CandleInterval = '1m' | '5m' | '15m' | '1h' | '4h' | '1d';

export interface Candle {
  time: number;
  open: string;
  high: string;
  low: string;
  close: string;
  volume: string;
  trades: number;
}

export interface CandleAnswer {
  market: string;
  interval: CandleInterval;
  candles: Candle[];
}
