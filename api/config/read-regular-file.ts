import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { CONFIG_BYTES_MAX } from '#core/limits.ts';

/**
 * The text of a configuration or of a secret, one byte more than may be at most. A pipe that nobody writes to would be waited for
 * without an end, and a device such as `/dev/zero` read without one.
 */
export async function readRegularFile(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile()) {
    const code = found.isDirectory() ? 'EISDIR' : 'it is no regular file';
    throw Object.assign(new Error('It is no regular file.'), { code });
  }
  return text(createReadStream(path, { end: CONFIG_BYTES_MAX }));
}
