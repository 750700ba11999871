import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './clock.ts';

export const MEGABYTE = 1024 * 1024;
export const GIGABYTE = 1024 * MEGABYTE;

/** The limits of the spec's section Limits that are implemented, by their names in the configuration. */
export interface Limits {
  callsPerMinute: number;
  /** Calls that start at once after a pause. */
  burst: number;
  runningCalls: number;
  activeKeys: number;
  mcpKeysPerDay: number;
  mcpRequestsPerMinute: number;
  /** Requests that a key may send to `/mcp` at once after a pause. */
  mcpBurst: number;
  uploadsPerDay: number;
  /** Videos of one agent that are being made. */
  openVideos: number;
  videoReadsPerMinute: number;
  /** Weight of market reads of one address, in any minute. */
  marketWeightPerMinute: number;
  requestBodyBytes: number;
  /** Links to images and files in one call. A repeated link counts each time. */
  linksPerCall: number;
  streamMs: number;
  callMs: number;
}

/** The spec's values. The operator may change them. */
export const defaultLimits: Limits = {
  callsPerMinute: 600,
  burst: 60,
  runningCalls: 8,
  activeKeys: 10,
  mcpKeysPerDay: 20,
  mcpRequestsPerMinute: 60,
  mcpBurst: 20,
  uploadsPerDay: 200,
  openVideos: 20,
  videoReadsPerMinute: 60,
  marketWeightPerMinute: 1_200,
  requestBodyBytes: 4 * MEGABYTE,
  linksPerCall: 200,
  streamMs: 30 * MINUTE_MS,
  callMs: 13 * MINUTE_MS,
};

// --- Bounds that the spec names, that operators and callers meet, or that several files share. A bound that one file uses is in that file.

/** Credit of UTC day D ends at D+8 00:00, so at most eight lots are alive. */
export const LOT_DAYS_MAX = 8;
/** Keeps a balance, and any sum in a Redis script, below 2^53. */
export const BALANCE_CAP_NANO_USD = 9_000_000_000_000_000n;
/** A running call keeps its slot this long without a renewal. */
export const HOLD_LEASE_MS = 60 * SECOND_MS;
/** How long after a call's own time limit its hold counts as an orphan. */
export const ORPHAN_MARGIN_MS = 2 * MINUTE_MS;
/** No orphan is settled this soon after its shard opened, because processes that still run their calls settle them first. */
export const ORPHAN_GRACE_MS = 2 * MINUTE_MS;
/** Ended calls are remembered this long, so that a repeated command is answered as it was. */
export const DONE_KEPT_MS = 60 * MINUTE_MS;
/** A reserve with an older id is refused, so the finite memory of done calls is enough. */
export const CALL_ID_AGE_MAX_MS = 10 * MINUTE_MS;
/**
 * Marks of calls that were given up before the ledger knew them, per agent. One stall of the network left 115 of them; at
 * the bound the oldest mark stands for every older id.
 */
export const GIVEN_UP_CALLS_MAX = 1_000;
/** Clocks that differ by more do not agree: no call starts, and times of the other are not believed. */
export const CLOCK_APART_MAX_MS = 5 * MINUTE_MS;
/** An id that is dated further ahead leaves no mark when it is given up. It could start nothing for `CLOCK_APART_MAX_MS` more. */
export const GIVEN_UP_AHEAD_MAX_MS = 2 * CLOCK_APART_MAX_MS;
/** A wall clock that moves this much further than the machine's uptime has jumped, and is not trusted at once. */
export const CLOCK_JUMP_MIN_MS = MINUTE_MS;
/** Grant ids outlive the lot that they could have filled. Trade ids also outlive the log (35 days). */
export const GRANT_ID_KEPT_MS = LOT_DAYS_MAX * DAY_MS;
export const LOG_KEPT_MS = 35 * DAY_MS;
export const CALLS_KEPT_MS = 90 * DAY_MS;

/** How long a call waits for its hold to become durable. Then it is given up. No byte reaches the caller before. */
export const GATE_TIMEOUT_MS = 2 * SECOND_MS;
/** The longest wait before an unconfirmed settlement is retried. A hold outlasts an outage by no more than this. */
export const END_AGAIN_MAX_MS = 4 * SECOND_MS;
/** Bytes of an answer that wait while the gate is closed. Beyond it the provider's connection is paused. */
export const GATE_BUFFER_BYTES = 64 * 1024;

