import { isIPv6 } from 'node:net';

/**
 * The origin of a server that listens on this host and port. A URL needs brackets around an IPv6 address, and cannot say the
 * interface that the address of a link has behind its percent sign.
 */
export function httpOrigin(host: string, port: number): string {
  const [address = ''] = host.split('%');
  return `http://${isIPv6(host) ? `[${address}]` : host}:${port}`;
}
