/** A series without the labels of the installation, and its values, one a minute, as promtool writes them. */
export type Series = readonly [metric: string, values: string];

export interface AlertCase {
  alert: string;
  /** Both are looked at so many minutes after the first value. */
  afterMinutes: number;
  fires: readonly Series[];
  /** As near to it as an operator would still call normal. */
  staysQuiet: readonly Series[];
}

const one = (
  alert: string,
  afterMinutes: number,
  metric: string,
  fires: string,
  quiet: string,
): AlertCase => ({
  alert,
  afterMinutes,
  fires: [[metric, fires]],
  staysQuiet: [[metric, quiet]],
});

const lossUsd = (cause: string) => `faregate_operator_loss_usd_total{cause="${cause}"}`;
const lossCalls = (cause: string) => `faregate_operator_loss_calls_total{cause="${cause}"}`;
const ended = (code: string) => `faregate_calls_ended_total{outcome="failed",code="${code}"}`;
const refused = (code: string) => `faregate_calls_refused_total{code="${code}"}`;
const drainingPod = (pod: string) => `kube_pod_deletion_timestamp{pod="${pod}"}`;

/** 60 starts a minute. */
const starts: Series = ['faregate_calls_started_total{pod="a"}', '0+60x90'];
const up = (component: string, values: string): Series => [
  `up{component="${component}",pod="${component}-1"}`,
  values,
];

