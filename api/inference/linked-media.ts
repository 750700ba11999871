import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { checkPublicHttpsUrl, NO_PUBLIC_LINK } from './public-link.ts';

/** What a prompt holds besides text, as far as the hold has to know. */
export interface MediaCount {
  images: number;
  /** To be read whole by the model, or by a paid reader where the model cannot. */
  files: number;
  /** Films, and files that were read for an earlier answer: their tokens cannot be told from a link. */
  others: number;
  /** Where the first of them stands in the body; `null`: there is none. */
  firstAt: string | null;
}

export const noMedia = (): MediaCount => ({ images: 0, files: 0, others: 0, firstAt: null });

export function countMedium(count: MediaCount, kind: 'images' | 'files' | 'others', param: string): void {
  count[kind]++;
  count.firstAt ??= param;
}

/** Of several places for a link every one that is filled, because nobody knows which one a provider reads. */
export function refuseLinks(places: readonly unknown[], param: string): ApiError | null {
  const filled = places.filter((place) => place !== undefined && place !== null);
  if (filled.length === 0) return refuseLink(undefined, param);
  for (const place of filled) {
    const refusal = refuseLink(linkOf(place), param);
    if (refusal !== null) return refusal;
  }
  return null;
}

export const linkOf = (value: unknown): unknown => (isRecord(value) ? value.url : value);

export function refuseLink(link: unknown, param: string): ApiError | null {
  if (typeof link !== 'string') {
    return apiError('invalid_request', {
      param,
      message: `\`${param}\` has to hold an https link in \`url\`.`,
    });
  }
  if (/^\s*data:/i.test(link)) return refuseInline(param);
  return checkPublicHttpsUrl(link) === null
    ? apiError('invalid_request', { param, message: `\`${param}\` ${NO_PUBLIC_LINK}.` })
    : null;
}

export const refuseInline = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` holds inline data. Send a public https link instead, or upload the file (\`POST /uploads\`) and send its link.`,
  });

export const refuseStored = (param: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\`: stored files are not served. Send a link.` });