/** Earlier calls of a chat whose cut arguments are read, and how long these may be. Others are sent on without arguments. */
export const CUT_CALLS_READ_MAX = 4;
export const CUT_CALL_CHARS_MAX = 65_536;
/** How long a usage drain reads on after a hang-up. */
export const USAGE_DRAIN_MS = 60 * SECOND_MS;
/** The longest time limit that an operator may set for calls, and the longest shutdown that follows from it. The chart has the same bound. */
export const CALL_LIMIT_MAX_MS = 2 * HOUR_MS;
export const DRAIN_MAX_MS = CALL_LIMIT_MAX_MS + USAGE_DRAIN_MS;
/** How long after a call its price is looked up at the provider. */
export const PRICE_LOOKUP_MS = 10 * MINUTE_MS;
export const JSON_ANSWER_BYTES = 32 * 1024 * 1024;
/** A reader that takes nothing for this long has hung up. */
export const STALLED_READER_MS = 60 * SECOND_MS;

/** The largest error of a provider that is read. */
export const ERROR_BODY_BYTES = 64 * 1024;
export const JSON_DEPTH_MAX = 64;
/** Levels of a provider's answer. A model may repeat all levels of a body inside the levels of an answer. */
export const ANSWER_DEPTH_MAX = 2 * JSON_DEPTH_MAX;
/** Keys and values of the body of a text model's call, which is read in steps: these keep each turn of the event loop below 50 ms. */
export const JSON_KEYS_MAX = 60_000;
export const JSON_VALUES_MAX = 400_000;
/** Members of such a body itself, known or not: it is copied where one is changed. */
export const BODY_MEMBERS_MAX = 5_000;
/** Keys and values of every other body, which is read in one turn. */
export const SHORT_JSON_KEYS_MAX = 20_000;
export const SHORT_JSON_VALUES_MAX = 100_000;
/**
 * Keys, and entries of lists, in the tools of such a body and in the form of its answer: schemas are checked and rewritten as a whole.
 * The tools of ten large MCP servers have some thousands.
 */
export const TOOL_KEYS_MAX = 20_000;
export const TOOL_ENTRIES_MAX = 50_000;
/** Messages, or items of a conversation, of a call. Sessions of agents have some thousands. */
export const MESSAGES_MAX = 20_000;
export const CHOICES_MAX = 128;
/** Blocks of a streamed message that a piece can still belong to. Pieces of older ones begin a new block. */
export const MESSAGE_BLOCKS_MAX = 1_024;
/** Bytes of a streamed response's items that are kept for an end without them. Beyond it the end passes as it came. */
export const RESPONSE_ITEMS_BYTES = 4 * MEGABYTE;
export const FALLBACK_MODELS_MAX = 8;
export const TOOLS_MAX = 256;
/** Steps of server tools in one call: the most, and the default. */
export const SERVER_TOOL_STEPS_MAX = 30;
export const SERVER_TOOL_STEPS_DEFAULT = 5;
/** Tokens with which a provider describes one of its own tools to the model: mostly hundreds, for some tools more than a thousand. */
export const SERVER_TOOL_PROMPT_TOKENS = 2_000;
/** The largest output cap of a request. It fits into the 32-bit integers of generated clients. */
export const ASKED_TOKENS_MAX = 2_147_483_647;
/** The longest header and answer id of a provider that is used. Longer ones are ignored. */
export const UPSTREAM_TEXT_CHARS_MAX = 256;
/** Arguments of the calls of one streamed answer that are kept to find what its server says twice. */
export const COMPARED_CALLS_CHARS_MAX = 4_194_304;
/** The longest link in a message. */
export const URL_CHARS_MAX = 2048;
/** The DNS limit for a host name (RFC 1035, 2.3.4). */
export const HOST_NAME_CHARS_MAX = 253;
/** Time for one question to a name server. */
export const NAME_LOOKUP_MS = 2 * SECOND_MS;

/** Recent keys that are cached with their hash, so that a call does not hash its key again. */
export const KNOWN_KEYS_MAX = 10_000;
/** Agents whose refused starts are counted. Beyond it, agents that may start again are forgotten. */
export const SUBJECTS_MAX = 100_000;

