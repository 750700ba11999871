import type { AttoUsd } from '../money.ts';
import type { Model, PriceOverride, Prices } from './catalog.ts';
import type { ImageModel } from './image-model.ts';
import type { ListKind } from './import-source.ts';
import type { VideoModel } from './video-model.ts';

/*
 * The three lists of a provider. Its kind reads them.
 */

export const modelList: ListKind<Model> = {
  name: 'models',
  async read({ provider, fetchJson, nowMs }) {
    const { path, read } = provider.kind.lists.models;
    return read(await fetchJson(provider, path), provider.id, nowMs);
  },
  prices: pricesOf,
};

export const videoModelList: ListKind<VideoModel> = {
  name: 'video models',
  read: (from) => from.provider.kind.lists.videoModels(from),
  prices: ({ skus }) => new Map(skus),
};

export const imageModelList: ListKind<ImageModel> = {
  name: 'image models',
  read: (from) => from.provider.kind.lists.imageModels(from),
  prices: ({ pricing }) =>
    new Map(pricing.map(({ billable, unit, variant, price }) => [`${billable} ${unit} ${variant}`, price])),
};

function pricesOf({ endpoints }: Model): Map<string, AttoUsd> {
  const prices = new Map<string, AttoUsd>();
  for (const [e, { prices: all }] of endpoints.entries()) {
    add(prices, `${e}`, all);
    for (const [o, override] of all.overrides.entries()) add(prices, `${e}.${o}`, override);
  }
  return prices;
}

function add(prices: Map<string, AttoUsd>, at: string, all: Prices | PriceOverride): void {
  for (const [name, price] of Object.entries(all)) {
    if (typeof price === 'bigint') prices.set(`${at}.${name}`, price);
  }
}
