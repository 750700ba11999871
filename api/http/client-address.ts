import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The other end of a connection, as far as the network tells. */
export interface Peer {
  /** An IPv4 address, or the /64 network of an IPv6 one, because whoever has one address of it has them all. */
  subject: string;
  /** `null`: the connection has ended already. */
  address: string | null;
  isTrusted: boolean;
}

export interface PeerReader {
  /** `remoteAddress` of a socket. */
  readPeer(remoteAddress: string | undefined): Peer;
  isTrusted(address: Address): boolean;
}

/** `trustedProxies`: addresses and networks of the operator's own. */
export function createPeerReader(trustedProxies: readonly string[]): PeerReader {
  const trusted = new BlockList();
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = ({ text, version }: Address): boolean =>
    trusted.check(text, version === 4 ? 'ipv4' : 'ipv6');
  return {
    isTrusted,
    readPeer(remoteAddress = '') {
      const address = parseAddress(withoutZone(remoteAddress));
      if (address === null) return { subject: NOBODY, address: null, isTrusted: false };
      return { subject: subjectOf(address), address: address.text, isTrusted: isTrusted(address) };
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

/** The system adds the interface to a link-local address, as in `fe80::1%eth0`. */
function withoutZone(address: string): string {
  const zoneAt = address.indexOf('%');
  return zoneAt < 0 ? address : address.slice(0, zoneAt);
}

/** A connection that has ended already. */
const NOBODY = 'unknown';

interface Address {
  text: string;
  version: 4 | 6;
}

/** An IPv4 address in IPv6's clothes is that IPv4 address. `null`: none, or one with a zone, which no header has. */
function parseAddress(text: string): Address | null {
  const version = isIP(text);
  if (version === 0 || text.includes('%')) return null;
  if (version === 4) return { text, version };
  const groups = groupsOf(text);
  const [high = 0, low = 0] = groups.slice(6);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!isMapped) return { text, version: 6 };
  return { text: [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.'), version: 4 };
}

const subjectOf = ({ text, version }: Address): string =>
  version === 4
    ? text
    : `${groupsOf(text)
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(':')}::/64`;

/** Of a valid IPv6 address, its eight groups. */
function groupsOf(text: string): number[] {
  const [head = '', tail] = text.split('::');
  const front = partsOf(head);
  if (tail === undefined) return front;
  const back = partsOf(tail);
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}

function partsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((part) => {
    if (!part.includes('.')) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}

/** One by one: a stranger may have written thousands before the first of ours. */
function* entriesFromRight(header: string): Generator<string> {
  let end = header.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    yield header.slice(comma + 1, end).trim();
    end = comma;
  }
}

/** Some balancers write the port, too. */
const withoutPort = (entry: string): string =>
  /^\[([^\]]*)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