export const alertCases: readonly AlertCase[] = [
  one('FaregateCostAboveHold', 30, lossUsd('cost_above_hold'), '0x10 0.001x40', '0.5x60'),
  {
    alert: 'FaregateOperatorLoss',
    afterMinutes: 30,
    fires: [[lossUsd('failed_fallback'), '0+0.5x60']],
    // Each below, and what has an alert of its own does not count.
    staysQuiet: [
      [lossUsd('failed_fallback'), '0+0.05x60'],
      [lossUsd('orphan'), '0+0.06x60'],
      [lossUsd('cost_above_hold'), '0+10x60'],
    ],
  },
  {
    alert: 'FaregatePricesUnknown',
    afterMinutes: 60,
    fires: [
      [lossCalls('price_unknown'), '0+0.2x90'],
      [lossCalls('price_estimated'), '0+0.2x90'],
    ],
    staysQuiet: [
      [lossCalls('price_unknown'), '0+0.1x90'],
      [lossCalls('free_failure'), '0+9x90'],
    ],
  },
  one('FaregateOrphansSettled', 30, lossCalls('orphan'), '0x10 1x40', '3x60'),
  one('FaregatePendingPricesStay', 40, 'faregate_pending_prices', '201x60', '500x20 200x40'),
  {
    alert: 'FaregateUnconfirmedSettlements',
    afterMinutes: 30,
    fires: [
      ['faregate_unconfirmed_settlements{pod="a"}', '2x60'],
      ['faregate_unconfirmed_settlements{pod="b"}', '0x60'],
    ],
    // Some are always on their way; it is the same one that stays that counts.
    staysQuiet: [
      [
        'faregate_unconfirmed_settlements{pod="a"}',
        '3 9 0 3 3 9 0 7 3 9 0 3 3 9 0 7 3 9 0 3 3 9 0 7 3 9 0 3 3 9 0 7',
      ],
    ],
  },
  {
    alert: 'FaregateProviderBillDiffers',
    afterMinutes: 20,
    fires: [
      ['faregate_provider_bill_difference_usd{provider="p",pod="a"}', '-3x60'],
      ['faregate_provider_billed_usd{provider="p",pod="a"}', '100x60'],
    ],
    staysQuiet: [
      ['faregate_provider_bill_difference_usd{provider="small",pod="a"}', '0.9x60'],
      ['faregate_provider_billed_usd{provider="small",pod="a"}', '1x60'],
      ['faregate_provider_bill_difference_usd{provider="large",pod="a"}', '19x60'],
      ['faregate_provider_billed_usd{provider="large",pod="a"}', '1000x60'],
    ],
  },
  // By the clock of the tests it is 1970.
  one(
    'FaregateProviderBillNotCompared',
    90,
    'faregate_provider_bill_compared_seconds{provider="p"}',
    '-172800x99',
    '-160000x99',
  ),
  one('FaregateCapacityUsed', 20, 'faregate_capacity_held_usd{pod="a"}', '801x60', '799x60'),
  one('FaregateCapacityRefusals', 20, refused('gateway_capacity'), '0+1x60', '4x60'),

  one('FaregateLedgerClosed', 10, 'faregate_ledger_open{pod="a"}', '1x4 0x40', '1x60'),
  one('FaregateShardsClosed', 10, 'faregate_shards_open{pod="a"}', '63x40', '64x40'),
  one('FaregateShardPoisoned', 5, 'faregate_shards_poisoned{pod="a"}', '1x40', '0x40'),
  {
    alert: 'FaregateShardsNotPublished',
    afterMinutes: 10,
    fires: [
      ['faregate_shards_led{pod="a"}', '31x40'],
      ['faregate_shards_led{pod="b"}', '32x40'],
    ],
    // For a moment two may each think that they lead.
    staysQuiet: [
      ['faregate_shards_led{pod="a"}', '32x40'],
      ['faregate_shards_led{pod="b"}', '33x40'],
    ],
  },
  one('FaregateLogLag', 10, 'faregate_journal_lag_ms{pod="a"}', '1500x40', '900x40'),
  one('FaregateGateTimeouts', 10, 'faregate_gate_timeouts_total{pod="a"}', '0+2x40', '0x5 2x40'),
  {
    alert: 'FaregateDispatchWaits',
    afterMinutes: 30,
    fires: [starts, ['faregate_dispatch_waits_total{pod="a"}', '0+6x60']],
    staysQuiet: [starts, ['faregate_dispatch_waits_total{pod="a"}', '0+2x60']],
  },
  one('FaregateLedgerUnavailable', 10, 'faregate_ledger_unavailable_total{pod="a"}', '0+90x40', '0+30x40'),
  one('FaregateLedgerAhead', 10, 'faregate_ledger_ahead_seconds{pod="a"}', '7200-60x40', '300x40'),
  one('FaregateClockDoubted', 20, 'faregate_clock_doubted_seconds{pod="a"}', '0x4 7200x40', '0x40'),
  one('FaregateClocksApart', 10, 'faregate_clocks_apart_total{pod="a"}', '0x4 1x40', '7x40'),
  {
    alert: 'FaregateJournalSlow',
    afterMinutes: 30,
    fires: [
      ['faregate_journal_commit_ms_bucket{le="250"}', '0+90x60'],
      ['faregate_journal_commit_ms_bucket{le="1000"}', '0+100x60'],
      ['faregate_journal_commit_ms_bucket{le="+Inf"}', '0+100x60'],
    ],
    staysQuiet: [
      ['faregate_journal_commit_ms_bucket{le="250"}', '0+100x60'],
      ['faregate_journal_commit_ms_bucket{le="1000"}', '0+100x60'],
      ['faregate_journal_commit_ms_bucket{le="+Inf"}', '0+100x60'],
    ],
  },
  one('FaregateProjectorLag', 10, 'faregate_projector_lag_ms{pod="a"}', '61000x40', '59000x40'),
  one('FaregateShardsNotProjected', 20, 'faregate_projector_shards{pod="a"}', '60x40', '64x40'),

  {
    alert: 'FaregateServerErrors',
    afterMinutes: 20,
    fires: [starts, [refused('service_unavailable'), '0+0.5x60'], [ended('gateway_error'), '0+0.5x60']],
    // What callers and providers did wrong is not the gateway's.
    staysQuiet: [starts, [refused('insufficient_balance'), '0+60x60'], [ended('provider_error'), '0+30x60']],
  },
  {
    alert: 'FaregateProviderErrors',
    afterMinutes: 30,
    fires: [starts, [ended('provider_error'), '0+7x60']],
    staysQuiet: [starts, [ended('provider_error'), '0+5x60'], [refused('rate_limited'), '0+60x60']],
  },
  {
    alert: 'FaregateProviderSkipped',
    afterMinutes: 20,
    // Half-open breakers, whose series come and go, count as open.
    fires: [['faregate_circuit_breakers_open{pod="a",provider="own",cause="unpaid"}', '1 _ 1 1 _ 1 1x30']],
    staysQuiet: [['faregate_circuit_breakers_open{pod="a",provider="own",cause="unpaid"}', '1x3 _x36']],
  },
  {
    alert: 'FaregateAddedLatency',
    afterMinutes: 30,
    fires: [
      ['faregate_added_latency_ms_bucket{le="256"}', '0+95x60'],
      ['faregate_added_latency_ms_bucket{le="1024"}', '0+100x60'],
      ['faregate_added_latency_ms_bucket{le="+Inf"}', '0+100x60'],
    ],
    staysQuiet: [
      ['faregate_added_latency_ms_bucket{le="128"}', '0+100x60'],
      ['faregate_added_latency_ms_bucket{le="256"}', '0+100x60'],
      ['faregate_added_latency_ms_bucket{le="+Inf"}', '0+100x60'],
    ],
  },
  one('FaregateEventLoopLag', 10, 'faregate_event_loop_lag_ms{pod="a"}', '120x40', '12x40'),
  one('FaregateGatewayBusy', 20, refused('gateway_busy'), '0+12x40', '0+3x40'),
  one('FaregateGatewayUnavailable', 20, refused('gateway_unavailable'), '0+1x40', '5x40'),
  one('FaregateUsageDrainsFull', 20, 'faregate_usage_drains{pod="a"}', '160x40', '100x40'),
  one(
    'FaregateMemoryNearLimit',
    20,
    'process_resident_memory_bytes{component="api",pod="a"}',
    '1000000000x40',
    '900000000x40',
  ),
  {
    alert: 'FaregateTargetDown',
    afterMinutes: 20,
    fires: [up('video', '0x40')],
    staysQuiet: [up('video', '1x40')],
  },
  {
    alert: 'FaregateNoGateway',
    afterMinutes: 20,
    fires: [up('api', '0x40')],
    staysQuiet: [up('api', '1x40')],
  },
  one('FaregatePodPastGrace', 20, drainingPod('shop-faregate-api-1'), '60x40', '1860x40'),
  {
    alert: 'FaregateManyPodsDrain',
    afterMinutes: 20,
    fires: ['1', '2', '3', '4'].map((pod) => [drainingPod(`shop-faregate-api-${pod}`), '1860x40']),
    staysQuiet: ['1', '2', '3'].map((pod) => [drainingPod(`shop-faregate-api-${pod}`), '1860x40']),
  },
  one('FaregateConfigReloadFailed', 10, 'faregate_config_reload_ok{pod="a"}', '0x40', '1x40'),
  one('FaregatePricesHeldBack', 20, 'faregate_catalog_prices_held_back{pod="a"}', '2x40', '0x40'),
  one('FaregateListsStale', 20, 'faregate_catalog_lists_stale{pod="a"}', '1x40', '0x40'),

  {
    alert: 'FaregateNoSettlementWorker',
    afterMinutes: 20,
    fires: [up('settlement', '1x5 0x40')],
    staysQuiet: [up('settlement', '1x40')],
  },
  { alert: 'FaregateNoProjector', afterMinutes: 20, fires: [], staysQuiet: [up('projector', '1x40')] },
  { alert: 'FaregateNoVideoWorker', afterMinutes: 20, fires: [], staysQuiet: [up('video', '1x40')] },
  { alert: 'FaregateNoMarketWorker', afterMinutes: 20, fires: [], staysQuiet: [up('market', '1x40')] },
  one('FaregateDeadLetters', 20, 'faregate_dead_letters_total{topic="dex.trades.v1"}', '0x5 1x40', '8x40'),
  one(
    'FaregateFeedLag',
    20,
    'faregate_feed_lag_ms{topic="dex.book.v1",reader="books"}',
    '31000x40',
    '200x40',
  ),
  one('FaregateBooksStopped', 20, 'faregate_books_stopped{pod="a"}', '1x40', '0x40'),
  one(
    'FaregateCreditInTransit',
    30,
    'faregate_credit_in_transit_usd{pod="a"}',
    '0.5x60',
    '5 0 7 1 0 5 0 7 1 0 5 0 7 1 0 5 0 7 1 0 5 0 7 1 0 5 0 7 1 0 5',
  ),
  one('FaregateTradesRejected', 60, 'faregate_trades_rejected_total{pod="a"}', '0+1x90', '0+0.1x90'),
  one('FaregateBoughtCreditExpired', 20, 'faregate_market_expired_usd_total{pod="a"}', '0x5 0.01x40', '2x40'),
  one(
    'FaregateVideoSubmissionsUnknown',
    20,
    'faregate_video_submissions_unknown_total{pod="a"}',
    '0x5 1x40',
    '1x40',
  ),
  {
    alert: 'FaregateVideosFail',
    afterMinutes: 90,
    fires: [
      ['faregate_videos_ended_total{code="ok"}', '0+3x100'],
      ['faregate_videos_ended_total{code="provider_error"}', '0+1x100'],
    ],
    staysQuiet: [
      ['faregate_videos_ended_total{code="ok"}', '0+9x100'],
      ['faregate_videos_ended_total{code="provider_error"}', '0+1x100'],
    ],
  },
  {
    alert: 'FaregateVideosStuck',
    afterMinutes: 200,
    fires: [
      ['faregate_open_videos{pod="a"}', '2x240'],
      // One of two workers has none.
      ['faregate_open_videos{pod="b"}', '0x240'],
      ['faregate_videos_ended_total{code="ok"}', '9x240'],
    ],
    staysQuiet: [
      ['faregate_open_videos{pod="a"}', '2x240'],
      ['faregate_videos_ended_total{code="ok"}', '9+1x240'],
    ],
  },
];

