import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './clock.ts';

export const MEGABYTE = 1024 * 1024;
export const GIGABYTE = 1024 * MEGABYTE;

/** Every number of the spec's Limits section that has code today: the defaults, which the operator may change. */
export interface Limits {
  callsPerMinute: number;
  burst: number;
  runningCalls: number;
  activeKeys: number;
  mcpKeysPerDay: number;
  mcpRequestsPerMinute: number;
  mcpBurst: number;
  uploadsPerDay: number;
  /** Of one agent, not ended yet. */
  openVideos: number;
  videoReadsPerMinute: number;
  /** Of one address, in any minute. */
  marketWeightPerMinute: number;
  requestBodyBytes: number;
  /** Links to images and files in one call; a link that stands there twice counts twice. */
  linksPerCall: number;
  streamMs: number;
  callMs: number;
}

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

// --- Bounds of our own that no operator needs to change. Each is named once, here.

/** No id that comes from outside is above it: scripts of Redis print numbers with fourteen digits. */
export const AGENT_ID_MAX = 999_999_999_999;
/** Credit of UTC day D ends at D+8 00:00, so at most eight lots are alive. */
export const LOT_DAYS_MAX = 8;
/** Keeps a balance, and any sum in a Redis script, below 2^53. */
export const BALANCE_CAP_NANO_USD = 9_000_000_000_000_000n;
export const HOLD_LEASE_MS = 60 * SECOND_MS;
export const HOLD_LEASE_RENEW_MS = 15 * SECOND_MS;
/** Past a call's own time limit, before its hold counts as an orphan. */
export const ORPHAN_MARGIN_MS = 2 * MINUTE_MS;
/** No orphan is settled so soon after its shard was opened: processes that still run their calls settle them first. */
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
export const CLOCK_APART_MAX_MS = 5 * MINUTE_MS;
/** An id that is dated further ahead leaves no mark when it is given up. It would start something only after as long again, and no network is that late. */
export const GIVEN_UP_AHEAD_MAX_MS = 2 * CLOCK_APART_MAX_MS;
/** A wall clock that moves on by so much more than the machine's uptime has jumped, and is not believed at once. */
export const CLOCK_JUMP_MIN_MS = MINUTE_MS;
/** A clock that has not jumped for so long is taken to be right. */
export const CLOCK_PROVEN_MS = 5 * MINUTE_MS;
/** How often a process looks at its clock where nothing else does, and keeps what the next process needs to know of it. */
export const CLOCK_LOOKED_AT_MS = MINUTE_MS;
/** Grant ids outlive the lot that they could have filled. Trade ids also outlive the log (35 days). */
export const GRANT_ID_KEPT_MS = LOT_DAYS_MAX * DAY_MS;
export const LOG_KEPT_MS = 35 * DAY_MS;
export const CALLS_KEPT_MS = 90 * DAY_MS;

/** No byte to the caller before the journal has the hold; then the call is given up. */
export const GATE_TIMEOUT_MS = 2 * SECOND_MS;
/** A log that is this far behind, or has just been late for a gate, is waited for before the provider is asked. */
export const DISPATCH_WAITS_ABOVE_LAG_MS = 250;
export const DISPATCH_WAITS_AFTER_TIMEOUT_MS = 30 * SECOND_MS;
/** Waiting upstream bytes while the gate is shut; then the upstream is paused. */
export const GATE_BUFFER_BYTES = 64 * 1024;
/** How long the last chunk waits for its settle to be durable. */
export const LAST_CHUNK_WAIT_MS = 250;
/** How long a stream without usage waits behind its end mark for a record of it. */
export const LATE_USAGE_WAIT_MS = 250;
/** After a hang-up the answer is read on this long, and this far, for its usage record. */
export const USAGE_DRAIN_MS = 60 * SECOND_MS;
/** The longest time limits that an operator may set for calls, and with a usage drain's for the drain of a process: the chart cuts its own there, too. */
export const CALL_LIMIT_MAX_MS = 2 * HOUR_MS;
export const DRAIN_MAX_MS = CALL_LIMIT_MAX_MS + USAGE_DRAIN_MS;
export const USAGE_DRAIN_BYTES = 16 * 1024 * 1024;
export const USAGE_DRAINS_MAX = 200;
/** Look-ups of a price at the provider go on this long after the call. */
export const PRICE_LOOKUP_MS = 10 * MINUTE_MS;
/** Besides what an event repeats of the request and of what came before it. */
export const SSE_EVENT_BYTES = 1024 * 1024;
export const JSON_ANSWER_BYTES = 32 * 1024 * 1024;
/** The same as a stream: some 300 bytes stand around each token of it. */
export const COLLECTED_STREAM_BYTES = 8 * JSON_ANSWER_BYTES;
/** A reader that takes nothing for this long has hung up. */
export const STALLED_READER_MS = 60 * SECOND_MS;

