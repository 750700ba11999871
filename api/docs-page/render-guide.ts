import { Marked, type RendererObject, type Tokens } from 'marked';

/** A part of a guide that can be linked to. */
export interface Section {
  id: string;
  title: string;
}

export interface RenderedGuide {
  title: string;
  html: string;
  sections: Section[];
}

/**
 * A guide as a part of the page: its headings one level lower, with places of their own, links to other guides as links
 * within the page. Its text is ours, and still nothing of it becomes markup but what Markdown says.
 */
export function renderGuide(name: string, markdown: string): RenderedGuide {
  const sections: Section[] = [];
  let title = name;
  const renderer: RendererObject = {
    heading({ tokens, depth, text }: Tokens.Heading) {
      const inner = this.parser.parseInline(tokens);
      if (depth === 1) {
        title = text;
        return `<h2 id="${name}" tabindex="-1">${inner}</h2>\n`;
      }
      const id = `${name}-${slugOf(text)}`;
      const plain = text.replaceAll('`', '');
      if (depth === 2) sections.push({ id, title: plain });
      const link = `<a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(plain)}">#</a>`;
      return `<h${depth + 1} id="${id}" tabindex="-1">${inner} ${link}</h${depth + 1}>\n`;
    },
    code({ text, lang = '' }: Tokens.Code) {
      const [language = ''] = lang.split(' ');
      const isShown = language === 'text';
      return (
        `<div class="sample${isShown ? '' : ' to-copy'}">` +
        `<p class="sample-kind">${isShown ? 'what comes back' : escapeHtml(language)}</p>` +
        `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre></div>\n`
      );
    },
    table(token: Tokens.Table) {
      const row = (cells: Tokens.TableCell[], tag: 'th' | 'td') =>
        `<tr>${cells.map((cell) => wrap(this.parser.parseInline(cell.tokens), tag)).join('')}</tr>`;
      // A head without words is none.
      const wrap = (inner: string, tag: string) => (inner === '' ? '<td></td>' : `<${tag}>${inner}</${tag}>`);
      const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
      return (
        '<div class="wide" tabindex="0"><table>' +
        `<thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
      );
    },
    link({ href, tokens }: Tokens.Link) {
      return `<a href="${escapeHtml(placeOf(href))}">${this.parser.parseInline(tokens)}</a>`;
    },
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return text.startsWith('<!--') ? '' : escapeHtml(text);
    },
  };
  const html = new Marked({ renderer, async: false }).parse(markdown, { async: false });
  return { title, html, sections };
}

/** As GitHub makes them, so that a link works there as well. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** `errors.md#retries` is `#errors-retries` in the page, and the document of the API its reference. */
function placeOf(href: string): string {
  const [file = '', fragment] = href.split('#');
  if (file.endsWith('/openapi/v1.json')) return '#reference';
  const guide = /^([\w-]+)\.md$/.exec(file)?.[1];
  if (guide === undefined) return href;
  return fragment === undefined ? `#${guide}` : `#${guide}-${fragment}`;
}

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
