import { AwsV4Signer } from 'aws4fetch';
import { expect, test } from 'vitest';
import { readS3Times, type S3Request, signS3Link } from '#core/files/s3-link.ts';
import { Secret } from '#core/secret.ts';

const keys = {
  region: 'eu-central-1',
  accessKeyId: new Secret('AKIDEXAMPLE'),
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
};
const signedAtMs = Date.UTC(2026, 10, 24, 7, 5, 9, 250);
const url = 'https://s3.example.com:9000/bucket.of-ours/uploads/20261124T07/7/upl_a.png';

async function signElsewhere({ method, url: at, headers = {}, query = {}, seconds }: S3Request) {
  const link = new URL(at);
  for (const [name, value] of Object.entries(query)) link.searchParams.set(name, value);
  link.searchParams.set('X-Amz-Expires', String(seconds));
  const signer = new AwsV4Signer({
    method,
    url: link.href,
    headers: { ...headers },
    accessKeyId: keys.accessKeyId.reveal(),
    secretAccessKey: keys.secretAccessKey.reveal(),
    service: 's3',
    region: keys.region,
    datetime: '20261124T070509Z',
    signQuery: true,
    allHeaders: true,
  });
  return (await signer.sign()).url;
}

const requests: [string, S3Request][] = [
  ['to read', { method: 'GET', url, signedAtMs, seconds: 3_600 }],
  [
    'to send',
    {
      method: 'PUT',
      url,
      headers: { 'Content-Type': 'image/png', 'If-None-Match': '*', 'Content-Length': '10' },
      signedAtMs,
      seconds: 1,
    },
  ],
  [
    'with words that have to be written in code',
    {
      method: 'GET',
      url,
      query: { 'response-content-disposition': `attachment; filename="it's (1)*!.mp4"`, uploads: '' },
      signedAtMs,
      seconds: 604_800,
    },
  ],
];

test.each(requests)('a link %s is signed as any other client of S3 signs it', async (_, request) => {
  const link = new URL(signS3Link(request, keys));
  const other = await signElsewhere(request);
  expect(link.searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
  expect(Object.fromEntries(link.searchParams)).toEqual(Object.fromEntries(other.searchParams));
});

test('a link says when it was signed and for how long, in one way only', () => {
  const link = signS3Link({ method: 'GET', url, signedAtMs, seconds: 90 }, keys);
  const query = new URL(link).search.slice(1);
  expect(readS3Times(query)).toEqual({ signedAtMs: Date.UTC(2026, 10, 24, 7, 5, 9), seconds: 90 });
  for (const [from, to] of [
    ['X-Amz-Date=2026', 'X-Amz-Date=26'],
    ['T070509Z', 'T996099Z'],
    ['X-Amz-Expires=90', 'X-Amz-Expires=090'],
    ['X-Amz-Expires=90', 'X-Amz-Expires=-90'],
    ['X-Amz-Expires=90', 'X-Amz-Expires=1e3'],
    ['X-Amz-Date', 'X-Amz-Day'],
  ] as const) {
    expect(readS3Times(query.replace(from, to)), to).toBeNull();
  }
});
