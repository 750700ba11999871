import { FORMAT_PATHS } from '#core/catalog/catalog.ts';
import type { CallFacts } from '#core/events/ledger-event.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { runSteps } from '#core/steps.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import type { HotCallContext } from '../contract/route.ts';
import { allowedBetas } from '../providers/messages-betas.ts';
import { readsUsage } from '../providers/router-clients.ts';
import { type Admitted, admitInSteps, type Routes } from './admit/admit.ts';
import type { CallPlan } from './admit/call-plan.ts';
import { parseBodyInSteps } from './admit/parse-body.ts';
import {
  mayHoldFiles,
  type PlacedBody,
  type PlacedImage,
  type PlaceImage,
  placeInlineImages,
} from './admit/place-inline-images.ts';
import type { CallFormat } from './formats/call-format.ts';
import type { Gateway } from './hold/gateway.ts';
import { ignoredHeader } from './hold/ignored-fields.ts';
import { runHeldCall } from './hold/run-held-call.ts';
import { adviseText } from './hold/start-advice.ts';
import { refuse, refuseStart, type Start, type StartContext, startCall } from './hold/start-call.ts';
import { type LinkedImage, linkOwner, refuseMissing } from './linked-images/linked-media.ts';
import { savePrice } from './price/call-cost.ts';
import { estimateHold } from './price/estimate.ts';
import { RunningCall } from './upstream/running-call.ts';
import { TextKind } from './upstream/text-kind.ts';

/**
 * One call of a text model, in the spec's order: body, agent, model and tools, capacity, hold; then the provider; then
 * the charge. A refusal is returned for the edge to render; `null`: answered here. After the hold every path settles
 * (`run-held-call.ts`).
 */
export async function runCall(
  gateway: Gateway,
  format: CallFormat,
  request: Omit<HotCallContext<unknown, Caller>, 'deps'>,
): Promise<ApiError | null> {
  const { caller } = request;
  const place = gateway.placeImage(caller.agentId);
  const placed =
    place === null || !mayHoldFiles(request.body)
      ? { body: request.body, images: [] }
      : await placeImages(gateway, place, format, request.body);
  if (isApiError(placed)) return await refuseStart(gateway, { ...request, admit: () => placed }, placed);
  const { body, images } = placed;
  const { headers } = request.req;
  const routes: Routes = {
    ...routesOf(gateway, caller.agentId),
    betas: allowedBetas(headers),
    readsUsage: readsUsage(headers),
  };
  const context: StartContext = {
    ...request,
    async admit(agentStatus) {
      const again = await admit(format, body, agentStatus, routes);
      return again.ok ? null : again.error;
    },
  };
  const admitted = await admit(format, body, caller.agentStatus, routes);
  if (!admitted.ok) return await refuseStart(gateway, context, admitted.error);
  const { plan } = admitted;
  // Nothing of it is waited for where no image of the agent's is named.
  const named = withoutPlaced(plan.linkedImages, images);
  const missing = named.length === 0 ? null : await refuseMissing(gateway.files, named);
  if (missing !== null) return await refuseStart(gateway, context, missing);
  const [candidate] = plan.candidates;
  if (candidate === undefined) return await refuse(gateway, context, apiError('provider_unavailable'));
  const start: Start = {
    kind: 'text',
    holdNanoUsd: estimateHold(plan),
    call: callFacts(plan),
    price: savePrice(plan, candidate),
    advice: adviseText(plan),
  };
  let isHeld = false;
  const refused = await startCall(gateway, context, start, (held) => {
    isHeld = true;
    const call = new RunningCall({ ...held, plan, candidate, images });
    return runHeldCall(call, new TextKind(call));
  });
  // A call that was held has named its own: another provider may have been asked last.
  if (refused !== null && !isHeld)
    request.res.setHeaders(
      new Map(Object.entries(ignoredHeader([...candidate.leftOut, ...candidate.hints]))),
    );
  return refused;
}

/** Nothing is kept before the call is held: who may not start it leaves nothing behind. */
async function placeImages(
  gateway: Gateway,
  place: PlaceImage,
  { name }: CallFormat,
  body: Buffer,
): Promise<PlacedBody | ApiError> {
  // A body that is refused anyway is refused as it was sent.
  const parsed = await runSteps(body.length, parseBodyInSteps(body));
  if (isApiError(parsed)) return { body, images: [] };
  const { value } = parsed;
  return await placeInlineImages(place, name, { bytes: body, value }, gateway.limits().linksPerCall);
}

function withoutPlaced(
  linked: readonly LinkedImage[],
  images: readonly PlacedImage[],
): readonly LinkedImage[] {
  if (images.length === 0) return linked;
  const placed = new Set(images.map(({ link }) => link));
  return linked.filter(({ link }) => !placed.has(link));
}

/** A large body is admitted in turns of the event loop of its own, the hold and the request in another one. */
const admit = async (
  format: CallFormat,
  body: Buffer,
  agentStatus: AgentStatus,
  routes: Routes,
): Promise<Admitted> => await runSteps(body.length, admitInSteps(format, body, agentStatus, routes));

const routesOf = ({ catalog, health, files, limits }: Gateway, agentId: number): Routes => ({
  catalog,
  health,
  links: { ownerOf: linkOwner(files, agentId), linksMax: limits().linksPerCall },
});

/** What the call record shows of a call besides its money. */
const callFacts = ({ model, format, stream }: CallPlan): CallFacts => ({
  model: model.id,
  modelName: model.name,
  endpoint: FORMAT_PATHS[format.name],
  stream,
});
