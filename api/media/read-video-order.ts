import type { Catalog, Provider } from '#core/catalog/catalog.ts';
import type { VideoModel, VideoShape } from '#core/catalog/video-model.ts';
import { describeIssue } from '../contract/describe-issue.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { type VideoRequest, VideoRequestModel, videoRequest } from '../contract/video-request.ts';
import { refuseModel } from '../inference/routing/refuse-model.ts';

/** An order whose every value its model lists. Whose its images and its earlier video are is not looked at yet. */
export interface VideoOrderRead {
  model: VideoModel;
  provider: Provider;
  request: VideoRequest;
  shape: VideoShape;
}

/** The model, then every field by what the model takes. */
export function readVideoOrder(
  catalog: Pick<Catalog, 'gatewayStopped' | 'findVideoModel' | 'provider'>,
  body: Record<string, unknown>,
): VideoOrderRead | ApiError {
  const named = VideoRequestModel.safeParse(body);
  if (!named.success) return describeIssue(named.error.issues, body);
  const { model: id } = named.data;
  if (catalog.gatewayStopped()) return apiError('gateway_unavailable');
  const entry = catalog.findVideoModel(id);
  if (entry.status !== 'served') return refuseModel('video model', entry, id);
  const { model } = entry;
  const provider = catalog.provider(model.providerId);
  if (provider === undefined || provider.stopped) return apiError('provider_unavailable', { param: 'model' });

  const parsed = schemaOf(model).safeParse(body);
  if (!parsed.success) return describeIssue(parsed.error.issues, body);
  const request = parsed.data;
  const refusal = refuseTogether(request, model);
  if (refusal !== null) return refusal;
  return { model, provider, request, shape: shapeOf(request) };
}

/** To make one takes forty times as long as to use it. A model is another object when its list has changed. */
const schemas = new WeakMap<VideoModel, ReturnType<typeof videoRequest>>();

function schemaOf(model: VideoModel): ReturnType<typeof videoRequest> {
  const known = schemas.get(model);
  if (known !== undefined) return known;
  const schema = videoRequest(model);
  schemas.set(model, schema);
  return schema;
}

/** What depends on another field. */
function refuseTogether(request: VideoRequest, model: VideoModel): ApiError | null {
  const frames = request.frame_images ?? [];
  const references = request.input_references ?? [];
  if (frames.length > 0 && references.length > 0) {
    return refuse(
      'input_references',
      '`input_references` cannot be sent together with `frame_images`; send one of them.',
    );
  }
  for (const [index, { frame_type: type }] of frames.entries()) {
    if (frames.findIndex((each) => each.frame_type === type) === index) continue;
    const param = `frame_images[${index}].frame_type`;
    return refuse(param, `\`${param}\`: there is a \`${type}\` already, and a video has one at most.`);
  }
  const [only] = frames;
  if (frames.length === 1 && only?.frame_type === 'last_frame' && takesFirst(model)) {
    const param = 'frame_images[0].frame_type';
    return refuse(
      param,
      `\`${param}\`: a \`last_frame\` needs a \`first_frame\` beside it; this model takes none alone.`,
    );
  }
  const hasPrompt = (request.prompt ?? '').trim() !== '';
  const needsNone = frames.length > 0 || references.length > 0 || hasValue(request.previous_job_id);
  if (hasPrompt || needsNone) return null;
  return refuse(
    'prompt',
    '`prompt` is required unless `frame_images`, `input_references` or `previous_job_id` is sent.',
  );
}

/** Where a list has both, the second is made of the first. */
const takesFirst = ({ supportedFrameImages }: VideoModel): boolean =>
  supportedFrameImages.includes('first_frame');

const hasValue = (value: unknown): boolean => value !== null && value !== undefined;

const refuse = (param: string, message: string): ApiError => apiError('invalid_request', { param, message });

const shapeOf = (request: VideoRequest): VideoShape => ({
  durationSeconds: request.duration,
  resolution: request.resolution,
  aspectRatio: request.aspect_ratio,
  generateAudio: request.generate_audio ?? false,
  frameImages: request.frame_images?.length ?? 0,
  inputReferences: request.input_references?.length ?? 0,
  continues: hasValue(request.previous_job_id),
});