/** A provider's error is read this far. */
export const ERROR_BODY_BYTES = 64 * 1024;
export const JSON_DEPTH_MAX = 64;
/** Of a provider's answer: what a caller may send, some models write into it, and it has levels of its own around that. */
export const ANSWER_DEPTH_MAX = 2 * JSON_DEPTH_MAX;
/** A body is parsed in one go, and nobody else is served meanwhile: these keep that below some ten milliseconds. */
export const JSON_KEYS_MAX = 20_000;
export const JSON_VALUES_MAX = 100_000;
/** Of a refused body; each counts as one refused start more. */
export const REFUSED_START_BYTES = 64 * 1024;
export const CHOICES_MAX = 128;
export const FALLBACK_MODELS_MAX = 8;
export const TOOLS_MAX = 256;
/** Runs of server tools in one call: at the most, and where the caller says nothing. */
export const SERVER_TOOL_STEPS_MAX = 30;
export const SERVER_TOOL_STEPS_DEFAULT = 5;
/** Of one search. More found text makes a larger hold, so by default there is little. */
export const SEARCH_RESULTS_MAX = 25;
export const SEARCH_RESULTS_DEFAULT = 5;
export const SEARCH_RESULT_CHARS_MAX = 30_000;
export const SEARCH_RESULT_CHARS_DEFAULT = 1_000;
/** Address, title and what else stands around a result. */
export const SEARCH_RESULT_FRAME_TOKENS = 512;
/** What a provider tells the model of a tool of its own, whoever runs it: hundreds of tokens, of some more than a thousand. */
export const SERVER_TOOL_PROMPT_TOKENS = 2_000;
/** Of a set of them, of which the body names no single one. */
export const TOOLSET_PROMPT_TOKENS = 20_000;
/** How tools are used: up to 530 at Anthropic's oldest models. */
export const TOOL_USE_PROMPT_TOKENS = 1_000;
export const FETCHED_TOKENS_DEFAULT = 10_000;
/** The most that a caller may ask for: what a 32-bit integer of a generated client holds. */
export const ASKED_TOKENS_MAX = 2_147_483_647;
/** Of the record of usage in a stream of messages: it is put together anew with each event that has one. */
export const USAGE_MEMBERS_MAX = 200;
export const USAGE_BYTES_MAX = 16 * 1024;
/** A provider's count above it is no count. */
export const REPORTED_TOKENS_MAX = 1_000_000_000;
/** A header of a provider that is looked at, and its id of an answer; a longer one is none. */
export const UPSTREAM_TEXT_CHARS_MAX = 256;
/** Pending calls asked for at one time; after a long outage thousands may wait. */
export const PRICE_LOOKUPS_AT_ONCE = 32;
/** Of a link in a message. */
export const URL_CHARS_MAX = 2048;
/** The bounds of DNS for the host name in a link, and for each of its labels (RFC 1035, 2.3.4). */
export const HOST_NAME_CHARS_MAX = 253;
export const HOST_LABEL_CHARS_MAX = 63;
/** Of one question to a name server, and how often it is asked. */
export const NAME_LOOKUP_MS = 2 * SECOND_MS;
export const NAME_LOOKUPS = 2;
/** Of a picture that the gateway fetches for a provider, from its name's look-up to its last byte. */
export const PICTURE_FETCH_MS = 10 * SECOND_MS;
export const PICTURE_REDIRECTS_MAX = 3;
/** Of one name, tried one after the other. */
export const PICTURE_ADDRESSES_MAX = 3;
/** Pictures sent to a provider in the place of their links, in one request. */
export const INLINED_PICTURES_MAX = 16;
export const INLINED_BYTES_MAX = 20 * MEGABYTE;
/** Their requests are loaded so many at one time, and sent as long as all together are no larger. */
export const INLINED_CALLS_AT_ONCE = 16;
export const INLINED_BYTES_AT_ONCE = 256 * MEGABYTE;

