import { escapeHtml, type RenderedGuide, renderGuide } from './render-guide.ts';

export interface DocsText {
  guides: readonly { name: string; markdown: string }[];
  /** Ends in `/v1`: the address that readers will use stands in their examples. */
  publicUrl: string;
  /** Where the files of the API reference are, beside the page. */
  assets: string;
}

/** Where the guides say a gateway is: the one of `make run`. */
const EXAMPLE = 'http://127.0.0.1:8080';

/** The whole page. It works without its script, but for the API reference and the buttons that copy. */
export function renderDocs({ guides, publicUrl, assets }: DocsText): string {
  const origin = publicUrl.replace(/\/v1\/?$/, '');
  const rendered = guides.map(({ name, markdown }) => ({
    name,
    ...renderGuide(name, markdown.replaceAll(EXAMPLE, origin)),
  }));
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
    <meta name="color-scheme" content="light dark" />
    <title>Faregate documentation</title>
    <link rel="icon" href="console/icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="console/style/tokens.css" />
    <link rel="stylesheet" href="console/style/common.css" />
    <link rel="stylesheet" href="docs/docs.css" />
    <script type="module" src="docs/docs.js"></script>
  </head>
  <body>
    <a class="skip" href="#quickstart">Skip to the guides</a>
    <header class="top">
      <h1><a class="home" href="#top" id="top">Faregate</a></h1>
      <a class="top-link" href="#contents">Contents</a>
      <a class="top-link" href="console">Console</a>
    </header>
    <nav id="contents" aria-label="Contents" tabindex="-1">
      <ul>
${rendered.map(navEntry).join('\n')}
        <li><a href="#reference">API reference</a></li>
      </ul>
    </nav>
    <main>
${rendered.map(({ name, html }) => `<section class="guide" aria-labelledby="${name}">\n${html}</section>`).join('\n')}
      <section aria-labelledby="reference">
        <div class="guide">
          <h2 id="reference" tabindex="-1">API reference</h2>
          <p>Every operation of <a href="openapi.json">openapi.json</a>, from which clients are generated.</p>
        </div>
        <div id="api" data-assets="${escapeHtml(assets)}">
          <noscript>The reference needs JavaScript; the document itself does not.</noscript>
        </div>
      </section>
    </main>
  </body>
</html>
`;
}

const navEntry = ({ name, title, sections }: RenderedGuide & { name: string }): string => {
  const parts = sections.map(({ id, title: part }) => `<li><a href="#${id}">${escapeHtml(part)}</a></li>`);
  const below = parts.length === 0 ? '' : `<ul>${parts.join('')}</ul>`;
  return `        <li><a href="#${name}">${escapeHtml(title)}</a>${below}</li>`;
};
