import { describe, expect, test } from 'vitest';
import { URL_CHARS_MAX } from '#core/limits.ts';
import { isPrivateAddress } from '#core/private-address.ts';
import { checkPublicHttpsUrl, refusePrivateLink } from '../../api/inference/linked-images/public-link.ts';

describe('an address that no stranger may lead us to', () => {
  test.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.7',
    '203.0.113.7',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:a00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:20::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456:789a::1',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    'fec0::1',
    'ff02::1',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '017700000001',
    'localhost',
    '',
  ])('%s', (address) => {
    expect(isPrivateAddress(address)).toBe(true);
  });

  test.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '2001:4860:4860::8888',
    '64:ff9b::8.8.8.8',
  ])('but %s is public', (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  });
});

const inside = [
  'http://images.example.com/a.png',
  'ftp://images.example.com/a.png',
  'file:///etc/passwd',
  'data:image/png;base64,AAAA',
  'https://127.0.0.1/a.png',
  'https://127.1/a.png',
  'https://2130706433/a.png',
  'https://0x7f000001/a.png',
  'https://0x7f.0.0.1/a.png',
  'https://017700000001/a.png',
  'https://0177.0.0.1/a.png',
  'https://0.0.0.0/a.png',
  'https://8.8.8.8/a.png',
  'https://[::1]/a.png',
  'https://[::ffff:127.0.0.1]/a.png',
  'https://[2606:4700::1111]/a.png',
  'https://169.254.169.254/latest/meta-data',
  'https://localhost/a.png',
  'https://LOCALHOST./a.png',
  'https://printer.local/a.png',
  'https://metadata.google.internal/x',
  'https://faregate.default.svc/a.png',
  'https://kubernetes.default.svc.cluster.local/a.png',
  'https://intranet/a.png',
  'https://me:pass@images.example.com/a.png',
  'https://images.example.com@127.0.0.1/a.png',
  'https://images.example.com:8443/a.png',
  'https://１２７.0.0.1/a.png',
  'https://127。0。0。1/a.png',
  'https:\\\\images.example.com/a.png',
  'https:/images.example.com/a.png',
  'https://images.example.com\\@127.0.0.1/a.png',
  ' https://images.example.com/a.png',
  'https://images.example.com/a.png\n',
  'https://images.example.com/a\tb.png',
  `https://images.example.com/${'a'.repeat(URL_CHARS_MAX)}`,
  'https://images.example.com../a.png',
  'https://images..example.com/a.png',
  'https://.example.com/a.png',
  `https://a${'.'.repeat(1_900)}b/a.png`,
  `https://${'a.'.repeat(130)}example.com/a.png`,
  `https://${'a'.repeat(64)}.example.com/a.png`,
  `https://${'ü'.repeat(62)}.example.com/a.png`,
  `https://${'%61'.repeat(90)}.example.com/a.png`,
  `https://${'@'.repeat(300)}images.example.com/a.png`,
  '',
];

describe('a link that says by itself that it leads inside, or nowhere', () => {
  test.each(inside)('%j', async (link) => {
    expect(checkPublicHttpsUrl(link)).toBeNull();
    expect(await refusePrivateLink(link, async () => ['8.8.8.8'])).toContain('public https link');
  });

  test.each([
    'https://images.example.com/a.png',
    'https://images.example.com:443/a.png?b=c#d',
    'HTTPS://IMAGES.EXAMPLE.COM./a.png',
    'https://bücher.example/a.png',
    `https://${'a'.repeat(63)}.example.com/a.png`,
    `https://${'a.'.repeat(120)}example.com./a.png`,
    `https://images.example.com?${'.'.repeat(1_000)}`,
  ])('but %s does not', (link) => {
    expect(checkPublicHttpsUrl(link)).not.toBeNull();
  });
});

describe('a link to a name', () => {
  const refusal = (addresses: string[]) =>
    refusePrivateLink('https://images.example.com/a.png', async (host) => {
      expect(host).toBe('images.example.com');
      return addresses;
    });

  test('that only public addresses have is good', async () => {
    expect(await refusal(['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])).toBeNull();
  });

  test.each([['127.0.0.1'], ['10.0.0.7'], ['169.254.169.254'], ['::1'], ['::ffff:10.0.0.1'], ['fd00::1']])(
    'that leads to %s is refused, also beside a public address',
    async (address) => {
      expect(await refusal([address])).toBe('leads to an address that is not public');
      expect(await refusal(['93.184.215.14', address])).toBe('leads to an address that is not public');
    },
  );

  test('that nobody knows is refused', async () => {
    expect(await refusal([])).toBe('names a host that cannot be found');
  });
});