/** Keys that were sent lately, remembered with their hash, so that a call does not hash its key anew. */
export const KNOWN_KEYS_MAX = 10_000;
/** Agents whose refused starts are counted; beyond it those are forgotten that may start again. */
export const SUBJECTS_MAX = 100_000;

export const HEADERS_BYTES = 16 * 1024;
export const HEADERS_TIMEOUT_MS = 10 * SECOND_MS;
export const REQUEST_TIMEOUT_MS = 30 * SECOND_MS;
/** Of a request that came behind a drain's notice, once all that was open then has ended: nobody keeps a process from its end. */
export const LAST_REQUESTS_MS = 10 * SECOND_MS;
/** Of the answers to those, from then on: they are no calls, and who reads a file slowly may ask for the rest elsewhere. */
export const LAST_ANSWERS_MS = MINUTE_MS;
/** How often the two time-outs of every request are looked at. */
export const CONNECTIONS_CHECK_MS = 5 * SECOND_MS;
/** Above the 60 s of common load balancers: they close first, so no request meets a closing connection. */
export const KEEP_ALIVE_MS = 75 * SECOND_MS;
/** A refused request's unread body up to this size is read and dropped, and the connection lives on. */
export const UNREAD_BODY_KEPT_BYTES = 64 * 1024;
/** A larger one is read this far, so that its sender gets to see the answer; then the connection is cut. */
export const UNREAD_BODY_DRAINED_BYTES = 16 * 1024 * 1024;
export const CONNECTIONS_MAX = 10_000;
/** Connections of one address, or of one /64 network in IPv6, by default; 0 means any number. */
export const CONNECTIONS_PER_ADDRESS = 1_024;
export const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;

/** No wait that we advertise is longer: some official clients sleep exactly as long as they are told. */
export const RETRY_AFTER_MAX_MS = 60 * SECOND_MS;

export const CONFIG_BYTES_MAX = 1024 * 1024;
export const CONFIG_POLL_MS = SECOND_MS;
/** Of a file that is no YAML: what comes later mostly follows from what came first. */
export const YAML_PROBLEMS_MAX = 10;
/** Enough for repeated blocks, far below what a "billion laughs" needs. */
export const ALIASES_MAX = 1_000;
export const SECRET_CHARS_MAX = 4096;
export const PROVIDERS_MAX = 100;
/** Per provider's list, and in the configuration. */
export const MODELS_MAX = 5_000;
export const MODEL_ID_CHARS_MAX = 256;
/** Of what a list says of a model besides its prices. */
export const DESCRIPTION_CHARS_MAX = 500;
export const ABOUT_ENTRIES_MAX = 100;
/** Price steps of one model in a provider's list, for longer prompts. */
export const OVERRIDES_MAX = 100;
/** Failures in a row, of more than one agent, after which an endpoint's circuit breaker opens although its provider answers probes. */
export const BREAKER_FAILURES = 5;
/** Unless a call has worked so lately. */
export const BREAKER_WORKED_MS = 10 * SECOND_MS;
/** The first cooldown of a circuit breaker. It doubles with each probe or call that fails, up to the next two. */
export const BREAKER_COOLDOWN_MS = 2 * SECOND_MS;
export const BREAKER_COOLDOWN_MAX_MS = 10 * SECOND_MS;
/** A key that a provider refuses, or that has no money, is tried less often: vendors count such requests. */
export const KEY_COOLDOWN_MAX_MS = 60 * SECOND_MS;
/** After a provider's 429 nothing is sent with the key for as long as it says, at most for this long. */
export const KEY_RATE_LIMIT_MAX_MS = 10 * SECOND_MS;
/** A probe of a provider that has no answer by then has failed. */
export const PROBE_TIMEOUT_MS = 5 * SECOND_MS;
/** A caller who leaves after so long without a status line has met a time-out. */
export const STATUS_LATE_MS = 30 * SECOND_MS;
/** What is wrong with an endpoint is said to the operator no more often. */
export const FAULT_SAID_MS = 10 * MINUTE_MS;
/** Beyond it all are forgotten: an operator has some hundreds. */
export const ENDPOINTS_WATCHED_MAX = 20_000;
export const CATALOG_BYTES_MAX = 16 * 1024 * 1024;
export const CATALOG_FETCH_MS = 30 * SECOND_MS;
export const CATALOG_REFRESH_MS = HOUR_MS;
/** After a list that did not arrive. */
export const CATALOG_RETRY_MS = MINUTE_MS;
/** The prices of older lists are not believed any more, unless the operator says otherwise. */
export const CATALOG_STALE_MS = DAY_MS;

