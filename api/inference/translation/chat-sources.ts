import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { isRecord } from '#core/is-record.ts';
import { URL_CHARS_MAX } from '#core/limits.ts';
import { recordOf, records, textOf } from '../formats/values.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * The pages that a server names beside the answer, and not in its annotations. Servers that search write the whole list into each
 * chunk, into the first or into the last one, and some write it twice: once as addresses, once as results with titles.
 */
export class ChatSources {
  /** The title of each page by its address. */
  readonly #pages = new Map<string, string>();
  /** How many of them were returned, in the order in which they came. */
  #returnedCount = 0;

  /** Notes the pages that a chunk, a whole answer or a message names. */
  note(said: Members): void {
    const { citations, search_results, search_info, web_search, context, executed_tools } = said;
    const { provider_specific_fields: fields } = said;
    // Perplexity has both (docs.perplexity.ai), xAI and Exa have the first alone.
    if (citations !== undefined) this.#addAll(citations);
    if (search_results !== undefined) this.#addAll(search_results);
    // Alibaba and Tencent.
    if (search_info !== undefined) this.#addAll(recordOf(search_info).search_results);
    // Z.ai (docs.bigmodel.cn, web search in chat).
    if (web_search !== undefined) this.#addAll(web_search);
    // Azure, of the operator's own data (learn.microsoft.com, On Your Data).
    if (context !== undefined) this.#addAll(recordOf(context).citations);
    // Groq, of the tools that its systems run by themselves (console.groq.com/docs/compound).
    for (const tool of records(executed_tools)) this.#addAll(recordOf(tool.search_results).results);
    // LiteLLM, of Claude: a list for each text, or one page in a chunk.
    if (fields !== undefined) {
      const { citations: ofTexts, citation } = recordOf(fields);
      this.#addAll([ofTexts, citation].flat(DEEPEST_LIST));
    }
  }

  /** The pages that were not returned before. */
  newPages(): AnswerPiece[] {
    const pages = [...this.#pages].slice(this.#returnedCount);
    this.#returnedCount = this.#pages.size;
    return pages.map(([url, title]) => ({ type: 'citation', url, title }));
  }

  #addAll(list: unknown): void {
    if (!Array.isArray(list)) return;
    for (const each of list) {
      if (typeof each === 'string') this.#add(each, '');
      else if (isRecord(each)) this.#add(textOf(each.url) || textOf(each.link), textOf(each.title));
    }
  }

  /** Documents of the operator's own have names in the place of addresses. */
  #add(url: string, title: string): void {
    if (!ADDRESS.test(url) || url.length > URL_CHARS_MAX) return;
    if (this.#pages.size >= PAGES_MAX && !this.#pages.has(url)) return;
    this.#pages.set(url, this.#pages.get(url) || title.slice(0, URL_CHARS_MAX));
  }
}

const ADDRESS = /^https?:\/\//i;
const PAGES_MAX = 1_000;
const DEEPEST_LIST = 2;
