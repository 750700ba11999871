import type { Catalog } from '#core/catalog/catalog.ts';
import type { ImageModel } from '#core/catalog/image-model.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { describeIssue } from '../../contract/describe-issue.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { CommonImageRequest, type Parameter, readImageParameters } from '../../contract/image-request.ts';
import { parseBody } from '../../inference/admit/parse-body.ts';
import { refuseAgent } from '../../inference/hold/refuse-start.ts';
import { refuseModel } from '../../inference/routing/refuse-model.ts';
import type { ImagePlan } from './image-plan.ts';

export interface ImageRoutes {
  catalog: Catalog;
  /** Whether this gateway can store what it makes. */
  keepsFiles: boolean;
}

/** What can be refused before anything is held or looked up: the body, the agent, the model, then each field. */
export function admitImage(
  bytes: Buffer,
  agentStatus: AgentStatus,
  { catalog, keepsFiles }: ImageRoutes,
): ImagePlan | ApiError {
  const body = parseBody(bytes);
  if (isApiError(body)) return body;
  const { value } = body;
  const parsed = CommonImageRequest.safeParse(value);
  if (!parsed.success) return describeIssue(parsed.error.issues, value);
  const request = parsed.data;

  const agentRefusal = refuseAgent(agentStatus);
  if (agentRefusal !== null) return agentRefusal;

  const found = findModel(catalog, request.model);
  if (isApiError(found)) return found;
  const { model } = found;
  const parameters = readImageParameters(model, value);
  if (isApiError(parameters)) return parameters;
  const references = (request.input_references ?? []).map((each) => each.image_url.url);
  const stream = request.stream === true;
  const format = request.response_format ?? 'url';
  const images = imagesOf(parameters.get('n'));
  const refusal =
    refuseReferences(model, references) ??
    refuseStream(model, stream, images) ??
    (format === 'url' && !keepsFiles ? noFiles : null);
  if (refusal !== null) return refusal;
  return {
    ...found,
    prompt: request.prompt,
    parameters,
    references,
    stream,
    format,
    shape: {
      images,
      promptBytes: Buffer.byteLength(request.prompt),
      references: references.length,
      resolution: textOf(parameters.get('resolution')),
      size: textOf(parameters.get('size')),
      quality: textOf(parameters.get('quality')),
    },
  };
}

function findModel(catalog: Catalog, id: string): Pick<ImagePlan, 'model' | 'provider'> | ApiError {
  if (catalog.gatewayStopped()) return apiError('gateway_unavailable');
  const entry = catalog.findImageModel(id);
  if (entry.status !== 'served') return refuseModel('image model', entry, id);
  const provider = catalog.provider(entry.model.providerId);
  if (provider === undefined || provider.stopped) return apiError('provider_unavailable');
  return { model: entry.model, provider };
}

function refuseReferences({ id, readsImages, parameters }: ImageModel, links: readonly string[]) {
  const param = 'input_references';
  if (links.length > 0 && !readsImages) {
    return apiError('invalid_request', {
      param,
      message: `\`input_references\` is not taken by the model \`${id}\`: it reads no images.`,
    });
  }
  const listed = parameters.get(param);
  if (listed?.type !== 'range' || links.length <= listed.max) return null;
  return apiError('invalid_request', {
    param,
    message: `\`input_references\` has to be an array of at most ${listed.max} images.`,
  });
}

function refuseStream({ id, streaming }: ImageModel, stream: boolean, images: number): ApiError | null {
  if (!stream) return null;
  if (!streaming) {
    return apiError('invalid_request', {
      param: 'stream',
      message: `\`stream\` has to be \`false\` or left out: the model \`${id}\` streams no partial images.`,
    });
  }
  if (images === 1) return null;
  return apiError('invalid_request', {
    param: 'n',
    message: '`n` has to be 1 with `stream: true`: one image is streamed at a time.',
  });
}

const noFiles = apiError('invalid_request', {
  param: 'response_format',
  message: '`response_format` has to be `b64_json`: this gateway keeps no files.',
});

/** However a list says it: at least the one that is made of any request. */
const imagesOf = (n: Parameter | undefined): number => Math.max(1, Math.ceil(Number(n ?? 1)) || 1);
const textOf = (value: Parameter | undefined): string | null => (typeof value === 'string' ? value : null);
