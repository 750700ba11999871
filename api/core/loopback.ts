import { isIP } from 'node:net';

/** An address that only this machine can reach, an IPv4-mapped one included. False for names. */
export function isLoopbackAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return address.startsWith('127.');
    case 6:
      return address === '::1' || /^::ffff:127\./i.test(address);
    default:
      return false;
  }
}

/** `localhost` and names below it, which browsers and resolvers never ask a name server for (RFC 6761, 6.3). */
export const isLoopbackName = (name: string): boolean => /^(.+\.)?localhost\.?$/i.test(name);

export const isLoopbackHost = (host: string): boolean => isLoopbackName(host) || isLoopbackAddress(host);
