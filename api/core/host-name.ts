import { HOST_NAME_CHARS_MAX } from './limits.ts';

/** The DNS limit for one label of a host name (RFC 1035, 2.3.4). */
const HOST_LABEL_CHARS_MAX = 63;

const DOT = 0x2e;

/**
 * Whether a host name keeps to the bounds of DNS (RFC 1035, 2.3.4): its length, the length of each label, and no empty
 * label. One dot may end it, because that names the root and leads to the same host. Ask this before any pattern sees the
 * name: a name of thousands of empty labels made a pattern search for seconds.
 */
export function isHostName(host: string): boolean {
  const name = withoutRootDot(host);
  if (name.length === 0 || name.length > HOST_NAME_CHARS_MAX) return false;
  let labelStartsAt = 0;
  for (let at = 0; at <= name.length; at++) {
    if (at < name.length && name.charCodeAt(at) !== DOT) continue;
    const chars = at - labelStartsAt;
    if (chars === 0 || chars > HOST_LABEL_CHARS_MAX) return false;
    labelStartsAt = at + 1;
  }
  return true;
}

/** The same host without the one dot that may end it, as certificates name it. */
export const withoutRootDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host);