// --- Accounts and their operator.

export const LABEL_CHARS_MAX = 60;
/** Spec: Limits, spending limit amount: 0.01 to 1,000,000 dollars per period. */
export const KEY_LIMIT_MIN_NANO_USD = 10_000_000n;
export const KEY_LIMIT_MAX_NANO_USD = 1_000_000_000_000_000n;
// --- Media.

/** Spec: Limits, video file retention, counted from when it was made. */
export const VIDEO_KEPT_MS = 30 * DAY_MS;
/** Behind its file's end a video stays readable, as `expired`. */
export const VIDEO_JOB_KEPT_MS = VIDEO_KEPT_MS + 90 * DAY_MS;
/** Spec: Limits, video file link. */
export const VIDEO_LINK_MS = HOUR_MS;
/** Spec: Limits, video prompt. */
export const VIDEO_PROMPT_CHARS_MAX = 2_000;
/** An ended video is known to the ledger for so long; then only to the history, which has it by then. */
export const ENDED_VIDEO_KEPT_MS = DAY_MS;
/** Of one agent, the newest: failed ones cost nothing, and each copy of an agent holds them all. */
export const ENDED_VIDEOS_KEPT_MAX = 1_000;
/** A provider that has not ended a video by then never will: it has failed, and its hold is freed. */
export const VIDEO_MAX_MS = 4 * HOUR_MS;
/** As the ledger knows it: by then its worker has ended it, or it is an orphan. */
export const VIDEO_TIME_LIMIT_MS = 6 * HOUR_MS;
/** What a worker sends to the provider waits for it so long; an open video never needs it longer. */
export const VIDEO_ORDER_KEPT_MS = 12 * HOUR_MS;
/** Of an agent's own pictures in one order, where they are sent along with it: two of the largest. */
export const VIDEO_ORDER_PICTURES_BYTES_MAX = 2 * 20_971_520;
/** Of a process, with pictures: each has one of them in memory, and nothing is held for it yet. */
export const VIDEO_ORDERS_WRITTEN_AT_ONCE = 4;
/** Of an order's file: those pictures in base64, and the text around them. */
export const VIDEO_ORDER_BYTES_MAX = 64 * MEGABYTE;
/** Of a result. A minute of 4k has some 400 MB. */
export const VIDEO_BYTES_MAX = 2 * GIGABYTE;
/** Image models whose prices are asked for at one time. */
export const IMAGE_ENDPOINT_FETCHES = 4;
/** A video's worker asks the provider this often, give or take a tenth; sooner while it is young. */
export const VIDEO_POLL_MS = 10 * SECOND_MS;
/** Between two attempts at anything that failed: doubled up to this. */
export const VIDEO_RETRY_MAX_MS = 60 * SECOND_MS;
/** The provider's answer about a job. */
export const VIDEO_ANSWER_MS = 30 * SECOND_MS;
export const VIDEO_ANSWER_BYTES = 64 * 1024;
/** Its answer to the one request that makes a job; whoever gives up on it cannot ask again. */
export const VIDEO_SUBMIT_MS = 60 * SECOND_MS;
/** A provider that takes no new job for so long is not waited for. */
export const VIDEO_SUBMIT_TRIES_MS = 15 * MINUTE_MS;
/** Somebody else's claim without a job: by then its process has died. */
export const VIDEO_CLAIM_GRACE_MS = 2 * MINUTE_MS;
/** An order with pictures in it. Of a process so many are in memory at one time; the others wait. */
export const VIDEO_LARGE_ORDER_BYTES = MEGABYTE;
export const VIDEO_LARGE_ORDERS_AT_ONCE = 2;
/** Of each provider. */
export const VIDEO_SUBMISSIONS_AT_ONCE = 8;
export const VIDEO_POLLS_AT_ONCE = 256;
/** Of a process. */
export const VIDEO_DOWNLOADS_AT_ONCE = 4;
/** A download of which nothing comes for so long is begun again where it stopped. */
export const VIDEO_STALL_MS = 30 * SECOND_MS;
/** From its first byte to its last, cuts and all. */
export const VIDEO_DOWNLOAD_MS = 30 * MINUTE_MS;
/** Continued so often without beginning anew; begun so often in all. */
export const VIDEO_RESUMES_MAX = 10;
export const VIDEO_DOWNLOAD_TRIES = 20;
/** In a row, that the provider knows no such job: some need a moment to know what they have just taken. */
export const VIDEO_MISSING_TRIES = 10;
/** Looks at a finished job whose cost is not there yet. */
export const VIDEO_COST_TRIES = 3;
/** A finished video that could not be fetched or stored by then is given up, before its hold is an orphan. */
export const VIDEO_RESULT_MAX_MS = 5 * HOUR_MS;
/** How often a worker asks the ledger which videos are open; where it starts them all itself, it is told. */
export const VIDEOS_LOOK_MS = 5 * SECOND_MS;
/** Of several processes, one that has said nothing for so long works on no video. */
export const VIDEO_MEMBER_LEASE_MS = 10 * SECOND_MS;
/** How often a worker looks at what is due. */
export const VIDEO_TICK_MS = SECOND_MS / 4;
/** Generated pictures: how long their links live, and how much of them an agent keeps. */
export const RESULT_LINK_MS = 7 * DAY_MS;
export const RESULTS_BYTES_MAX = 5 * GIGABYTE;
/** Of one request, whatever a model lists. */
export const PICTURES_MAX = 10;
export const PICTURE_REFERENCES_MAX = 16;
export const PICTURE_PROMPT_CHARS_MAX = 32_000;
/** Of one generated picture. The largest that are known have some 15 MB. */
export const PICTURE_BYTES_MAX = 32 * MEGABYTE;
/** Of a provider's whole answer, and of an event of its stream: base64 is a third longer than what it holds. */
export const PICTURE_ANSWER_BYTES = PICTURES_MAX * PICTURE_BYTES_MAX;
export const PICTURE_EVENT_BYTES = 24 * MEGABYTE;
/** Of such an answer without its pictures. */
export const PICTURE_FRAME_BYTES = 256 * 1024;
/** After a hang-up a picture is waited for: its provider is paid for it, and takes a minute and a half. */
export const PICTURE_DRAIN_MS = 5 * MINUTE_MS;
/** Spec: Limits, MCP body. */
export const MCP_BODY_BYTES = 64 * 1024;
/** While a key cannot be checked. */
export const MCP_RETRY_MS = 2 * SECOND_MS;
/** Spec: Limits, `get_usage` days and `list_calls` page. */
export const USAGE_DAYS_MAX = 90;
export const USAGE_DAYS_DEFAULT = 7;
export const CALLS_PAGE_MAX = 50;
export const CALLS_PAGE_DEFAULT = 20;
export const GRANT_ID_CHARS_MAX = 128;
/** Credit granted for this many days ends with the last lot that may be alive. */
export const GRANT_DAYS_MAX = LOT_DAYS_MAX - 1;
export const ADMIN_BODY_BYTES = 64 * 1024;
export const ADMIN_ROWS_MAX = 1_000;
/** Of the operator's audit log: a whole year, and a month to look at it. */
export const AUDIT_KEPT_MS = 400 * DAY_MS;
/** Read at once by an audit, so that it neither waits for each nor floods the ledger. */
export const AUDIT_AGENTS_AT_ONCE = 100;
/** Shown by an audit; all are counted. */
export const AUDIT_PROBLEMS_MAX = 1_000;
/** A catalogue's reload waits for its providers' lists. */
export const CLI_TIMEOUT_MS = 2 * CATALOG_FETCH_MS;

