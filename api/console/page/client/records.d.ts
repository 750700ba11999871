/* The answers that the console reads, by the API's own schemas: types alone, of which nothing reaches the browser. */

import type { z } from 'zod';
import type { Balance } from '../../../contract/balance.ts';
import type { CallEntry, CallPage } from '../../../contract/call-entry.ts';
import type { KeyList, KeyRecord, NewKey, SpendingLimit } from '../../../contract/key-record.ts';
import type { LimitsRecord } from '../../../contract/limits-record.ts';
import type { Candles, MarketList, OrderBook } from '../../../contract/markets.ts';
import type { ImageModelList, VideoModelList } from '../../../contract/media-models.ts';
import type { ModelEntry } from '../../../contract/model-list.ts';
import type { UsageRecord } from '../../../contract/usage-record.ts';
import type { Video } from '../../../contract/video.ts';

export type { Balance, CallPage, KeyList, MarketList, SpendingLimit };
export type Limits = LimitsRecord;
export type Usage = UsageRecord;
export type UsageSum = Usage['total'];
export type Call = CallEntry;
export type Key = KeyRecord;
export type CreatedKey = NewKey;
export type Model = z.infer<typeof ModelEntry>;

/** Of what a request may say beside `model` and `prompt`. */
export type ImageParameter =
  | { type: 'enum'; values: (string | number | boolean)[] }
  | { type: 'range'; min: number; max: number };

export type ImageModel = Omit<ImageModelList['data'][number], 'parameters'> & {
  parameters: Record<string, ImageParameter>;
};

/** As the console asks for it: with links. */
export interface ImageAnswer {
  data: { url: string; expires_at: string }[];
  usage: { cost: number };
}

export type VideoModel = VideoModelList['data'][number];
export type VideoJob = z.infer<typeof Video>;

/** Of the public market data: prices are USDT for a dollar of credit, sizes and volumes dollars of credit. */
export type Market = MarketList['markets'][number];
export type Book = OrderBook;
export type BookLevel = OrderBook['bids'][number];
export type CandleInterval = Candles['interval'];
export type Candle = Candles['candles'][number];
export type CandleAnswer = Candles;
