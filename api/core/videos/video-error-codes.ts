/**
 * Why a video failed: what its job shows as `error.code`, and its call as the error. The spec names the first alone; the
 * others are ours, decided here once. A failed video costs nothing, whatever the code.
 */
export const videoErrorCodes = {
  content_refused: "The provider's policy refuses the prompt, an image or the result.",
  generation_failed: 'The provider could not make the video, or cancelled it.',
  invalid_input:
    'The provider refuses the order: an image that it cannot read, or a value that it does not take.',
  provider_unavailable:
    'The provider took no order for a quarter of an hour, or refuses those of this gateway.',
  timed_out: 'The video was not done after four hours, or the provider gave it up as too late.',
  submission_unknown:
    'Whether the provider took the order is not known. It is never sent twice: order the video again if you still want it.',
  result_unavailable: 'The video was made, but its file could not be fetched, is too large or is no MP4.',
  gateway_error: 'The gateway itself failed: its storage was down, or the order is lost.',
} as const satisfies Record<string, string>;

export type VideoErrorCode = keyof typeof videoErrorCodes;
