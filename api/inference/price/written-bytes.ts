/**
 * The bytes of a text that a model can have written. Servers of image models put whole images into the text as data addresses, and
 * these are no tokens. A model writes its text in short pieces, and seldom more than a small icon.
 */
export function writtenBytes(text: string): number {
  const bytes = Buffer.byteLength(text);
  if (bytes <= ICON_BYTES || !text.includes(DATA_ADDRESS)) return bytes;
  const [, ...encoded] = text.split(DATA_ADDRESS);
  return encoded.reduce((rest, each) => {
    const length = /^[\w+/=-]*/.exec(each)?.[0].length ?? 0;
    return length > ICON_BYTES ? rest - length : rest;
  }, bytes);
}

/** Stands before the bytes of an image in its data address. */
const DATA_ADDRESS = ';base64,';
const ICON_BYTES = 1_024;

/** Whether so many bytes of an event's text may have an image in them. */
export const mayHoldImage = (event: Buffer, textBytes: number): boolean =>
  textBytes > ICON_BYTES && event.includes(DATA_ADDRESS);