/** For how long it has to be so before somebody is woken; an alert that is not named here fires at once. */
export const pendingMinutes: Readonly<Record<string, number>> = {
  FaregateClockDoubted: 5,
  FaregateProviderSkipped: 5,
  FaregatePendingPricesStay: 30,
  FaregateUnconfirmedSettlements: 5,
  FaregateProviderBillDiffers: 10,
  FaregateProviderBillNotCompared: 60,
  FaregateCapacityUsed: 10,
  FaregateCapacityRefusals: 5,
  FaregateLedgerClosed: 1,
  FaregateShardsClosed: 2,
  FaregateShardsNotPublished: 1,
  FaregateLogLag: 1,
  FaregateDispatchWaits: 10,
  FaregateLedgerUnavailable: 2,
  FaregateJournalSlow: 10,
  FaregateProjectorLag: 5,
  FaregateShardsNotProjected: 10,
  FaregateServerErrors: 5,
  FaregateProviderErrors: 10,
  FaregateAddedLatency: 10,
  FaregateEventLoopLag: 2,
  FaregateGatewayBusy: 5,
  FaregateGatewayUnavailable: 5,
  FaregateUsageDrainsFull: 5,
  FaregateMemoryNearLimit: 5,
  FaregateTargetDown: 5,
  FaregateNoGateway: 1,
  FaregatePodPastGrace: 1,
  FaregateManyPodsDrain: 5,
  FaregateConfigReloadFailed: 2,
  FaregatePricesHeldBack: 5,
  FaregateListsStale: 5,
  FaregateNoSettlementWorker: 1,
  FaregateNoProjector: 10,
  FaregateNoVideoWorker: 5,
  FaregateNoMarketWorker: 2,
  FaregateFeedLag: 2,
  FaregateBooksStopped: 2,
  FaregateCreditInTransit: 5,
  FaregateVideosFail: 10,
  FaregateVideosStuck: 10,
};
