import type { ImagePlan } from './image-plan.ts';

/** What the provider is asked: of the caller's body only what was checked, and of its endpoints the one whose prices these are. */
export function imageBody(plan: ImagePlan): Buffer {
  const { model, prompt, parameters, references, stream } = plan;
  const { upstreamModel, endpointTag } = model;
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(parameters),
      model: upstreamModel,
      prompt,
      ...(references.length === 0
        ? {}
        : { input_references: references.map((url) => ({ type: 'image_url', image_url: { url } })) }),
      ...(stream ? { stream } : {}),
      ...(endpointTag === null ? {} : { provider: { only: [endpointTag], allow_fallbacks: false } }),
    }),
  );
}