export const HEADERS_BYTES = 16 * 1024;
/** Longer than the 60 s of common load balancers. They close first, so no request arrives on a closing connection. */
export const KEEP_ALIVE_MS = 75 * SECOND_MS;
export const CONNECTIONS_MAX = 10_000;
/** The default for connections of one address, or of one /64 network in IPv6. 0 means any number. */
export const CONNECTIONS_PER_ADDRESS = 1_024;
export const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;

/** The longest `retry-after`. Some official clients sleep exactly as long as they are told. */
export const RETRY_AFTER_MAX_MS = 60 * SECOND_MS;

export const CONFIG_BYTES_MAX = 1024 * 1024;
export const SECRET_CHARS_MAX = 4096;
export const PROVIDERS_MAX = 100;
/** Models in one provider's list, and in the configuration. */
export const MODELS_MAX = 5_000;
export const MODEL_ID_CHARS_MAX = 256;
export const ABOUT_ENTRIES_MAX = 100;
/** The first cooldown of a circuit breaker, and the longest. It doubles with each probe or call that fails. */
export const BREAKER_COOLDOWN_MS = 2 * SECOND_MS;
export const BREAKER_COOLDOWN_MAX_MS = 10 * SECOND_MS;
/** The longest pause of a key after a provider's 429, whatever the provider asks for. */
export const KEY_RATE_LIMIT_MAX_MS = 10 * SECOND_MS;
export const CATALOG_FETCH_MS = 30 * SECOND_MS;
/** The default age at which a provider's prices are no longer used. */
export const CATALOG_STALE_MS = DAY_MS;

// --- Accounts and their operator.

export const LABEL_CHARS_MAX = 60;
/** Spec: Limits, spending limit amount: 0.01 to 1,000,000 dollars per period. */
export const KEY_LIMIT_MIN_NANO_USD = 10_000_000n;
export const KEY_LIMIT_MAX_NANO_USD = 1_000_000_000_000_000n;

// --- Media.

/** Spec: Limits, video file retention, counted from when it was made. */
export const VIDEO_KEPT_MS = 30 * DAY_MS;
/** How long a video can be read. After its file is deleted its status is `expired`. */
export const VIDEO_JOB_KEPT_MS = VIDEO_KEPT_MS + 90 * DAY_MS;
/** Spec: Limits, video file link. */
export const VIDEO_LINK_MS = HOUR_MS;
/** Spec: Limits, video prompt. */
export const VIDEO_PROMPT_CHARS_MAX = 2_000;
/** How long the ledger keeps an ended video. The history has it by then. */
export const ENDED_VIDEO_KEPT_MS = DAY_MS;
/** Ended videos that the ledger keeps of one agent. Failed videos cost nothing, and every snapshot of an agent contains all of them. */
export const ENDED_VIDEOS_KEPT_MAX = 1_000;
/** The agent's own images that are sent along with one order: two of the largest. */
export const VIDEO_ORDER_IMAGES_BYTES_MAX = 2 * 20_971_520;
/** How often a provider is asked for a video, plus or minus a tenth. A new video is asked for more often. */
export const VIDEO_POLL_MS = 10 * SECOND_MS;
/** Time for a provider's answer to the request that creates a job. That request cannot be repeated. */
export const VIDEO_SUBMIT_MS = 60 * SECOND_MS;
export const VIDEO_POLLS_AT_ONCE = 256;
/** Downloads of one process at one time. */
export const VIDEO_DOWNLOADS_AT_ONCE = 4;
/** A worker that has not reported for this long is not counted among those that make videos. */
export const VIDEO_MEMBER_LEASE_MS = 10 * SECOND_MS;
/** Generated images: how long their links live, and how many bytes of them one agent may have stored. */
export const RESULT_LINK_MS = 7 * DAY_MS;
export const RESULTS_BYTES_MAX = 5 * GIGABYTE;
/** Images in one request, whatever the model's list says. */
export const IMAGES_MAX = 10;
export const IMAGE_REFERENCES_MAX = 16;
export const IMAGE_PROMPT_CHARS_MAX = 32_000;
/** The largest generated image. The largest known have some 15 MB. */
export const IMAGE_BYTES_MAX = 32 * MEGABYTE;
/** The largest answer of a provider with images. */
export const IMAGE_ANSWER_BYTES = IMAGES_MAX * IMAGE_BYTES_MAX;
/** Spec: Limits, MCP body. */
export const MCP_BODY_BYTES = 64 * 1024;
/** Spec: Limits, `get_usage` days and `list_calls` page. */
export const USAGE_DAYS_MAX = 90;
export const USAGE_DAYS_DEFAULT = 7;
export const CALLS_PAGE_MAX = 50;
export const CALLS_PAGE_DEFAULT = 20;
export const GRANT_ID_CHARS_MAX = 128;
/** Credit granted for this many days ends with the last lot that may be alive. */
export const GRANT_DAYS_MAX = LOT_DAYS_MAX - 1;
export const ADMIN_ROWS_MAX = 1_000;
/** How long the operator's audit log is kept: a year, and a month to read it. */
export const AUDIT_KEPT_MS = 400 * DAY_MS;

