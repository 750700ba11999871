import type { AgentStatus } from '#core/ledger/machine/state.ts';
import type { Caller } from '../../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import type { HotCallContext } from '../../contract/route.ts';
import type { Gateway } from '../../inference/hold/gateway.ts';
import { runHeldCall } from '../../inference/hold/run-held-call.ts';
import { refuse, refuseStart, type StartContext, startCall } from '../../inference/hold/start-call.ts';
import type { LinkedImage } from '../../inference/linked-images/linked-media.ts';
import { refuseWait } from '../../inference/routing/skip-open-endpoints.ts';
import { checkImages } from '../check-images.ts';
import { admitImage } from './admit-image.ts';
import { adviseImage, imageHold } from './advise-image.ts';
import { ImageCall } from './image-call.ts';
import { fixedPrice } from './image-cost.ts';
import { ImageKind } from './image-kind.ts';
import { openOutput } from './image-output.ts';
import type { RestingFiles } from './rest-after-failure.ts';

export interface ImageDeps {
  gateway: Gateway;
  /** `null`: this gateway keeps none. */
  files: RestingFiles | null;
  /** What is wrong with a link that leads to no public address, in words for behind its field; `null`: anybody can follow it. */
  refusePrivate: (url: string) => Promise<string | null>;
}

/** One request for images, in the order of a text's: body, agent, model and fields, links, capacity, hold; then the provider. */
export async function runImage(
  deps: ImageDeps,
  request: Omit<HotCallContext<unknown, Caller>, 'deps'>,
): Promise<ApiError | null> {
  const { gateway, files } = deps;
  const routes = { catalog: gateway.catalog, keepsFiles: files !== null };
  const admit = (status: AgentStatus) => admitImage(request.body, status, routes);
  const context: StartContext = {
    ...request,
    admit(status) {
      const again = admit(status);
      return isApiError(again) ? again : null;
    },
  };
  const plan = admit(request.caller.agentStatus);
  if (isApiError(plan)) return await refuseStart(gateway, context, plan);
  const wait = gateway.health.waitFor({ endpoint: plan.model, provider: plan.provider });
  if (wait !== null) return await refuse(gateway, context, refuseWait(wait));
  const images = await checkReferences(deps, request.caller.agentId, plan.references);
  if (isApiError(images)) return await refuseStart(gateway, context, images);
  if (plan.format === 'url' && files?.resting()) return await refuse(gateway, context, storageFailed);
  const holdNanoUsd = imageHold(plan);
  if (holdNanoUsd === null) return await refuse(gateway, context, apiError('model_not_served'));
  const { model, stream } = plan;
  const start = {
    kind: 'image' as const,
    holdNanoUsd,
    call: { model: model.id, modelName: model.name, endpoint: 'images', stream },
    price: fixedPrice(plan.provider, 0n),
    advice: adviseImage(plan),
  };
  return await startCall(gateway, context, start, (held) => {
    const call = new ImageCall({ ...held, plan, images });
    const output = openOutput(call, files);
    return runHeldCall(call, new ImageKind(call, output)).finally(() => void output.close?.());
  });
}

const storageFailed = apiError('gateway_unavailable', {
  message:
    'Images cannot be stored at the moment; wait as retry-after-ms says, or ask for `response_format: b64_json`.',
});

async function checkReferences(
  { gateway: { files, log, limits }, refusePrivate }: ImageDeps,
  agentId: number,
  links: readonly string[],
): Promise<LinkedImage[] | ApiError> {
  const named = links.map((link, at) => ({ link, param: `input_references[${at}].image_url.url` }));
  const check = { files, refusePrivate, log, linksMax: limits().linksPerCall };
  return await checkImages(check, agentId, named);
}
