import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import {
  BODY_MEMBERS_MAX,
  BOOK_DEPTH_MAX,
  CALLS_KEPT_MS,
  CALLS_PAGE_MAX,
  CANDLES_MAX,
  CHOICES_MAX,
  CONNECTIONS_PER_ADDRESS,
  defaultLimits,
  FALLBACK_MODELS_MAX,
  GIGABYTE,
  IMAGE_PROMPT_CHARS_MAX,
  IMAGES_MAX,
  JSON_KEYS_MAX,
  JSON_VALUES_MAX,
  KEY_LIMIT_MAX_NANO_USD,
  KEY_LIMIT_MIN_NANO_USD,
  LABEL_CHARS_MAX,
  MCP_BODY_BYTES,
  MEGABYTE,
  MESSAGES_MAX,
  RESULT_LINK_MS,
  RESULTS_BYTES_MAX,
  SERVER_TOOL_STEPS_DEFAULT,
  SERVER_TOOL_STEPS_MAX,
  TOOL_ENTRIES_MAX,
  TOOL_KEYS_MAX,
  TOOLS_MAX,
  UPLOAD_BYTES_MAX,
  UPLOAD_LINK_MS,
  URL_CHARS_MAX,
  USAGE_DAYS_MAX,
  VIDEO_JOB_KEPT_MS,
  VIDEO_KEPT_MS,
  VIDEO_LINK_MS,
  VIDEO_PROMPT_CHARS_MAX,
} from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import { markdownTable } from './markdown-table.ts';

/** What an operator may change, as it is where none has. */
export const changeableLimits = (): string =>
  markdownTable(
    ['limit', 'default', 'of', 'beyond it'],
    [
      [
        'calls that start',
        `${count(defaultLimits.callsPerMinute)} a minute, ${defaultLimits.burst} at once`,
        AGENT,
        '`rate_limited`',
      ],
      ['running calls', count(defaultLimits.runningCalls), AGENT, '`too_many_running_calls`'],
      ['active keys', count(defaultLimits.activeKeys), AGENT, 'a refusal of `create_key`'],
      [
        'keys made over MCP',
        `${defaultLimits.mcpKeysPerDay} in any 24 hours`,
        AGENT,
        'a refusal of `create_key`',
      ],
      [
        'requests to `/mcp`',
        `${defaultLimits.mcpRequestsPerMinute} a minute, ${defaultLimits.mcpBurst} at once`,
        KEY,
        '429',
      ],
      ['uploads', `${defaultLimits.uploadsPerDay} in any 24 hours`, AGENT, '`rate_limited`'],
      ['videos that are being made', count(defaultLimits.openVideos), AGENT, '`rate_limited`'],
      ['reads of videos', `${defaultLimits.videoReadsPerMinute} a minute`, KEY, '`rate_limited`'],
      [
        'weight of market reads',
        `${count(defaultLimits.marketWeightPerMinute)} a minute`,
        'the address',
        '`rate_limited`',
      ],
      ['open connections', count(CONNECTIONS_PER_ADDRESS), 'the address', 'the connection is closed'],
      [
        'body of a call',
        `${defaultLimits.requestBodyBytes / MEGABYTE} MB`,
        'the call',
        '`request_too_large`',
      ],
      ['links to images and files', count(defaultLimits.linksPerCall), 'the call', '`invalid_request`'],
      [
        'time of a streamed call',
        `${defaultLimits.streamMs / MINUTE_MS} minutes`,
        'the call',
        '`upstream_timeout`',
      ],
      [
        'time of any other call',
        `${defaultLimits.callMs / MINUTE_MS} minutes`,
        'the call',
        '`upstream_timeout`',
      ],
    ],
  );

export const fixedLimits = (): string =>
  markdownTable(
    ['limit', 'value'],
    [
      ['fallback models of a call', count(FALLBACK_MODELS_MAX)],
      ['messages or items of a call', count(MESSAGES_MAX)],
      ['tools of a call', count(TOOLS_MAX)],
      [
        'tools and the form of the answer, together',
        `${count(TOOL_KEYS_MAX)} keys, ${count(TOOL_ENTRIES_MAX)} entries of lists`,
      ],
      [
        'keys and values of a body',
        `${count(JSON_KEYS_MAX)} keys, ${count(JSON_VALUES_MAX)} values, ${count(BODY_MEMBERS_MAX)} members of its own`,
      ],
      ['choices of a call (`n`)', count(CHOICES_MAX)],
      [
        'web searches and fetches of a call',
        `${SERVER_TOOL_STEPS_MAX}; ${SERVER_TOOL_STEPS_DEFAULT} where you say nothing`,
      ],
      ['characters of a link', count(URL_CHARS_MAX)],
      [
        'an upload',
        `${UPLOAD_BYTES_MAX / MEGABYTE} MB (${count(UPLOAD_BYTES_MAX)} bytes); its link is good for ${UPLOAD_LINK_MS / HOUR_MS} hours`,
      ],
      [
        'images of one request',
        `${IMAGES_MAX}, from a prompt of ${count(IMAGE_PROMPT_CHARS_MAX)} characters`,
      ],
      [
        'stored images of an agent',
        `${RESULTS_BYTES_MAX / GIGABYTE} GB; their links are good for ${RESULT_LINK_MS / DAY_MS} days`,
      ],
      ['prompt of a video', `${count(VIDEO_PROMPT_CHARS_MAX)} characters`],
      [
        'file of a video',
        `kept for ${VIDEO_KEPT_MS / DAY_MS} days, its job for ${VIDEO_JOB_KEPT_MS / DAY_MS}; a link to it is good for ${VIDEO_LINK_MS / HOUR_MS} hour`,
      ],
      ['body of a request to `/mcp`', `${MCP_BODY_BYTES / 1024} KB`],
      ['label of a key', `one line of ${LABEL_CHARS_MAX} characters`],
      [
        'spending limit of a key',
        `$${formatUsd(KEY_LIMIT_MIN_NANO_USD)} to $${count(Number(formatUsd(KEY_LIMIT_MAX_NANO_USD)))} a period`,
      ],
      ['days of `get_usage`', `${USAGE_DAYS_MAX}`],
      [
        'calls of a page of `list_calls`',
        `${CALLS_PAGE_MAX}; calls are kept for ${CALLS_KEPT_MS / DAY_MS} days`,
      ],
      ['depth of an order book', count(BOOK_DEPTH_MAX)],
      ['candles of an answer', count(CANDLES_MAX)],
    ],
  );

const AGENT = 'the agent, all keys';
const KEY = 'the key';

const count = (value: number): string => value.toLocaleString('en-US');
