import type { AgentDetail, AgentRecord } from './schemas/agent-record.ts';
import type { AuditReport } from './schemas/audit-report.ts';
import type { AuditedChangeRecord } from './schemas/audited-change.ts';
import type { BillsReport } from './schemas/bills-report.ts';
import type { CatalogReport } from './schemas/catalog-report.ts';
import type { NewOperatorKey, OperatorKey } from './schemas/key-record.ts';
import type { MarketState } from './schemas/market-state.ts';

const agent: AgentRecord = {
  id: 7,
  name: 'demo',
  token: null,
  status: 'active',
  created_at: '2026-11-21T10:00:00.000Z',
};

const agentDetail: AgentDetail = {
  ...agent,
  status_by_source: [{ source: 'operator', status: 'active' }],
  spendable_usd: '4.9877',
  balance_usd: '5',
  reserved_usd: '0.0123',
  running_calls: 1,
  expiring: [{ at: '2026-11-29T00:00:00.000Z', usd: '4.9877' }],
  granted_usd: '5',
  charged_usd: '0',
  expired_usd: '0',
  moved_in_usd: '0',
  moved_out_usd: '0',
  charged_today_usd: '0',
  active_keys: 1,
};

const keyFields = {
  id: 244335062519810,
  label: 'web shop',
  prefix: 'fg_a1B2c3D4e',
  created_at: '2026-11-21T10:00:00.000Z',
  spending_limit: {
    limit_usd: '10',
    reset: 'daily' as const,
    spent_usd: '0',
    reserved_usd: '0',
    remaining_usd: '10',
    resets_at: '2026-11-22T00:00:00.000Z',
  },
};

const key: OperatorKey = {
  ...keyFields,
  last_used_at: null,
  revoked_at: null,
  month_usd: '0',
  created_by_key_id: null,
};

const newKey: NewOperatorKey = { key: 'fg_a1B2c3D4e…', ...keyFields };

const noLists = { list: null, image_list: null, video_list: null };

const catalog: CatalogReport = {
  stopped: false,
  providers: [
    {
      id: 'vllm',
      kind: 'openai',
      base_url: 'http://vllm:8000/v1',
      has_key: false,
      stopped: false,
      ...noLists,
    },
    {
      id: 'openrouter',
      kind: 'openrouter',
      base_url: 'https://openrouter.ai/api/v1',
      has_key: true,
      stopped: false,
      ...noLists,
    },
  ],
  models: [
    {
      id: 'acme/small',
      name: 'Acme Small',
      context_length: 32768,
      max_output_tokens: 4096,
      endpoints: [
        {
          provider: 'vllm',
          model: 'small-2026',
          prompt_usd: '0.0000001',
          completion_usd: '0.0000004',
          request_usd: '0',
          cache_read_usd: '0.00000005',
          cache_write_usd: null,
          cache_write_1h_usd: null,
        },
      ],
    },
  ],
  models_found: 1,
  image_models: [
    {
      id: 'acme/painter',
      name: 'Acme Painter',
      provider: 'openrouter',
      model: 'acme/painter-2026',
      pricing: [
        { billable: 'output_image', unit: 'image', usd: '0.02', variant: '1k' },
        { billable: 'output_image', unit: 'image', usd: '0.04', variant: '2k' },
      ],
    },
  ],
  image_models_found: 1,
  video_models: [
    {
      id: 'acme/clip',
      name: 'Acme Clip',
      provider: 'openrouter',
      model: 'acme/clip-2026',
      pricing: [{ key: 'duration_seconds_720p', price: '0.05' }],
    },
  ],
  video_models_found: 1,
};

const bills: BillsReport = {
  ok: true,
  bills: [
    {
      providers: ['openrouter'],
      comparison: {
        from: '2026-11-21T00:15:00.000Z',
        to: '2026-11-21T11:00:00.000Z',
        billed_usd: '12.3456',
        recorded_usd: '12.3451',
        difference_usd: '0.0005',
      },
      problem: null,
    },
  ],
};

const audit: AuditReport = {
  ok: true,
  agents: 1,
  keys: 1,
  totals: {
    granted_usd: '5',
    moved_in_usd: '0',
    free_usd: '4.9877',
    held_usd: '0.0123',
    charged_usd: '0',
    expired_usd: '0',
    moved_out_usd: '0',
    in_transit_usd: '0',
  },
  holds: { open: 1, pending: 0, usd: '0.0123', oldest_started_at: '2026-11-21T11:00:00.000Z' },
  problems_found: 0,
  problems: [],
};

const call = {
  agent_id: 7,
  generation_id: null,
  call: {
    id: 244335062519810,
    started_at: '2026-11-21T11:00:00.000Z',
    duration_ms: 812,
    key: { id: 244335062519000, label: 'web shop', prefix: 'fg_a1B2c3D4e' },
    model: 'acme/small',
    model_name: 'Acme Small',
    endpoint: 'chat.completions',
    stream: false,
    outcome: 'ok',
    error_code: null,
    tokens: { prompt: 11, completion: 3, reasoning: null, cached: 0 },
    reserved_usd: '0.0123',
    charge_usd: '0.0000023',
  },
};

const change: AuditedChangeRecord = {
  id: 244335062519811,
  started_at: '2026-11-21T11:00:00.000Z',
  ended_at: '2026-11-21T11:00:00.004Z',
  operator: 'ada',
  address: '127.0.0.1',
  action: 'agents.suspend',
  subject: { agent_id: 7, status: 'suspended' },
  result: 'ok',
};

const market: MarketState = {
  id: 'credit-2026-11-29',
  opens_at: '2026-11-21T00:00:00.000Z',
  ends_at: '2026-11-29T00:00:00.000Z',
  open: true,
  newest: true,
  last_price: '0.9553',
  best_bid: '0.955',
  best_ask: '0.9554',
  fresh_price: '0.99',
  volume_24h: '18230.5',
  book_seq: 90211,
  book_age_seconds: 1,
  trade_seq: 4120,
  price_tick: '0.0001',
  size_step: '0.01',
};

/** Shown in the document, and validated against its schemas by the linter. */
export const adminExamples = { agent, agentDetail, key, newKey, catalog, bills, audit, market, call, change };
