import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

/** The other end of a connection, as far as the network tells. */
export interface Peer {
  /** An IPv4 address, or the /64 network of an IPv6 one, because whoever has one address of it has them all. */
  subject: string;
  /** `null`: the connection has ended already. */
  address: string | null;
  isTrusted: boolean;
}

/** @param trustedProxies Addresses and networks of the operator's own. */
export function createPeerReader(trustedProxies: readonly string[]) {
  const networks = trustedProxies.map(parseNetwork);
  const isTrusted = (address: Address): boolean => {
    const mapped = toIPv6(address);
    return networks.some(([network, bits]) => mapped.match(network, bits));
  };
  return {
    isTrusted,
    /** `remoteAddress` of a socket. */
    readPeer(remoteAddress = ''): Peer {
      const address = parseAddress(withoutZone(remoteAddress));
      if (address === null) return { subject: NOBODY, address: null, isTrusted: false };
      return { subject: subjectOf(address), address: address.toString(), isTrusted: isTrusted(address) };
    },
  };
}

/** Whose request it is: the peer, or where that is a trusted proxy the address that its `X-Forwarded-For` tells. */
export function createClientAddress(
  trustedProxies: readonly string[],
): (req: Pick<IncomingMessage, 'socket' | 'headers'>) => string {
  const { readPeer, isTrusted } = createPeerReader(trustedProxies);
  const peers = new WeakMap<object, Peer>();

  /** Of a connection it is always the same. */
  function peerOf(socket: IncomingMessage['socket']): Peer {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const peer = readPeer(socket.remoteAddress);
    peers.set(socket, peer);
    return peer;
  }

  /** From the right, where our own proxies wrote, to the first address that is none of theirs. */
  function beforeProxies(forwarded: string): string | null {
    let last: Address | null = null;
    for (const entry of entriesFromRight(forwarded)) {
      const address = parseAddress(withoutPort(entry));
      if (address === null) break;
      last = address;
      if (!isTrusted(address)) break;
    }
    return last === null ? null : subjectOf(last);
  }

  return (req) => {
    const peer = peerOf(req.socket);
    const forwarded = peer.isTrusted ? req.headers['x-forwarded-for'] : undefined;
    return forwarded === undefined ? peer.subject : (beforeProxies(String(forwarded)) ?? peer.subject);
  };
}

/** The system appends the interface to a link-local address, as in `fe80::1%eth0`. */
function withoutZone(address: string): string {
  const zoneAt = address.indexOf('%');
  return zoneAt < 0 ? address : address.slice(0, zoneAt);
}

/** A connection that has ended already. */
const NOBODY = 'unknown';

type Address = IPv4 | IPv6;

/**
 * An IPv4 address that is mapped into IPv6 counts as that IPv4 address. `null`: the text is not an address, or it has a zone, which
 * no header may have. Node judges first, because the library also reads the old forms of IPv4, such as `0x7f000001`.
 */
const parseAddress = (text: string): Address | null =>
  isIP(text) === 0 || text.includes('%') ? null : ipaddr.process(withFirstGroup(text));

/** A network without a slash is a single address. IPv4 networks become IPv6 ones, see `toIPv6`. */
function parseNetwork(text: string): [IPv6, number] {
  const [address = '', bits] = text.split('/');
  const network = ipaddr.parse(withFirstGroup(address));
  return 'parts' in network
    ? [network, Number(bits ?? 128)]
    : [toIPv6(network), IPV4_MAPPED_BITS + Number(bits ?? 32)];
}

/** IPv4 is compared in its mapped form, because an operator may also write `::ffff:10.0.0.0/104` or `::/0`. */
const toIPv6 = (address: Address): IPv6 => ('parts' in address ? address : address.toIPv4MappedAddress());

/** The prefix `::ffff:0:0/96` of all IPv4 addresses that are mapped into IPv6. */
const IPV4_MAPPED_BITS = 96;

/** The library would take the deprecated form `::10.0.0.1` for a mapped address, but it is an IPv6 address of its own. */
const withFirstGroup = (text: string): string => text.replace(/^::(?=\d+\.)/, '0::');

const subjectOf = (address: Address): string =>
  'parts' in address
    ? `${address.parts
        .slice(0, NETWORK_GROUPS)
        .map((group) => group.toString(16))
        .join(':')}::/64`
    : address.toString();

/** The groups of an IPv6 address that name its /64 network. */
const NETWORK_GROUPS = 4;

/** Yields one entry at a time, because a stranger may have written thousands before the first entry of our proxies. */
function* entriesFromRight(header: string): Generator<string> {
  let end = header.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    yield header.slice(comma + 1, end).trim();
    end = comma;
  }
}

/** Some balancers write the port as well. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
