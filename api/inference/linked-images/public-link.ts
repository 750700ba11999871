import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isHostName, withoutRootDot } from '#core/host-name.ts';
import { HOST_NAME_CHARS_MAX, NAME_LOOKUP_MS, URL_CHARS_MAX } from '#core/limits.ts';
import { isPrivateAddress } from '#core/private-address.ts';

/** How often a name server is asked before a look-up fails. */
const NAME_LOOKUPS = 2;

/** What is wrong with a link that is not, to be put behind its field's name. */
export const NO_PUBLIC_LINK = `has to be a public https link of at most ${URL_CHARS_MAX} characters`;

/**
 * As far as its words say. No credentials, no port of one's own, no address, no name without a dot or below an internal
 * domain. What one reader of links takes for a host and another for a path (backslashes, blanks, missing slashes) is no
 * link. `null`: none of these.
 */
export function checkPublicHttpsUrl(link: string): URL | null {
  if (link.length > URL_CHARS_MAX || authorityChars(link) > AUTHORITY_CHARS_MAX || !PLAIN_LINK.test(link)) {
    return null;
  }
  const url = URL.parse(link);
  if (url === null || url.protocol !== 'https:' || url.port !== '') return null;
  if (url.username !== '' || url.password !== '') return null;
  if (!isHostName(url.hostname)) return null;
  const host = withoutRootDot(url.hostname);
  if (host.startsWith('[') || isIP(host) !== 0) return null;
  return host.includes('.') && !INTERNAL_NAME.test(host) ? url : null;
}

/** The longest host name with the dot that may end it, and the port of https. */
const AUTHORITY_CHARS_MAX = HOST_NAME_CHARS_MAX + '.:443'.length;
const SCHEME = 'https://';

/** Characters between the scheme and the path, as the link is written. */
function authorityChars(link: string): number {
  let at = SCHEME.length;
  while (at < link.length && !AUTHORITY_ENDS.includes(link.charAt(at))) at++;
  return at - SCHEME.length;
}

const AUTHORITY_ENDS = '/?#';

const PLAIN_LINK = /^https:\/\/[^/\\\s\p{Cc}][^\\\s\p{Cc}]*$/iu;
const INTERNAL_NAME =
  /(^|\.)(localhost|localdomain|local|internal|intranet|corp|home|lan|home\.arpa|svc|cluster\.local)$/;

/** The addresses of a host; none: nobody has said any in time. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** Asks the name servers themselves: through the system, slow ones of a stranger would hold up all work with files. */
export const systemResolve: ResolveHost = async (host) => {
  const resolver = new Resolver({ timeout: NAME_LOOKUP_MS, tries: NAME_LOOKUPS });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
};

/** Of one address that is not public no other may be used: the next answer may have it first. */
export async function resolvePublic(host: string, resolve: ResolveHost): Promise<ResolvedHost> {
  const addresses = await resolve(host);
  if (addresses.length === 0) return { ok: false, words: 'names a host that cannot be found' };
  if (addresses.some(isPrivateAddress)) return { ok: false, words: 'leads to an address that is not public' };
  return { ok: true, addresses };
}

export type ResolvedHost = { ok: true; addresses: readonly string[] } | { ok: false; words: string };

/**
 * For links that are handed on, for a provider to follow. What is wrong with one, to be put behind its field's name;
 * `null`: nothing that can be seen from here.
 */
export async function refusePrivateLink(link: string, resolve: ResolveHost): Promise<string | null> {
  const url = checkPublicHttpsUrl(link);
  if (url === null) return NO_PUBLIC_LINK;
  const resolved = await resolvePublic(url.hostname, resolve);
  return resolved.ok ? null : resolved.words;
}
