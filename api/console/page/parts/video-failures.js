/** Why a video was not made, by the code of its job. @type {Readonly<Record<string, string>>} */
const words = {
  content_refused: 'The model refused what was asked for. Word it differently, or take another model.',
  generation_failed: 'The model began, and could not finish it. The same order may succeed.',
  invalid_input: 'The model could not use what was sent: look at the images and settings of the order.',
  provider_unavailable: 'No provider could take it in time. Order it again in a while.',
  timed_out: 'It took too long, and was given up.',
  submission_unknown:
    'The provider never said whether it took the order, so it was given up and not sent twice.',
  result_unavailable: 'It was made, and its file could not be fetched.',
  gateway_error: 'Something failed inside the gateway.',
};

/** @param {string} code */
export const failureWords = (code) =>
  `${Object.hasOwn(words, code) ? words[code] : 'It could not be made.'} Nothing was charged.`;
