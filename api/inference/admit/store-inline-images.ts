import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { parseBody } from './parse-body.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { tooManyLinks } from '../linked-images/linked-media.ts';

/** Keeps the bytes of an image for its agent. Returns a link to it; `no_image`: they are none. */
export type KeepImage = (image: Buffer) => Promise<string | ApiError | 'no_image'>;

/** Stands in every body with bytes of an image in it. */
const NEEDLES = [';base64,', '"base64"'].map((text) => Buffer.from(text));

/**
 * Keeps the images that stand in a body as uploads, and writes their links in their place: from here on the call is one with links. A
 * body that is refused anyway comes back as it is.
 */
export async function storeInlineImages(
  keep: KeepImage,
  format: FormatName,
  body: Buffer,
  linksMax: number,
): Promise<Buffer | ApiError> {
  if (!NEEDLES.some((needle) => body.includes(needle)) || isApiError(parseBody(body))) return body;
  const marks = new NumberMarks();
  const value: unknown = marks.parse(body)?.value ?? JSON.parse(body.toString('utf8'));
  const images = isRecord(value) ? inlineImagesIn(format, value) : [];
  const tooMany = images[linksMax];
  if (tooMany !== undefined) return tooManyLinks(linksMax, tooMany.param);
  const links = new Map<string, string>();
  for (const { base64, param, writeLink } of images) {
    const link = links.get(base64) ?? (await keep(Buffer.from(base64, 'base64')));
    if (link === 'no_image') return noImage(param);
    if (typeof link !== 'string') return link;
    links.set(base64, link);
    writeLink(link);
  }
  return images.length === 0 ? body : marks.print(value);
}

const noImage = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` holds inline data that is no PNG, JPEG, WebP or GIF image. Send one of these, or a public https link.`,
  });

interface InlineImage {
  base64: string;
  /** Where it stands in the body. */
  param: string;
  writeLink(link: string): void;
}

type Part = Record<string, unknown>;

function inlineImagesIn(format: FormatName, body: Record<string, unknown>): InlineImage[] {
  const list = format === 'responses' ? 'input' : 'messages';
  return entries(body[list], list).flatMap(([item, at]) => [
    ...partsIn(item.content, `${at}.content`),
    // What a tool has returned, of a call in responses.
    ...partsIn(item.output, `${at}.output`),
  ]);
}

const entries = (list: unknown, param: string): [Part, string][] =>
  Array.isArray(list)
    ? list.flatMap((each, at): [Part, string][] => (isRecord(each) ? [[each, `${param}[${at}]`]] : []))
    : [];

const partsIn = (list: unknown, param: string): InlineImage[] =>
  entries(list, param).flatMap(([part, at]) => imagesOf(part, at));

function imagesOf(part: Part, param: string): InlineImage[] {
  switch (part.type) {
    case 'image_url':
    case 'input_image':
      return isRecord(part.image_url)
        ? dataLink(part.image_url, 'url', `${param}.image_url.url`)
        : dataLink(part, 'image_url', `${param}.image_url`);
    case 'image':
      return ofSource(part, `${param}.source`);
    case 'tool_result':
    case 'search_result':
      return partsIn(part.content, `${param}.content`);
    default:
      return [];
  }
}

function dataLink(holder: Part, member: string, param: string): InlineImage[] {
  const link = holder[member];
  const [head, base64] = typeof link === 'string' ? splitDataLink(link) : [];
  if (head === undefined || base64 === undefined || !DATA_HEAD.test(head)) return [];
  return [
    {
      base64,
      param,
      writeLink(to) {
        holder[member] = to;
      },
    },
  ];
}

const DATA_HEAD = /^\s{0,20}data:[^,]{0,200};base64$/i;

function splitDataLink(link: string): [string, string] | [] {
  const at = link.slice(0, 300).indexOf(',');
  return at < 0 ? [] : [link.slice(0, at), link.slice(at + 1)];
}

function ofSource(part: Part, param: string): InlineImage[] {
  const { source } = part;
  if (!isRecord(source) || source.type !== 'base64' || typeof source.data !== 'string') return [];
  return [
    {
      base64: source.data,
      param,
      writeLink(url) {
        part.source = { type: 'url', url };
      },
    },
  ];
}
