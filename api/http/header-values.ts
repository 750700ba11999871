import type { IncomingMessage } from 'node:http';

/**
 * The values that the client sent of a header, in its order. `req.headers` makes an object of all headers at the first look, and
 * keeps one value of those that may stand once.
 *
 * @param name - In lower case.
 */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? '');
  }
  return values;
}