// --- Files.

/** Spec: Limits, image upload size. */
export const UPLOAD_BYTES_MAX = 20_971_520;
/** The PUT has to begin within this time. Short, because whoever comes to know the link may fill it. */
export const UPLOAD_PUT_MS = HOUR_MS;
/** Spec: Limits, upload link lifetime. */
export const UPLOAD_LINK_MS = DAY_MS;
/** One PUT into the local folder, from its first byte to its last: 20 MB by a line of 300 kbit/s. */
export const UPLOAD_BODY_MS = 10 * MINUTE_MS;
/** Behind the begin of the hour in which a file's last link ends: that hour, and one for clocks that are apart. */
export const FILES_KEPT_AFTER_MS = 2 * HOUR_MS;
export const FILES_SWEEP_MS = HOUR_MS;
/** Storage that has failed is asked to keep no more pictures for so long: each is paid for before it is stored. */
export const STORAGE_REST_MS = 15 * SECOND_MS;
/** Of an S3 store. */
export const S3_ANSWER_MS = 30 * SECOND_MS;
export const S3_ANSWER_BYTES = 4 * 1024 * 1024;
export const S3_DELETES_AT_ONCE = 16;
export const S3_CONNECTIONS_MAX = 32;
/** Between attempts at the same request. */
export const S3_RETRIES_MS: readonly number[] = [100, 500];
/** The shortest that S3 takes; only the last may be shorter. It takes 10,000 of them. */
export const S3_PART_BYTES = 5 * MEGABYTE;
/** All of them are in memory: 30 MB. */
export const S3_PARTS_AT_ONCE = 6;
/** Some stores copy all parts of a file before they answer. */
export const S3_COMPLETE_MS = 5 * MINUTE_MS;
/** Whoever has not ended an upload of many parts by then has died. */
export const S3_UPLOAD_MS = DAY_MS;

