import type { FrameType } from '../catalog/video-model.ts';

/**
 * The body of the one `POST /videos` to the provider, as it stands in the order's file, in JSON: every field is written by this
 * gateway from what it has checked. The worker sends the bytes as they are.
 */
export interface VideoOrderBody {
  /** The model's name at the provider. */
  model: string;
  prompt?: string;
  duration: number;
  resolution: string;
  aspect_ratio: string;
  /** Always said: some providers make sound, and bill for it, unless told not to. */
  generate_audio: boolean;
  seed?: number;
  frame_images?: (ImageLink & { frame_type: FrameType })[];
  input_references?: ImageLink[];
  /** The provider's own id of the video that this one carries on. */
  previous_job_id?: string;
}

/** A public link; or a `data:` URL, of an upload that the provider could not fetch from here. */
export interface ImageLink {
  type: 'image_url';
  image_url: { url: string };
}
