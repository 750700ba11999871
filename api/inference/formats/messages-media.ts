import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import { type MediaCount, refuseInline, refuseLink, refuseStored } from '../linked-media.ts';

/**
 * Counts linked pictures and documents, and refuses inline data, stored files and links that no provider should be
 * sent to: a self-hosted server would fetch them from inside the operator's network.
 */
export function countMessagesMedia({
  system,
  messages,
}: Readonly<Record<string, unknown>>): MediaCount | ApiError {
  const count: MediaCount = { images: 0, files: 0, others: 0 };
  const refusal = countBlocks(system, 'system', count);
  if (refusal !== null) return refusal;
  if (!Array.isArray(messages)) return count;
  for (const [m, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    const refusal = countBlocks(message.content, `messages[${m}].content`, count);
    if (refusal !== null) return refusal;
  }
  return count;
}

function countBlocks(blocks: unknown, param: string, count: MediaCount): ApiError | null {
  if (!Array.isArray(blocks)) return null;
  for (const [b, block] of blocks.entries()) {
    const refusal = isRecord(block) ? countBlock(block, `${param}[${b}]`, count) : null;
    if (refusal !== null) return refusal;
  }
  return null;
}

function countBlock(block: Record<string, unknown>, param: string, count: MediaCount): ApiError | null {
  switch (block.type) {
    case 'text':
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_use':
    case 'compaction':
      return null;
    case 'tool_result':
    case 'search_result':
      return countBlocks(block.content, `${param}.content`, count);
    case 'image':
      count.images++;
      return refuseSource(block.source, `${param}.source`, count);
    case 'document':
      count.files++;
      return refuseSource(block.source, `${param}.source`, count);
    case 'container_upload':
      return refuseStored(param);
    default:
      return apiError('invalid_request', {
        param: `${param}.type`,
        message: `\`${param}.type\` has to be \`text\`, \`image\`, \`document\`, \`tool_use\`, \`tool_result\` or \`thinking\`.`,
      });
  }
}

function refuseSource(source: unknown, param: string, count: MediaCount): ApiError | null {
  const { type, url, content } = isRecord(source) ? source : {};
  switch (type) {
    case 'url':
      return refuseLink(url, `${param}.url`);
    case 'base64':
      return refuseInline(param);
    case 'file':
      return refuseStored(param);
    case 'text':
      return null;
    case 'content':
      return countBlocks(content, `${param}.content`, count);
    default:
      return apiError('invalid_request', {
        param: `${param}.type`,
        message: `\`${param}.type\` has to be \`url\`, with a public https link in \`${param}.url\`.`,
      });
  }
}