// --- The operator at a terminal.

/** What takes longer says what it does. */
export const PROGRESS_AFTER_MS = 2 * SECOND_MS;
/** Below the first, an operator is told of the data folder's disk; below the second it counts as full. */
export const DISK_FREE_LOW_BYTES = GIGABYTE;
export const DISK_FREE_MIN_BYTES = 100 * MEGABYTE;
/** A check of `faregate doctor` that has no answer by then has found a problem. */
export const DOCTOR_CHECK_MS = 10 * SECOND_MS;
/** Whatever it asks has to answer sooner, so that the reason is told. */
export const DOCTOR_ASK_MS = 8 * SECOND_MS;
export const DOCTOR_CONNECT_MS = 3 * SECOND_MS;
/** Names that a line lists; the rest is counted. */
export const DOCTOR_NAMES_MAX = 5;

// --- The cluster.

/** A process that starts asks a store that is away again after this long, and says so once in this long. */
export const START_RETRY_MS = SECOND_MS;
export const START_SAID_MS = 30 * SECOND_MS;
/** Events that no publisher has moved to the log yet; beyond it a shard starts nothing. */
export const OUTBOX_BYTES_MAX = 16 * 1024 * 1024;
/** After so much silence a shard's partition gets a heartbeat, so that the log's own time moves on. */
export const LOG_HEARTBEAT_MS = 30 * SECOND_MS;
/** Who publishes a shard has it for this long, renews it at a third, and is followed by another when it does not. */
export const PUBLISHER_LEASE_MS = 1_500;
/** A publisher whose log does not answer leaves its shards to others for this long. */
export const PUBLISHER_YIELD_MS = SECOND_MS;
/** A start takes a key to be as live as it was so long ago; its reserve, and each refusal before that, asks anew. */
export const RECALLED_KEY_MS = 10 * SECOND_MS;
/** A key that nobody knows is asked for again after this long, and so many are remembered. */
export const UNKNOWN_KEY_MS = 5 * SECOND_MS;
export const UNKNOWN_KEYS_MAX = 10_000;
/** A process asks again after this long whether a closed shard has opened. */
export const SHARDS_LOOKED_AT_MS = SECOND_MS;
/** What a start was told of the log's lag says nothing any more after this long. */
export const OUTBOX_LAG_SEEN_MS = 10 * SECOND_MS;
/** Agents read at once from Redis. */
export const AGENTS_READ_AT_ONCE = 100;