// --- Files.

/** Spec: Limits, image upload size. */
export const UPLOAD_BYTES_MAX = 20_971_520;
/** The PUT must begin within this time. It is short because anybody who learns the link can use it. */
export const UPLOAD_PUT_MS = HOUR_MS;
/** Spec: Limits, upload link lifetime. */
export const UPLOAD_LINK_MS = DAY_MS;

// --- The operator at a terminal.

export const DISK_FREE_MIN_BYTES = 100 * MEGABYTE;
/** A request of `faregate doctor` ends before its check does, so that the check can name the reason. */
export const DOCTOR_ASK_MS = 8 * SECOND_MS;
export const DOCTOR_CONNECT_MS = 3 * SECOND_MS;

// --- The cluster.

/** Events of a shard that are not in the log yet. Beyond it no call starts in that shard. */
export const OUTBOX_BYTES_MAX = 16 * 1024 * 1024;
/** How long a publisher leads a shard without a renewal. It renews after a third of this; otherwise another process takes over. */
export const PUBLISHER_LEASE_MS = 1_500;

/** Records that a handler gets at one time, and that one request to a gateway may contain. */
export const FEED_RECORDS_AT_ONCE = 1_000;

// --- The embedded journal.

export const SNAPSHOT_EVENTS = 10_000;
export const SNAPSHOT_MS = 5 * MINUTE_MS;
/** Rows that are dropped in one transaction. */
export const PRUNE_ROWS = 500;

// --- Markets.

/** Spec: Limits, market depth and candle limit. */
export const BOOK_DEPTH_MAX = 100;
export const BOOK_DEPTH_DEFAULT = 20;
export const CANDLES_MAX = 1_000;
export const CANDLES_DEFAULT = 200;
/** Spec: Limits, market weight. A book above the shallow depth weighs as a deep one. */
export const MARKET_WEIGHTS = { list: 2, book: 1, deepBook: 5, candles: 2 } as const;
export const SHALLOW_BOOK_DEPTH = 20;
/** Spec: Limits, market response cache. */
export const MARKET_CACHE_MS = SECOND_MS;
export const TRADE_ID_CHARS_MAX = 128;
/** Levels of each side of a book. A record of the book has room for a snapshot of all of them. */
export const BOOK_LEVELS_MAX = 5_000;
export const BOOK_RECORD_BYTES_MAX = 2 * MEGABYTE;
/** Markets whose books one process keeps. Some eight are open at a time. */
export const BOOKS_MAX = 64;
/** If a sequence number repeats this much later, the exchange has started to count again. */
export const BOOK_ANEW_MS = 5 * SECOND_MS;
/** A changed book is published at most this often. */
export const BOOK_PUBLISH_MS = SECOND_MS / 4;
/** A book whose writer is silent for this long is no longer shown. */
export const BOOK_SILENCE_MS = 10 * SECOND_MS;
/** How often a snapshot of a stopped book is requested. */
export const BOOK_REQUEST_MS = 5 * SECOND_MS;
export const LIVE_CANDLES = 8;
/** How long live candles of a silent writer are shown. By then the store has them. */
export const LIVE_CANDLES_MS = MINUTE_MS;
/** How long candles and trades are kept after the end of their market. */
export const MARKET_KEPT_MS = CALLS_KEPT_MS;
