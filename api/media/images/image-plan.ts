import type { Provider } from '#core/catalog/catalog.ts';
import type { ImageModel } from '#core/catalog/image-model.ts';
import type { ImageShape } from '#core/catalog/image-price.ts';
import type { Parameter } from '../../contract/image-request.ts';

/** A request for images, checked: what is made, by whom, and what decides its price. */
export interface ImagePlan {
  model: ImageModel;
  provider: Provider;
  prompt: string;
  parameters: ReadonlyMap<string, Parameter>;
  /** Links as the caller sent them. */
  references: readonly string[];
  shape: ImageShape;
  stream: boolean;
  /** `b64_json`: the answer has the images themselves, and nothing is stored. */
  format: 'url' | 'b64_json';
}
