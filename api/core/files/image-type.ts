import type { ImageType } from './file-name.ts';

/** So many leading bytes tell the type. */
export const IMAGE_TYPE_BYTES = 12;

/** What an image is by its leading bytes, whatever its sender calls it. `null`: none that is kept or shown here. */
export function imageTypeOf(start: Uint8Array): ImageType | null {
  const text = Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString(
    'latin1',
    0,
    IMAGE_TYPE_BYTES,
  );
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  return null;
}
