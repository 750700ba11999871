import { type ApiError, apiError, hasToBe, refuseEach } from '../../contract/errors.ts';
import { ROUTER_TOOLS } from '../../providers/router-tools.ts';
import {
  countMedium,
  type LinkRules,
  linkOf,
  type MediaCount,
  noMedia,
  refuseInline,
  refuseStored,
  takeImage,
  takeLink,
  takeLinks,
  typeInLink,
} from '../linked-images/linked-media.ts';
import { isCallerShell } from '../policy/tool-policy.ts';
import { typeName } from './unsupported-fields.ts';

/**
 * Counts linked images and files, and refuses inline data, stored items and links that no provider should be sent
 * to: a self-hosted server would fetch them from inside the operator's network.
 */
export function countResponsesMedia(
  { input }: Readonly<Record<string, unknown>>,
  rules: LinkRules,
): MediaCount | ApiError {
  const count = noMedia(rules);
  return refuseEach(input, 'input', (item, param) => countItem(item, param, count)) ?? count;
}

/** Items of earlier answers come back as they were; only what they bring in from outside is looked at. */
function countItem(item: Record<string, unknown>, param: string, count: MediaCount): ApiError | null {
  switch (item.type) {
    case undefined:
    case null:
      return isMessage(item) ? countParts(item.content, `${param}.content`, count) : refuseReference(param);
    case 'message':
      return countParts(item.content, `${param}.content`, count);
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'computer_call_output':
      return countParts(Array.isArray(item.output) ? item.output : [item.output], `${param}.output`, count);
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
    case 'computer_call':
    case 'apply_patch_call':
    case 'apply_patch_call_output':
    case 'local_shell_call':
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'compaction':
    case 'context_compaction':
    // Of searches and fetches, by their two names.
    case 'web_search_call':
    case ROUTER_TOOLS.search:
    case ROUTER_TOOLS.fetch:
    case ROUTER_TOOLS.clock:
    // A search for tools that the caller makes itself. Their tools are looked at with all the others.
    case 'tool_search_call':
    case 'tool_search_output':
    case 'additional_tools':
      return null;
    case 'shell_call':
      return refuseContainer(item, param);
    case 'item_reference':
      return refuseReference(param);
    default:
      return apiError('invalid_request', {
        param: `${param}.type`,
        message: `\`${param}\` is an item of the type ${typeName(item.type)}, which is not served. Send messages, reasoning, and calls of served tools with their outputs.`,
      });
  }
}

/** A shell that a provider ran has its files in a container of the account that all callers share. */
const refuseContainer = ({ environment }: Record<string, unknown>, param: string): ApiError | null =>
  isCallerShell(environment)
    ? null
    : apiError('invalid_request', {
        param: `${param}.environment`,
        message: `\`${param}\` is a call of a shell in a container, which is not served. Send calls of a shell that you run, with \`"environment": {"type": "local"}\`.`,
      });

/** An item of an id and no type refers to what the operator's account has stored. */
const isMessage = ({ role, content }: Record<string, unknown>): boolean =>
  typeof role === 'string' && isPresent(content);

const refuseReference = (param: string): ApiError =>
  apiError('invalid_request', {
    param,
    message:
      `\`${param}\` refers to an item, and nothing is stored that it could refer to. Send the item itself; ` +
      'SDKs that send references do so with `store: false` (in the AI SDK `providerOptions: { openai: { store: false } }`).',
  });

const countParts = (parts: unknown, param: string, count: MediaCount): ApiError | null =>
  refuseEach(parts, param, (part, at) => countPart(part, at, count));

function countPart(part: Record<string, unknown>, param: string, count: MediaCount): ApiError | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'refusal':
    case 'summary_text':
    case 'reasoning_text':
      return null;
    case 'input_image':
    case 'computer_screenshot':
      countMedium(count, 'images', param);
      if (isPresent(part.file_id)) return refuseStored(`${param}.file_id`);
      return takeImage(count, linkOf(part.image_url), `${param}.image_url`);
    case 'input_file':
      countMedium(count, 'files', param);
      if (isPresent(part.file_id)) return refuseStored(`${param}.file_id`);
      if (isPresent(part.file_data)) return refuseInline(`${param}.file_data`, typeInLink(part.file_data));
      return takeLink(count, part.file_url, `${param}.file_url`);
    case 'input_video':
      countMedium(count, 'others', param);
      return takeLinks(count, [part.video_url], `${param}.video_url`);
    case 'input_audio':
      return refuseInline(`${param}.input_audio`);
    default:
      return hasToBe(`${param}.type`, '`input_text`, `input_image`, `input_file` or `output_text`');
  }
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;
