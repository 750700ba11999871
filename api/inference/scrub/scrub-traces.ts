/** Stands in the place of whatever was removed. */
export const REMOVED = '…';

/** What a pattern finds, and what stands in its place. */
export type Phrase = readonly [pattern: RegExp, by: string];

/*
 * Frames of traces, in the words of each language, and the libraries of a server that called another one: they tell that the provider is
 * a proxy, of which kind, and how its code is laid out. Every pattern begins with a fixed word or behind a blank, and is bounded.
 */
export const TRACES: readonly Phrase[] = [
  // Python.
  [/Traceback \(most recent call last\):?/gi, ' '],
  [
    /\bFile ["'][^"'\n]{0,400}["'], line \d{1,7}(?:, in [\w.<>]{1,100})?(?:\n[ \t]{2,8}[^\n]{0,300})?/g,
    REMOVED,
  ],
  [/\bFile [^\s"',]{1,200},? line \d{1,7}(?:, in [\w.<>]{1,100})?/g, REMOVED],
  // JavaScript, Java, Kotlin, Scala and C#.
  [
    /\bat (?:async |new )?[^\s()]{1,200}(?: \[as [\w.]{1,60}\])? ?\([^()\n]{1,400}:\d{1,7}(?::\d{1,7})?\)/g,
    REMOVED,
  ],
  [/\bat [^\s()]{1,200} ?\((?:native(?: method)?|unknown source|<anonymous>|index \d{1,7})\)/gi, REMOVED],
  [/\bat async Promise\.[a-z]{1,20} \(index \d{1,7}\)/gi, REMOVED],
  [
    /\bat [a-z_$<][\w$<>/]{0,80}(?:\.[a-z_$<][\w$<>/]{0,80}){1,12}\([^()\n]{0,400}\)(?: in [^\s]{1,200}:line \d{1,7})?/gi,
    REMOVED,
  ],
  // The same without its `at`, as log lines have it: a file of source code tells it from words.
  [
    /(?<![\w.$])(?:[A-Za-z_$][\w$]{0,80}\.){1,12}[\w$<>]{1,80}\([\w$-]{1,80}\.(?:java|kt|scala|groovy|cs|clj)(?::\d{1,7})?\)/g,
    REMOVED,
  ],
  [/\.\.\. \d{1,4} (?:more|common frames omitted)\b/g, REMOVED],
  // Go.
  [/\bgoroutine \d{1,9} \[[a-z ,\d]{1,40}\]:?/g, REMOVED],
  [/\bcreated by (?=[\w/*()-]{0,100}[./]\w)[\w./*()-]{1,200}(?: in goroutine \d{1,9})?/g, REMOVED],
  [
    /(?<![\w./-])[\w./-]{0,200}\(\*[A-Za-z]\w{0,80}\)(?:\.\w{1,80}){0,4}(?:\((?:\.{3}|[\da-fx{}, ?.]{0,200})\))?/g,
    REMOVED,
  ],
  [/(?<![\w./-])[\w./-]{1,200}\((?:\.{3}|\{?0x[\da-f]{1,16}[\da-fx{}, ?.]{0,200})\)/g, REMOVED],
  [/\+0x[\da-f]{1,16}\b/g, REMOVED],
  // Rust. An IPv6 address is written with double colons, too.
  [/\bthread ['`][^'`\n]{1,100}['`](?: \(\d{1,9}\))? panicked at\b/g, REMOVED],
  [/\bstack backtrace:/gi, REMOVED],
  [/\brust_(?:begin_unwind|panic\w{0,40})\b/g, REMOVED],
  [
    /(?<![\w:])(?![\da-f:]{2,40}(?!\w))<?[a-z_]\w{0,60}(?:::(?:\{\{?[\w#]{1,30}\}?\}|[a-z_]\w{0,60}>?)){1,12}(?:\(\))?/gi,
    REMOVED,
  ],
  // Ruby and PHP.
  [/(?<![\w./-])[\w./-]{0,200}\.rb:\d{1,7}:in [`'"][^`'"\n]{1,100}['"]/g, REMOVED],
  [/#\d{1,3} [^\s()]{1,300}\(\d{1,7}\): [^\s()]{1,200}\(\)?/g, REMOVED],
  [/#\d{1,3} \{main\}/g, REMOVED],
  // A class of an error with its package, such as `java.net.ConnectException` and `requests.exceptions.ReadTimeout`.
  [
    /(?<![\w.$-])(?:[a-z_]\w{0,60}\.){1,10}_?[a-z][\w$]{0,80}(?:Exception|Error|Timeout|Failure|Fault)\b/gi,
    REMOVED,
  ],
  [
    /\b(?:python-)?(?:urllib3|httpx|httpcore|aiohttp|botocore|boto3|grpc(?:io)?|reqwest|undici|axios|okhttp3?|netty|starlette|uvicorn|gunicorn|fastapi|pydantic(?:_core)?|werkzeug|tokio|axum)(?:Error|Exception)?(?:\.\w{1,80}){0,8}(?:\/[\d.]{1,20})?\b/gi,
    REMOVED,
  ],
  [/\bwhen calling the \w{1,60} operation(?: \([^()\n]{1,100}\))?/g, REMOVED],
  [/\b(?:InvokeModel(?:WithResponseStream)?|ConverseStream)\b/g, REMOVED],
  [/\bUND_ERR_\w{1,40}\b/g, REMOVED],
];
