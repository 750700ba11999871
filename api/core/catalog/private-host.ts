import { isIP } from 'node:net';
import { withoutRootDot } from '../host-name.ts';
import { isPrivateAddress } from '../private-address.ts';

/** Endings of names that lead into somebody's own network, or nowhere (RFC 2606, 6761, 6762, 8375, ICANN 2024 and habit). */
const PRIVATE_ENDINGS: ReadonlySet<string> = new Set(
  `cluster consul corp docker domain example home home.arpa host internal intra intranet invalid kube lan local
  localdomain localhost priv private svc test`.split(/\s+/),
);

/**
 * Whether a host is private as far as its name or address says: an address that is not public, a name without a dot, or one
 * with an ending of private networks. Without it only a name server can tell.
 *
 * @param hostname As `URL` writes it: lower case, IPv6 in brackets.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = withoutRootDot(hostname.replace(/^\[|\]$/g, ''));
  if (isIP(host) !== 0) return isPrivateAddress(host);
  const labels = host.split('.');
  if (labels.length < 2) return true;
  return PRIVATE_ENDINGS.has(labels.at(-1) ?? '') || PRIVATE_ENDINGS.has(labels.slice(-2).join('.'));
}
