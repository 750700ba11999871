import { isIP } from 'node:net';
import { isRecord } from '#core/is-record.ts';
import { URL_CHARS_MAX } from '#core/limits.ts';
import { type ApiError, apiError } from '../contract/errors.ts';

/** What the messages hold besides text, as far as the hold has to know. */
export interface MediaCount {
  images: number;
  /** To be read whole by the model, or by a paid reader where the model cannot. */
  files: number;
  /** Films, and files that were read for an earlier answer: their tokens cannot be told from a link. */
  others: number;
}

/**
 * Counts linked media, and refuses inline data, stored files and links that no provider should be sent to: a
 * self-hosted server would fetch them from inside the operator's network.
 */
export function countMedia(messages: readonly unknown[]): MediaCount | ApiError {
  const count: MediaCount = { images: 0, files: 0, others: 0 };
  for (const [m, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    const refusal = countEarlierAnswer(message, `messages[${m}]`, count);
    if (refusal !== null) return refusal;
    if (!Array.isArray(message.content)) continue;
    for (const [p, part] of message.content.entries()) {
      const refusal = countPart(part, `messages[${m}].content[${p}]`, count);
      if (refusal !== null) return refusal;
    }
  }
  return count;
}

/** What an assistant's message may bring back besides its content: pictures, and files that were read for it. */
function countEarlierAnswer(
  { images, audio, annotations }: Readonly<Record<string, unknown>>,
  param: string,
  count: MediaCount,
): ApiError | null {
  // An id of sound that is kept for the account that all agents share.
  if (audio !== undefined && audio !== null) return refuseStored(`${param}.audio`);
  if (Array.isArray(annotations) && annotations.some((each) => isRecord(each) && each.type === 'file')) {
    count.others++;
  }
  if (images === undefined || images === null) return null;
  if (!Array.isArray(images)) {
    return apiError('invalid_request', {
      param: `${param}.images`,
      message: `\`${param}.images\` has to be a list.`,
    });
  }
  for (const [i, image] of images.entries()) {
    count.images++;
    const refusal = refuseLink(
      linkOf(isRecord(image) ? image.image_url : image),
      `${param}.images[${i}].image_url`,
    );
    if (refusal !== null) return refusal;
  }
  return null;
}

function countPart(part: unknown, param: string, count: MediaCount): ApiError | null {
  if (!isRecord(part)) return null;
  // Names an entry of the server's cache, whoever made it.
  if (part.uuid !== undefined && part.uuid !== null) return refuseStored(`${param}.uuid`);
  switch (part.type) {
    case 'text':
    case 'refusal':
      return null;
    case 'image_url':
      count.images++;
      return refuseLink(linkOf(part.image_url), `${param}.image_url`);
    case 'video_url':
    case 'input_video':
      count.others++;
      return refuseLinks([part.video_url, part.input_video], `${param}.${part.type}`);
    case 'file': {
      count.files++;
      const file = isRecord(part.file) ? part.file : {};
      if (file.file_id !== undefined && file.file_id !== null) return refuseStored(`${param}.file.file_id`);
      return refuseLinks([file.file_data, file.file_url], `${param}.file`);
    }
    case 'input_audio':
      return refuseInline(`${param}.input_audio`);
    default:
      return apiError('invalid_request', {
        param: `${param}.type`,
        message: `\`${param}.type\` has to be \`text\`, \`image_url\`, \`video_url\` or \`file\`.`,
      });
  }
}

/** Of several places for a link every one that is filled, because nobody knows which one a provider reads. */
function refuseLinks(places: readonly unknown[], param: string): ApiError | null {
  const filled = places.filter((place) => place !== undefined && place !== null);
  if (filled.length === 0) return refuseLink(undefined, param);
  for (const place of filled) {
    const refusal = refuseLink(linkOf(place), param);
    if (refusal !== null) return refusal;
  }
  return null;
}

const linkOf = (value: unknown): unknown => (isRecord(value) ? value.url : value);

function refuseLink(link: unknown, param: string): ApiError | null {
  if (typeof link !== 'string') {
    return apiError('invalid_request', {
      param,
      message: `\`${param}\` has to hold an https link in \`url\`.`,
    });
  }
  if (/^\s*data:/i.test(link)) return refuseInline(param);
  if (link.length > URL_CHARS_MAX || !isPublicHttpsUrl(link)) {
    return apiError('invalid_request', {
      param,
      message: `\`${param}\` has to be a public https link of at most ${URL_CHARS_MAX} characters.`,
    });
  }
  return null;
}

const refuseInline = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` holds inline data. Upload the file (\`POST /uploads\`) and send its link instead.`,
  });

const refuseStored = (param: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\`: stored files are not served. Send a link.` });

/**
 * No credentials, no port of one's own, no address, no name without a dot or below an internal domain. What one
 * reader of links takes for a host and another for a path (backslashes, blanks, missing slashes) is no link.
 */
function isPublicHttpsUrl(link: string): boolean {
  if (!PLAIN_LINK.test(link)) return false;
  const url = URL.parse(link);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return false;
  if (url.username !== '' || url.password !== '') return false;
  const host = url.hostname.toLowerCase().replace(/\.+$/, '');
  if (host.startsWith('[') || isIP(host) !== 0) return false;
  return host.includes('.') && !INTERNAL_NAME.test(host);
}

const PLAIN_LINK = /^https:\/\/[^/\\\s\p{Cc}][^\\\s\p{Cc}]*$/iu;
const INTERNAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|corp|home|lan|home\.arpa|svc|cluster\.local)$/;