/** Folded before what they amount to is written. */
export const PROJECTOR_RECORDS = 500;
/** Sums of usage that a shard's projection keeps; others are read again. */
export const USAGE_SUMS_KEPT = 4_000;
/** Between two attempts to write to a store that is down: from the one, doubled up to the other. */
export const PROJECTOR_RETRY_MS = 100;
export const PROJECTOR_RETRY_MS_MAX = 10 * SECOND_MS;
/** A read of the history that takes longer is answered with `unavailable`. */
export const HISTORY_READ_MS = 5 * SECOND_MS;
/** How often a process tells the others what it holds of the operator's pool. */
export const CAPACITY_SHARE_MS = SECOND_MS;
/** How often a process stores what its calls' providers took, to be compared with their bills. */
export const RECORDED_COSTS_MS = 10 * SECOND_MS;
/** Of a record that others write to us. */
export const FEED_RECORD_BYTES_MAX = 64 * 1024;
/** Of a record, named in the reason for which it is kept apart: a book of wrong levels has thousands. */
export const FEED_REASON_PROBLEMS = 5;
/** Of a record that is kept apart; of a longer one its beginning. */
export const DEAD_LETTER_BYTES_MAX = 64 * 1024;
/** Records that a handler is given at one time, and that a feeder may send to a gateway at one time. */
export const FEED_RECORDS_AT_ONCE = 1_000;
export const FEED_BODY_BYTES_MAX = 4 * MEGABYTE;

// --- The embedded journal.

/** Decided and not yet on the disk; beyond it nothing is decided. About 10 MB. */
export const JOURNAL_QUEUE_EVENTS_MAX = 20_000;
/** In one commit, which is one row: a recovery folds a row without a pause. */
export const JOURNAL_BATCH_EVENTS_MAX = 500;
/** Turns of the event loop for which a commit gathers events; after one of so many events, more. */
export const JOURNAL_TURNS = 2;
export const JOURNAL_LOADED_EVENTS = 4;
export const JOURNAL_LOADED_TURNS = 5;
/** Ended calls that wait for their rows in the history; see sqlite-journal.ts. */
export const PROJECTION_ROWS = 1_024;
export const SNAPSHOT_EVENTS = 10_000;
export const SNAPSHOT_MS = 5 * MINUTE_MS;
/** A snapshot writes agents in slices: one is over after this time or this many. */
export const SNAPSHOT_SLICE_MS = 4;
export const SNAPSHOT_SLICE_AGENTS = 100;
/** Between two attempts to open a failed journal again: from the one, doubled up to the other. */
export const JOURNAL_RETRY_MS = 100;
export const JOURNAL_RETRY_MS_MAX = 10 * SECOND_MS;
export const JOURNAL_CLOSE_MS = 10 * SECOND_MS;
/** Dropped in one transaction, and the pause between two. */
export const PRUNE_ROWS = 500;
export const PRUNE_PAUSE_MS = 100;

// --- Backups.

/** Of an archive: an agent with every call that it may have ended in an hour has some 4 MB. */
export const ARCHIVE_LINE_BYTES_MAX = 64 * 1024 * 1024;

// --- Markets.

