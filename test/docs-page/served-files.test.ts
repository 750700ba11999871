import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { guides } from '../../api/docs-page/guides.ts';
import { renderDocs } from '../../api/docs-page/render-docs.ts';
import { renderGuide } from '../../api/docs-page/render-guide.ts';
import { fillGuide } from '../../openapi/generate/fill-guide.ts';
import { readText, trackedFiles } from '../docs/repository-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('the gateway serves', () => {
  let gateway: TestGateway;
  let origin: string;
  beforeAll(async () => {
    gateway = await startTestGateway();
    origin = new URL(gateway.baseUrl).origin;
  });
  afterAll(() => gateway.stop());

  const get = (path: string) => fetch(origin + path, { redirect: 'manual' });

  it('the documentation, under a policy that lets nothing in but its own', async () => {
    const res = await get('/docs');
    const html = await res.text();
    expect([res.status, res.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = res.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
  });

  it('whatever the page asks for, by addresses beside it, so that a proxy may put it below a path of its own', async () => {
    const html = await (await get('/docs')).text();
    const asked = [...html.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)].map(
      ([, link = '']) => link,
    );
    const [, assets = ''] = /data-assets="([^"]+)"/.exec(html) ?? [];
    const all = [...asked, `${assets}/swagger-ui-bundle.js`, `${assets}/swagger-ui.css`, 'openapi.json'];
    expect(all.length).toBeGreaterThan(6);
    for (const link of all) {
      expect(link).toMatch(/^[a-z]/);
      const res = await get(`/${link}`);
      expect([link, res.status]).toEqual([link, 200]);
      const cache = link.startsWith(assets)
        ? 'public, max-age=31536000, immutable'
        : expect.not.stringContaining('immutable');
      expect(res.headers.get('cache-control')).toEqual(cache);
    }
  });

  it('who adds a slash, by sending them to the page beside it', async () => {
    const res = await get('/docs/');
    expect([res.status, res.headers.get('location')]).toEqual([308, '../docs']);
  });

  it.each([
    '/docs/guides/money.md',
    '/docs/index.html',
    '/docs/swagger-ui-bundle.js',
    '/Docs',
    '/docs//docs.css',
  ])('nothing at %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it.each(['/docs', '/docs/', '/docs/none', '/docs/%ff', '/docs/docs.css', '/console/', '/console/none'])(
    'nothing at %s without the policy, nor as another type than its own',
    async (path) => {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    },
  );
});

describe('the page', () => {
  const texts = guides.map((name) => ({ name, markdown: readText(`docs/guides/${name}.md`) }));
  const page = (publicUrl: string) => renderDocs({ guides: texts, publicUrl, assets: 'docs/x' });

  test('has every guide that there is', () => {
    const files = trackedFiles().filter((path) => path.startsWith('docs/guides/'));
    expect(files.toSorted()).toEqual(guides.map((name) => `docs/guides/${name}.md`).toSorted());
  });

  test('names the address that callers use, in every example', () => {
    const html = page('https://ai.example.com/gateway/v1');
    expect(html).toContain('curl -s https://ai.example.com/gateway/v1/chat/completions');
    expect(html).toContain('https://ai.example.com/gateway/mcp');
    expect(html).not.toContain('127.0.0.1');
  });

  test('has nothing of a text as markup that Markdown does not say', () => {
    const { html } = renderGuide('x', '# <b>A</b>\n\n<img src=x onerror=y> `<i>` [l](javascript:alert)\n');
    expect(html).not.toMatch(/<(b|i|img)\b/);
    expect(renderGuide('x', '```sh\na < b && "c"\n```').html).toContain('a &lt; b &amp;&amp; &quot;c&quot;');
  });
});

test('a guide that asks for a table that nobody makes is an error', () => {
  const asking = (name: string) =>
    `<!-- table: ${name}, written by \`make openapi\` -->\nold\n<!-- end of table -->`;
  expect(() => fillGuide(asking('no such thing'))).toThrow('no such thing');
  expect(fillGuide(asking('call errors'))).toContain('| `insufficient_balance` | 402 |');
  expect(fillGuide(asking('call errors'))).not.toContain('\nold\n');
});
