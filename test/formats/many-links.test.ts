import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { defaultLimits } from '#core/limits.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { model, noLinkRules, testCatalog } from '../inference/support.ts';
import { plainHealth } from '../support/plain-health.ts';
import { FORMATS } from './requests.ts';

const image: Readonly<Record<FormatName, (url: string) => object>> = {
  chat: (url) => ({ type: 'image_url', image_url: { url } }),
  responses: (url) => ({ type: 'input_image', image_url: url }),
  messages: (url) => ({ type: 'image', source: { type: 'url', url } }),
};
const file: Readonly<Record<FormatName, (url: string) => object>> = {
  chat: (url) => ({ type: 'file', file: { file_data: url } }),
  responses: (url) => ({ type: 'input_file', file_url: url }),
  messages: (url) => ({ type: 'document', source: { type: 'url', url } }),
};
const listOf = (format: FormatName): string => (format === 'responses' ? 'input' : 'messages');

function admitParts(format: FormatName, parts: readonly object[], linksMax = defaultLimits.linksPerCall) {
  const body = { model: 'acme/small', [listOf(format)]: [{ role: 'user', content: parts }] };
  const inputModalities = ['text', 'image', 'file'];
  return admitCall(callFormats[format], Buffer.from(JSON.stringify(body)), 'active', {
    catalog: testCatalog({ models: [model({ inputModalities })] }),
    health: plainHealth(),
    links: { ...noLinkRules, linksMax },
  });
}

const many = (count: number, part: (url: string) => object): object[] =>
  Array.from({ length: count }, (_, at) => part(`https://example.com/${at}.png`));

describe.each(FORMATS)('%s: the links of a call', (format) => {
  const last = `${listOf(format)}[0].content[200]`;

  it('may be as many as the limit says', () => {
    expect(admitParts(format, many(200, image[format])).ok).toBe(true);
  });

  it.each([
    ['images', image[format]],
    ['files', file[format]],
  ])('that lead to more %s are refused, with the limit in the message', (_what, part) => {
    const admitted = admitParts(format, many(201, part));
    if (admitted.ok) throw new Error('admitted');
    expect(admitted.error.code).toBe('invalid_request');
    expect(admitted.error.param).toContain(last);
    expect(admitted.error.message).toContain('at most 200 links');
  });

  it('are counted together, whatever they lead to, and each time that a link is repeated', () => {
    const mixed = [...many(100, image[format]), ...many(101, file[format])];
    expect(admitParts(format, mixed).ok).toBe(false);
    const repeated = Array.from({ length: 201 }, () => image[format]('https://example.com/a.png'));
    expect(admitParts(format, repeated).ok).toBe(false);
  });

  it('are bounded by what the operator set', () => {
    expect(admitParts(format, many(3, image[format]), 3).ok).toBe(true);
    expect(admitParts(format, many(4, image[format]), 3).ok).toBe(false);
  });

  it('are refused by the first host name of thousands of empty labels', () => {
    const hosts = Array.from({ length: 900 }, (_, at) =>
      image[format](`https://a${'.'.repeat(2_000)}b/${at}`),
    );
    const admitted = admitParts(format, hosts);
    if (admitted.ok) throw new Error('admitted');
    expect(admitted.error.message).toContain('public https link');
    expect(admitted.error.param).toContain('content[0]');
  });
});
