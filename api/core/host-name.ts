import { HOST_NAME_CHARS_MAX } from './limits.ts';

/** The DNS limit for one label of a host name (RFC 1035, 2.3.4). */
const HOST_LABEL_CHARS_MAX = 63;

/**
 * Whether a host name keeps to the bounds of DNS (RFC 1035, 2.3.4): its length, the length of each label, and no empty
 * label. One dot may end it, because that names the root and leads to the same host. Ask this before any pattern sees the
 * name: a name of thousands of empty labels made a pattern search for seconds.
 */
export function isHostName(host: string): boolean {
  const name = withoutRootDot(host);
  if (name.length === 0 || name.length > HOST_NAME_CHARS_MAX) return false;
  return name.split('.').every((label) => label.length > 0 && label.length <= HOST_LABEL_CHARS_MAX);
}

/** The same host without the one dot that may end it, as certificates name it. */
export const withoutRootDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host);
