import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError, hasToBe, refuseEach } from '../../contract/errors.ts';
import {
  countMedium,
  type LinkRules,
  type MediaCount,
  noMedia,
  refuseInline,
  refuseStored,
  takeImage,
  takeLink,
} from '../linked-images/linked-media.ts';
import { textOf } from './values.ts';

/**
 * Counts linked images and documents, and refuses inline data, stored files and links that no provider should be
 * sent to: a self-hosted server would fetch them from inside the operator's network.
 */
export function countMessagesMedia(
  { system, messages }: Readonly<Record<string, unknown>>,
  rules: LinkRules,
): MediaCount | ApiError {
  const count = noMedia(rules);
  const refusal =
    countBlocks(system, 'system', count) ??
    refuseEach(messages, 'messages', ({ content }, param) =>
      refuseEach(content, `${param}.content`, (block, at) =>
        TOOL_BRINGERS.has(block.type) ? null : countBlock(block, at, count),
      ),
    );
  return refusal ?? count;
}

/** Read with the tools of the body (`policy/tool-policy.ts`), which looks for them nowhere deeper. */
const TOOL_BRINGERS: ReadonlySet<unknown> = new Set(['tool_addition', 'tool_removal', 'compaction']);

const countBlocks = (blocks: unknown, param: string, count: MediaCount): ApiError | null =>
  refuseEach(blocks, param, (block, at) => countBlock(block, at, count));

function countBlock(block: Record<string, unknown>, param: string, count: MediaCount): ApiError | null {
  switch (block.type) {
    case 'text':
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_use':
    // A search for tools that the caller makes itself names the tools that it found.
    case 'tool_reference':
      return null;
    case 'tool_result':
    case 'search_result':
      return countBlocks(block.content, `${param}.content`, count);
    case 'image':
      countMedium(count, 'images', param);
      return refuseSource(block.source, `${param}.source`, count, takeImage);
    case 'document':
      // One that is text is a part of the prompt, which every model reads.
      if (!isText(block.source)) countMedium(count, 'files', param);
      return refuseSource(block.source, `${param}.source`, count, takeLink);
    case 'server_tool_use':
      return block.name === 'web_search' || block.name === 'web_fetch' ? null : refuseBlock(`${param}.name`);
    case 'web_search_tool_result':
      return isFound(block.content) ? null : refuseBlock(`${param}.content`);
    case 'web_fetch_tool_result':
      return countFetched(block.content, `${param}.content`, count);
    case 'container_upload':
      return refuseStored(param);
    default:
      return hasToBe(`${param}.type`, '`text`, `image`, `document`, `tool_use`, `tool_result` or `thinking`');
  }
}

const refuseBlock = (param: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\` is of a tool that is not served.` });

/** What a search found for an earlier answer, signed by the provider, or why it found nothing. */
const isFound = (content: unknown): boolean =>
  Array.isArray(content)
    ? content.every((each) => isRecord(each) && each.type === 'web_search_result')
    : isRecord(content) && content.type === 'web_search_tool_result_error';

function countFetched(result: unknown, param: string, count: MediaCount): ApiError | null {
  const { content } = isRecord(result) ? result : {};
  if (!isRecord(content)) return null;
  // Nobody sends it anew by a link: it is the provider's own answer, and its pages are not counted.
  if (isRecord(content.source) && content.source.type === 'base64') {
    countMedium(count, 'others', param);
    return null;
  }
  return refuseSource(content.source, `${param}.content.source`, count, takeLink);
}

const isText = (source: unknown): boolean =>
  isRecord(source) && (source.type === 'text' || source.type === 'content');

function refuseSource(
  source: unknown,
  param: string,
  count: MediaCount,
  take: typeof takeLink,
): ApiError | null {
  const { type, url, content, media_type: mediaType } = isRecord(source) ? source : {};
  switch (type) {
    case 'url':
      return take(count, url, `${param}.url`);
    case 'base64':
      return refuseInline(param, textOf(mediaType));
    case 'file':
      return refuseStored(param);
    case 'text':
      return null;
    case 'content':
      return countBlocks(content, `${param}.content`, count);
    default:
      return hasToBe(`${param}.type`, `\`url\`, with a public https link in \`${param}.url\``);
  }
}
