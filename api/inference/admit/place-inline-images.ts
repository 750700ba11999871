import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { runSteps, type Steps } from '#core/steps.ts';
import { nextTurn } from '#core/wait.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { type InlineFile, inlineFilesIn } from '../linked-images/inline-files.ts';
import { DOCUMENT_ADVICE, tooManyLinks } from '../linked-images/linked-media.ts';

/** The upload as which an image of a request would be kept. */
export interface PlacedImage {
  link: string;
  /** Keeps the bytes for the agent, within its limits. `null`: they are kept. */
  keep(): Promise<ApiError | null>;
}

/** Asks nobody. `null`: uploads may not have the bytes. */
export type PlaceImage = (image: Buffer) => Promise<PlacedImage | null>;

export interface PlacedBody {
  /** With links in the places of the images. */
  body: Buffer;
  /** Each image once. None of them is kept yet: that is for a call that is held. */
  images: readonly PlacedImage[];
}

/** Stands in every body with bytes of a file in it. */
const NEEDLES = [';base64,', '"base64"', '"file_data"'].map((text) => Buffer.from(text));
/** As much is parsed, decoded or hashed in one turn of the event loop. */
const LARGE_BYTES = 256 * 1024;

export const mayHoldFiles = (body: Buffer): boolean => NEEDLES.some((needle) => body.includes(needle));

/**
 * Writes links in the places of images whose bytes stand in a body: from here on the call is one with links.
 *
 * @param value - What the body says. It is changed.
 */
export async function placeInlineImages(
  place: PlaceImage,
  format: FormatName,
  { bytes, value }: { bytes: Buffer; value: Record<string, unknown> },
  linksMax: number,
): Promise<PlacedBody | ApiError> {
  const unchanged = { body: bytes, images: [] };
  const marks = new NumberMarks();
  const finding = findInlineFiles(marks, format, bytes, value);
  const { files, marked } = await runSteps(bytes.length, finding);
  if (files.length === 0) return unchanged;
  const tooMany = files[linksMax];
  if (tooMany !== undefined) return tooManyLinks(linksMax, tooMany.param);
  await nextTurnAfter(bytes.length);
  const placed = await placeAll(place, files);
  if (isApiError(placed)) return placed;
  const body = marks.print(marked);
  await nextTurnAfter(bytes.length);
  return { body, images: [...placed.values()] };
}

/** The files, in a value whose numbers are marked where a float would change their digits. */
export function* findInlineFiles(
  marks: NumberMarks,
  format: FormatName,
  bytes: Buffer,
  value: Record<string, unknown>,
): Steps<{ marked: Record<string, unknown>; files: readonly InlineFile[] }> {
  const withMarks = (yield* marks.parseInSteps(bytes))?.value;
  const marked = isRecord(withMarks) ? withMarks : value;
  yield 'parse with marks';
  const files = inlineFilesIn(format, marked);
  yield 'find files';
  return { marked, files };
}

/** The files of each text, in the order of the body. */
async function placeAll(
  place: PlaceImage,
  files: readonly InlineFile[],
): Promise<ReadonlyMap<string, PlacedImage> | ApiError> {
  const placed = new Map<string, PlacedImage>();
  for (const file of files) {
    const { base64, writeLink } = file;
    const image = placed.get(base64) ?? (await place(Buffer.from(base64, 'base64')));
    if (image === null) return noImage(file);
    if (!placed.has(base64)) await nextTurnAfter(base64.length);
    placed.set(base64, image);
    writeLink(image.link);
  }
  return placed;
}

async function nextTurnAfter(bytes: number): Promise<void> {
  if (bytes >= LARGE_BYTES) await nextTurn();
}

const noImage = ({ param, isDocument }: InlineFile): ApiError =>
  apiError('invalid_request', {
    param,
    message: isDocument
      ? `\`${param}\` holds a document inline, and only PNG, JPEG, WebP and GIF images are kept from a request. ${DOCUMENT_ADVICE}`
      : `\`${param}\` holds inline data that is no PNG, JPEG, WebP or GIF image. Send one of these, or a public https link.`,
  });

/** Keeps the images of a held call, one after the other. `null`: all are kept. */
export async function keepPlacedImages(images: readonly PlacedImage[]): Promise<ApiError | null> {
  for (const image of images) {
    const refusal = await image.keep();
    if (refusal !== null) return refusal;
  }
  return null;
}
