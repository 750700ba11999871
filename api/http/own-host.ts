import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isLoopbackName } from '#core/loopback.ts';

/**
 * Whether a request names us as we are meant to be reached. A web page can lead a DNS name of its own to an address of ours and
 * then read the answers ("DNS rebinding"), but it cannot do that to an address or to `localhost`. `names`: in small letters; `*.`
 * before one stands for every name below it.
 */
export function createOwnHostCheck(
  names: readonly string[],
): (req: Pick<IncomingMessage, 'headers'>) => boolean {
  const exact = new Set(names.filter((name) => !name.startsWith('*.')));
  const suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  return ({ headers }) => {
    // Only HTTP/1.0 has none, which no browser speaks.
    if (headers.host === undefined) return true;
    const name = nameIn(headers.host);
    if (isIP(name) !== 0 || isLoopbackName(name)) return true;
    return exact.has(name) || suffixes.some((suffix) => name.endsWith(suffix));
  };
}

/** Without the port, the brackets of an IPv6 address and the dot that ends an absolute name; in small letters. */
function nameIn(host: string): string {
  if (host.startsWith('[')) return host.slice(1, Math.max(1, host.indexOf(']')));
  const colon = host.lastIndexOf(':');
  const name = (colon === -1 ? host : host.slice(0, colon)).toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
