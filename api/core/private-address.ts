import { BlockList, isIP } from 'node:net';

/** Whether an address is not one of the public internet, or none at all: RFC 6890 and what came after it. */
export function isPrivateAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return notPublic.check(address, 'ipv4');
    case 6:
      return address.includes('%') || !given.check(address, 'ipv6') || notPublic.check(address, 'ipv6');
    default:
      return true;
  }
}

/** Behind it, hosts that have no address of the fourth version reach one by that address. */
const TRANSLATED = '64:ff9b::';
const TRANSLATED_PREFIX = 96;

/** What else there is of the sixth version is local, mapped, of a group or nobody's. */
const given = new BlockList();
given.addSubnet('2000::', 3, 'ipv6');
given.addSubnet(TRANSLATED, TRANSLATED_PREFIX, 'ipv6');

const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Groups, and all that is left.
  ['224.0.0.0', 3],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
  notPublic.addSubnet(`${TRANSLATED}${network}`, TRANSLATED_PREFIX + prefix, 'ipv6');
}
for (const [network, prefix] of [
  // Teredo and others that hold an address of the fourth version, or none.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}
