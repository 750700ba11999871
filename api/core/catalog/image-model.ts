import type { AttoUsd } from '../money.ts';

/** A model of the list of images. What a request cannot bound is not listed. */
export interface ImageModel {
  id: string;
  name: string;
  createdAtMs: number | null;
  readsImages: boolean;
  streaming: boolean;
  /** The fields that it takes besides `model` and `prompt`, by name. */
  parameters: ReadonlyMap<string, ImageParameter>;
  pricing: readonly ImagePrice[];
  /** Of one image at its largest, by the variant of its price line (`''`: any); only where a line's unit is `token`. */
  outputTokensMax: ReadonlyMap<string, number>;
  /** The same for one image that is read; `null`: it reads none, or does not bill tokens for it. */
  inputImageTokensMax: number | null;
  providerId: string;
  upstreamModel: string;
  /** Pins a router's endpoint, whose prices these are; `null`: the provider has only one. */
  endpointTag: string | null;
}

export type ImageParameter =
  | { type: 'enum'; values: readonly (string | number | boolean)[] }
  | { type: 'range'; min: number; max: number };

export const billables = ['output_image', 'input_image', 'input_reference', 'input_text'] as const;
export const billedUnits = ['image', 'megapixel', 'token', 'request'] as const;

export interface ImagePrice {
  billable: (typeof billables)[number];
  unit: (typeof billedUnits)[number];
  /** Per unit, the operator's margin included. */
  price: AttoUsd;
  /** A tier or a quality, as `2k` or `high`; `null`: whatever is asked for. */
  variant: string | null;
}