/** Spec: Limits, market depth and candle limit. */
export const BOOK_DEPTH_MAX = 100;
export const BOOK_DEPTH_DEFAULT = 20;
export const CANDLES_MAX = 1_000;
export const CANDLES_DEFAULT = 200;
/** Spec: Limits, market response cache. */
export const MARKET_CACHE_MS = SECOND_MS;
/** An answer that is not there by then is none: its reader is told to wait. */
export const MARKET_READ_MS = 2 * SECOND_MS;
/** What markets there are was true so long ago at most, where the store cannot be reached. */
export const LISTINGS_KEPT_MS = MINUTE_MS;
/** Answers of different limits that are kept ready, of one market's candles of one interval. */
export const READY_CANDLES_MAX = 8;
/** Addresses of which a process remembers what serves them, and of markets' what they ask for. */
export const KNOWN_URLS_MAX = 10_000;
/** Longer ones are understood anew each time: no plain one is, and a stranger may send 16 KB. */
export const KNOWN_URL_CHARS_MAX = 256;
/** What a process has counted of an address it tells the others after this long. */
export const WEIGHTS_TOLD_MS = SECOND_MS / 10;
/** While Redis is away a process tries this often whether it can count with the others again. */
export const WEIGHTS_RETRY_MS = SECOND_MS;
export const TRADE_ID_CHARS_MAX = 128;
/** Of each side of a book, of one record of changes, and of a record of the book: a whole snapshot fits. */
export const BOOK_LEVELS_MAX = 5_000;
export const BOOK_CHANGES_MAX = 1_000;
export const BOOK_RECORD_BYTES_MAX = 2 * MEGABYTE;
/** Markets whose books one process keeps; some eight are open at a time. */
export const BOOKS_MAX = 64;
/** A stopped book waits for a snapshot of all that it has seen, but not for a number so far ahead that it must be wrong. */
export const BOOK_GAP_BELIEVED_MAX = 10_000;
/** A record of a number that was there before, and of a time this much later: the exchange has begun to count anew. */
export const BOOK_ANEW_MS = 5 * SECOND_MS;
/** A changed book goes to its readers this often at most, an unchanged one is said again at least this often. */
export const BOOK_PUBLISH_MS = SECOND_MS / 4;
export const BOOK_REPEAT_MS = SECOND_MS;
/** Of a book's writer: then its book is shown to nobody. */
export const BOOK_SILENCE_MS = 10 * SECOND_MS;
/** A stopped book is asked for again this often. */
export const BOOK_REQUEST_MS = 5 * SECOND_MS;
/** A snapshot that is older is asked for again: a successor reads every change since. */
export const BOOK_SNAPSHOT_AGE_MS = 10 * MINUTE_MS;
export const LIVE_CANDLES = 8;
/** Changed candles go to their readers this often at most, unchanged ones are said again this often. */
export const CANDLES_PUBLISH_MS = SECOND_MS / 4;
export const CANDLES_REPEAT_MS = SECOND_MS;
/** Markets whose candles a process has in memory, those that were traded last; of others it reads them again. */
export const MARKETS_FOLDED_MAX = 64;
/** Of a market, read again for late trades; the oldest are forgotten. */
export const OLDER_CANDLES_KEPT = 256;
/** Of a market's newest candles, whose writer says nothing: until then the store has them. */
export const LIVE_CANDLES_MS = MINUTE_MS;
/** Trades that came before others of a lower number; of more the lowest numbers are taken to be missing for ever. */
export const TRADES_AHEAD_MAX = 1_000;
/** Such holes whose numbers are remembered, so that a trade that comes too late is told from a repeated one. */
export const GIVEN_UP_RANGES_MAX = 100;
/** Of a market, trades or changes of its book: eight days at a million a second. It leaves room in a timestamp of Cassandra. */
export const MARKET_SEQ_MAX = 1_000_000_000_000;
/** Ahead of our clock: such a trade is refused, so that a date of a far future drops nothing that is kept. */
export const TRADE_IN_FUTURE_MAX_MS = HOUR_MS;
/** The same of a book's records: a book is told from an older one by its time, so that all later ones would be taken for older. */
export const BOOK_IN_FUTURE_MAX_MS = CLOCK_APART_MAX_MS;
/** Of a market, read at once for late trades. */
export const CANDLES_LOADED_AT_ONCE = 16;
/** Candles and trades, behind the end of their market. */
export const MARKET_KEPT_MS = CALLS_KEPT_MS;
/** Moves of credit that run at one time, of one partition. */
export const MOVES_AT_ONCE = 64;
/** Of a listing: a market of a coarser grid is a mistake of the exchange. */
export const PRICE_TICK_MAX_NANO = 1_000_000_000n;
export const SIZE_STEP_MAX_NANO_USD = 1_000_000_000_000n;
/** Changes of a book are of no use once a newer snapshot has come. */
export const BOOK_LOG_KEPT_MS = DAY_MS;
