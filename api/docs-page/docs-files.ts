import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LazyFile, packageFolder, pageHeaders } from '../http/mount-static-files.ts';
import { guides } from './guides.ts';

/** Where the documentation lives. Its page names its parts by paths beside itself, so that a proxy may put it below another. */
export const DOCS_PATH = '/docs';

const GUIDES = join(import.meta.dirname, '../../docs/guides');
const PAGE = join(import.meta.dirname, 'page');

/** No script, style, image or answer but our own; the reference of the API draws its icons by `data:`. */
export const docsHeaders = pageHeaders("img-src 'self' data:", "connect-src 'self'");

/** The documentation as it is served. Nothing of it is read, and no Markdown rendered, before the first reader comes. */
export function docsFiles(publicUrl: string): LazyFile[] {
  const reference = packageFolder('swagger-ui-dist');
  const { version } = JSON.parse(readFileSync(join(reference, 'package.json'), 'utf8'));
  const assets = `${DOCS_PATH}/swagger-ui-${version}`;
  return [
    { path: DOCS_PATH, contentType: HTML, read: () => renderPage(publicUrl, assets) },
    { path: `${DOCS_PATH}/docs.js`, contentType: SCRIPT, read: () => readFile(join(PAGE, 'docs.js')) },
    { path: `${DOCS_PATH}/docs.css`, contentType: STYLE, read: () => readFile(join(PAGE, 'docs.css')) },
    {
      path: `${assets}/swagger-ui-bundle.js`,
      contentType: SCRIPT,
      immutable: true,
      read: () => readFile(join(reference, 'swagger-ui-bundle.js')),
    },
    {
      path: `${assets}/swagger-ui.css`,
      contentType: STYLE,
      immutable: true,
      read: () => readFile(join(reference, 'swagger-ui.css')),
    },
  ];
}

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The renderer is loaded with the first reader, too: a gateway that nobody reads at pays nothing for it. */
async function renderPage(publicUrl: string, assets: string): Promise<Buffer> {
  const { renderDocs } = await import('./render-docs.ts');
  const texts = await Promise.all(
    guides.map(async (name) => ({ name, markdown: await readFile(join(GUIDES, `${name}.md`), 'utf8') })),
  );
  const html = renderDocs({ guides: texts, publicUrl, assets: assets.slice(1) });
  return Buffer.from(html);
}
