/*
 * Under which names the workers of a role share their work out among them. Who looks whether any is there asks by the same.
 */
export const PROJECTOR_GROUP = 'faregate-projector';

/** What reads the feeds of markets: each in a consumer group of its own, at its own pace. */
export const marketReaders = ['listings', 'books', 'candles', 'moves'] as const;
export type MarketReaderName = (typeof marketReaders)[number];
export const marketGroup = (reader: MarketReaderName): string => `faregate-market-${reader}`;

/** In Redis: member -> told-at. */
export const VIDEO_MEMBERS_KEY = 'faregate:video-workers';
