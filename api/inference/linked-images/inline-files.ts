import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';

/** An image or a document whose bytes stand in a request. */
export interface InlineFile {
  base64: string;
  /** Its path in the body. */
  param: string;
  /** It stands where documents do; its bytes may be those of an image all the same. */
  isDocument: boolean;
  /** Puts the part of an image behind this link in its place. */
  writeLink(link: string): void;
}

type Part = Record<string, unknown>;

/**
 * In the order of the body. Those of earlier searches are the provider's own and stay. A path is written for what may hold a file alone,
 * because a body may have hundreds of thousands of items and parts.
 */
export function inlineFilesIn(format: FormatName, body: Record<string, unknown>): InlineFile[] {
  const list = format === 'responses' ? 'input' : 'messages';
  const items = body[list];
  const found: InlineFile[] = [];
  if (!Array.isArray(items)) return found;
  for (const [index, item] of items.entries()) {
    if (!isRecord(item)) continue;
    const { content, output } = item;
    if (Array.isArray(content)) found.push(...filesIn(content, `${list}[${index}].content`));
    if (output === undefined) continue;
    // A call in responses has here the result of its tool.
    const at = `${list}[${index}].output`;
    if (Array.isArray(output)) found.push(...filesIn(output, at));
    else if (mayHoldFile(output)) found.push(...filesOf(output, at));
  }
  return found;
}

function filesIn(list: unknown, param: string): InlineFile[] {
  const found: InlineFile[] = [];
  if (!Array.isArray(list)) return found;
  for (const [index, part] of list.entries())
    if (mayHoldFile(part)) found.push(...filesOf(part, `${param}[${index}]`));
  return found;
}

const mayHoldFile = (part: unknown): part is Part => isRecord(part) && readers.has(part.type);

const filesOf = (part: Part, param: string): InlineFile[] => readers.get(part.type)?.(part, param) ?? [];

function ofImage(part: Part, param: string): InlineFile[] {
  return isRecord(part.image_url)
    ? dataLink(part.image_url, 'url', `${param}.image_url.url`)
    : dataLink(part, 'image_url', `${param}.image_url`);
}

const ofInputFile = (part: Part, param: string): InlineFile[] =>
  dataOf(part.file_data, `${param}.file_data`, (url) =>
    become(part, { type: 'input_image', image_url: url }),
  );

const ofFile = (part: Part, param: string): InlineFile[] =>
  isRecord(part.file)
    ? dataOf(part.file.file_data, `${param}.file.file_data`, (url) =>
        become(part, { type: 'image_url', image_url: { url } }),
      )
    : [];

const ofResult = (part: Part, param: string): InlineFile[] => filesIn(part.content, `${param}.content`);

/** By the type of a part that may hold a file. */
const readers: ReadonlyMap<unknown, (part: Part, param: string) => InlineFile[]> = new Map([
  ['image_url', ofImage],
  ['input_image', ofImage],
  ['computer_screenshot', ofImage],
  ['input_file', ofInputFile],
  ['file', ofFile],
  ['image', ofSource],
  ['document', ofSource],
  ['tool_result', ofResult],
  ['search_result', ofResult],
]);

/** Keeps the object itself, because its list refers to it, and a mark for a cache, which any part may have. */
function become(part: Part, other: Part): void {
  const { cache_control: mark } = part;
  for (const name of Object.keys(part)) delete part[name];
  Object.assign(part, other, mark === undefined ? {} : { cache_control: mark });
}

function dataLink(holder: Part, member: string, param: string): InlineFile[] {
  const base64 = base64In(holder[member]);
  if (base64 === null) return [];
  return [
    {
      base64,
      param,
      isDocument: false,
      writeLink(to) {
        holder[member] = to;
      },
    },
  ];
}

/** The bytes of a file may stand there without the head of a link. */
function dataOf(data: unknown, param: string, writeLink: InlineFile['writeLink']): InlineFile[] {
  const base64 = base64In(data) ?? (typeof data === 'string' && isBareBase64(data) ? data : null);
  return base64 === null ? [] : [{ base64, param, isDocument: true, writeLink }];
}

const HEAD_CHARS = 64;
/** No link and no name of a file begins so. The rest is for the decoder, which skips what it does not know. */
export const isBareBase64 = (data: string): boolean =>
  /^[\w+/-]+=*$/.test(data.slice(0, HEAD_CHARS).trimEnd());

function base64In(link: unknown): string | null {
  if (typeof link !== 'string') return null;
  const at = link.slice(0, LINK_HEAD_CHARS).indexOf(',');
  return at >= 0 && DATA_HEAD.test(link.slice(0, at)) ? link.slice(at + 1) : null;
}

const LINK_HEAD_CHARS = 300;
const DATA_HEAD = /^\s{0,20}data:[^,]{0,200};base64$/i;

function ofSource(part: Part, param: string): InlineFile[] {
  const { source, type } = part;
  if (!isRecord(source)) return [];
  const at = `${param}.source`;
  if (type === 'document' && source.type === 'content') return filesIn(source.content, `${at}.content`);
  if (source.type !== 'base64' || typeof source.data !== 'string') return [];
  return [
    {
      base64: source.data,
      param: at,
      isDocument: type === 'document',
      writeLink(url) {
        become(part, { type: 'image', source: { type: 'url', url } });
      },
    },
  ];
}
