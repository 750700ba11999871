import { describe, expect, it } from 'vitest';
import { isPrivateHost } from '#core/catalog/private-host.ts';
import { loadConfig } from '../../api/config/config.ts';
import type { LookupHost } from '../../api/config/settle-dialect.ts';
import { dialectNameOf } from './support.ts';

const unknown: LookupHost = async () => {
  throw new Error('ENOTFOUND');
};
const leadingTo =
  (...addresses: string[]): LookupHost =>
  async () =>
    addresses;

async function settle(baseUrl: string, { more = '', lookup = leadingTo('8.8.8.8') } = {}) {
  const yaml = `providers: [{ id: own, kind: openai, baseUrl: "${baseUrl}"${more} }]`;
  const config = await loadConfig({ FAREGATE_CONFIG: '/f.yaml' }, async () => yaml, lookup);
  const [provider] = config.providers;
  return { dialect: dialectNameOf(provider), images: provider?.images, notices: config.notices };
}

const privateUrls = [
  'http://127.0.0.1:8000/v1',
  'http://127.1:8000/v1',
  'http://2130706433:8000/v1',
  'http://0x7f000001:8000/v1',
  'http://10.0.0.8:8000/v1',
  'http://172.16.4.5:8000/v1',
  'http://192.168.1.9:8000/v1',
  'http://169.254.169.254/v1',
  'http://100.64.0.1:8000/v1',
  'http://100.127.255.254:8000/v1',
  'http://0.0.0.0:8000/v1',
  'http://[::1]:8000/v1',
  'http://[fd12:3456::1]:8000/v1',
  'http://[fe80::1]:8000/v1',
  'http://[::ffff:10.0.0.8]:8000/v1',
  'http://[::ffff:7f00:1]:8000/v1',
  'http://[64:ff9b::10.0.0.8]:8000/v1',
  'http://localhost:11434/v1',
  'http://LOCALHOST:11434/v1',
  'http://localhost.:11434/v1',
  'http://api.localhost/v1',
  'http://vllm:8000/v1',
  'http://gpu-1:8000/v1',
  'http://ollama.local/v1',
  'http://llm.internal/v1',
  'http://llm.acme.internal./v1',
  'http://vllm.models.svc/v1',
  'http://vllm.models.svc.cluster.local/v1',
  'http://host.docker.internal:1234/v1',
  'http://nas.home.arpa/v1',
  'http://gpu.lan/v1',
  'http://llm.corp/v1',
];

describe('a server of kind openai that names no dialect', () => {
  it.each(privateUrls)('is treated with care at %s, and the start says so', async (url) => {
    const { dialect, notices } = await settle(url, { lookup: leadingTo('8.8.8.8') });
    expect(dialect).toBe('self-hosted');
    expect(notices).toEqual([
      expect.stringMatching(/^Provider own is at a private address .*`dialect: other`/),
    ]);
  });

  it.each([
    ['10.1.2.3'],
    ['127.0.0.1'],
    ['100.64.3.4'],
    ['fd00::7'],
    ['fe80::7'],
    ['::1'],
    ['::ffff:192.168.0.7'],
    ['8.8.8.8', '10.1.2.3'],
  ])('is treated with care behind a public name that leads to %s', async (...addresses) => {
    const { dialect, notices } = await settle('https://llm.acme.com/v1', { lookup: leadingTo(...addresses) });
    expect(dialect).toBe('self-hosted');
    expect(notices[0]).toContain('is at a private address');
  });

  it.each([unknown, leadingTo()])(
    'is treated with care where its name cannot be resolved',
    async (lookup) => {
      const { dialect, notices } = await settle('https://llm.acme.com/v1', { lookup });
      expect(dialect).toBe('self-hosted');
      expect(notices[0]).toContain('could not be resolved');
    },
  );

  it.each(['https://llm.acme.com:8443/v1', 'http://8.8.8.8/v1', 'https://[2606:4700::1]/v1'])(
    'gets every field at the public %s, without a word',
    async (url) => {
      const lookup: LookupHost = async (host) => [
        host.includes(':') || /^\d/.test(host) ? host.replace(/[[\]]/g, '') : '1.1.1.1',
      ];
      expect(await settle(url, { lookup })).toMatchObject({ dialect: 'other', notices: [] });
    },
  );

  it.each([
    ['https://api.openai.com/v1', 'openai'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://api.mistral.ai/v1', 'mistral'],
    ['https://generativelanguage.googleapis.com/v1beta/openai', 'google'],
  ])('is known at the vendor’s own %s without a look-up', async (url, dialect) => {
    expect(await settle(url, { lookup: unknown })).toMatchObject({ dialect, notices: [] });
  });
});

describe('what the operator writes counts', () => {
  it.each(['other', 'vllm', 'openai', 'self-hosted'])(
    'dialect: %s at a private address, without a word',
    async (dialect) => {
      const written = await settle('http://10.0.0.8/v1', { more: `, dialect: ${dialect}`, lookup: unknown });
      expect(written).toMatchObject({ dialect, notices: [] });
    },
  );

  it('images: url, while fields stay known ones', async () => {
    expect(await settle('http://vllm:8000/v1', { more: ', images: url' })).toMatchObject({
      dialect: 'self-hosted',
      images: 'url',
    });
  });
});

it('a key of a vendor in the environment asks no name server', async () => {
  const config = await loadConfig({ OPENAI_API_KEY: 'sk-test-1234567890' }, undefined, unknown);
  const [provider] = config.providers;
  expect([provider?.id, dialectNameOf(provider)]).toEqual(['openai', 'openai']);
  expect(config.notices.join(' ')).not.toContain('names no dialect');
});

it.each(['8.8.8.8', '[2606:4700::1]', 'api.acme.com', 'internal.acme.com', 'local.ai'])(
  '%s is a public host',
  (host) => {
    expect(isPrivateHost(host)).toBe(false);
  },
);
