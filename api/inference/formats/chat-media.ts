import { isRecord } from '#core/is-record.ts';
import { type ApiError, hasToBe, refuseEach } from '../../contract/errors.ts';
import { isBareBase64 } from '../linked-images/inline-files.ts';
import {
  countMedium,
  type LinkRules,
  linkOf,
  type MediaCount,
  noMedia,
  refuseInline,
  refuseStored,
  takeImage,
  takeLinks,
} from '../linked-images/linked-media.ts';

/**
 * Counts linked media, and refuses inline data, stored files and links that no provider should be sent to: a
 * self-hosted server would fetch them from inside the operator's network.
 */
export function countChatMedia(
  { messages }: Readonly<Record<string, unknown>>,
  rules: LinkRules,
): MediaCount | ApiError {
  const count = noMedia(rules);
  const refusal = refuseEach(
    messages,
    'messages',
    (message, param) =>
      countEarlierAnswer(message, param, count) ??
      refuseEach(message.content, `${param}.content`, (part, at) => countPart(part, at, count)),
  );
  return refusal ?? count;
}

/** What an assistant's message may bring back besides its content: images, and files that were read for it. */
function countEarlierAnswer(
  { images, audio, annotations }: Readonly<Record<string, unknown>>,
  param: string,
  count: MediaCount,
): ApiError | null {
  // An id of sound that is kept for the account that all agents share.
  if (audio !== undefined && audio !== null) return refuseStored(`${param}.audio`);
  if (Array.isArray(annotations) && annotations.some((each) => isRecord(each) && each.type === 'file')) {
    countMedium(count, 'others', `${param}.annotations`);
  }
  if (images === undefined || images === null) return null;
  if (!Array.isArray(images)) return hasToBe(`${param}.images`, 'a list');
  for (const [i, image] of images.entries()) {
    const at = `${param}.images[${i}]`;
    countMedium(count, 'images', at);
    const link = isRecord(image) ? image.image_url : image;
    const refusal = takeImage(count, linkOf(link), placeOfLink(link, `${at}.image_url`));
    if (refusal !== null) return refusal;
  }
  return null;
}

function countPart(part: Record<string, unknown>, param: string, count: MediaCount): ApiError | null {
  // Names an entry of the server's cache, whoever made it.
  if (part.uuid !== undefined && part.uuid !== null) return refuseStored(`${param}.uuid`);
  switch (part.type) {
    case 'text':
    case 'refusal':
    // Parts of some vendors' answers, which come back as they were shown.
    case 'output_text':
    case 'thinking':
    case 'redacted_thinking':
    case 'reasoning':
    case 'reasoning_text':
    case 'reference':
    case 'tool_reference':
      return null;
    case 'image_url':
      countMedium(count, 'images', param);
      return takeImage(count, linkOf(part.image_url), placeOfLink(part.image_url, `${param}.image_url`));
    case 'video_url':
    case 'input_video':
      countMedium(count, 'others', param);
      return takeLinks(count, [part.video_url, part.input_video], `${param}.${part.type}`);
    case 'file': {
      countMedium(count, 'files', param);
      const file = isRecord(part.file) ? part.file : {};
      if (file.file_id !== undefined && file.file_id !== null) return refuseStored(`${param}.file.file_id`);
      if (typeof file.file_data === 'string' && isBareBase64(file.file_data))
        return refuseInline(`${param}.file`);
      return takeLinks(count, [file.file_data, file.file_url], `${param}.file`);
    }
    case 'input_audio':
      return refuseInline(`${param}.input_audio`);
    default:
      return hasToBe(`${param}.type`, '`text`, `image_url`, `video_url` or `file`');
  }
}

/** The path to the text of a link, so that a caller who replaces the value that a refusal names sends a link where one is read. */
const placeOfLink = (link: unknown, param: string): string => (isRecord(link) ? `${param}.url` : param);
