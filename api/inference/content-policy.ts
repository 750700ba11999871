import { isIP } from 'node:net';
import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../contract/errors.ts';

/** What the messages hold besides text, as far as the hold has to know. */
export interface MediaCount {
  images: number;
  /** Audio, video and files: their tokens cannot be told from a link. */
  others: number;
}

const URL_CHARS_MAX = 2048;

/**
 * Counts linked media, and refuses inline data, stored files and links that no provider should be sent to: a
 * self-hosted server would fetch them from inside the operator's network.
 */
export function countMedia(messages: readonly unknown[]): MediaCount | ApiError {
  const count: MediaCount = { images: 0, others: 0 };
  for (const [m, message] of messages.entries()) {
    if (!isRecord(message) || !Array.isArray(message.content)) continue;
    for (const [p, part] of message.content.entries()) {
      const refusal = countPart(part, `messages[${m}].content[${p}]`, count);
      if (refusal !== null) return refusal;
    }
  }
  return count;
}

function countPart(part: unknown, param: string, count: MediaCount): ApiError | null {
  if (!isRecord(part)) return null;
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
      return refuseLink(linkOf(part.video_url ?? part.input_video), `${param}.video_url`);
    case 'file': {
      count.others++;
      const file = isRecord(part.file) ? part.file : {};
      if (file.file_id !== undefined) return refuseStored(`${param}.file.file_id`);
      return refuseLink(linkOf(file.file_data ?? file.file_url), `${param}.file`);
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

const linkOf = (value: unknown): unknown => (isRecord(value) ? value.url : value);

function refuseLink(link: unknown, param: string): ApiError | null {
  if (typeof link !== 'string') {
    return apiError('invalid_request', {
      param,
      message: `\`${param}\` has to hold an https link in \`url\`.`,
    });
  }
  if (/^data:/i.test(link)) return refuseInline(param);
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

/** No credentials, no port of one's own, no address, no name without a dot or below an internal domain. */
function isPublicHttpsUrl(link: string): boolean {
  const url = URL.parse(link);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return false;
  if (url.username !== '' || url.password !== '') return false;
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (host.startsWith('[') || isIP(host) !== 0) return false;
  return host.includes('.') && !INTERNAL_NAME.test(host);
}

const INTERNAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home\.arpa|svc|cluster\.local)$/;
