import type { IncomingMessage } from 'node:http';

/** Whether the client sent it. `name`: in lower case. `req.headers` makes an object of all of them at the first look. */
export function hasHeader({ rawHeaders }: IncomingMessage, name: string): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at];
    if (sent?.length === name.length && sent.toLowerCase() === name) return true;
  }
  return false;
}
