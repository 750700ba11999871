import { isIP, isIPv6 } from 'node:net';
import { VENDOR_NAMES, VENDOR_NAMES_THAT_ARE_WORDS } from '../../providers/vendor-names.ts';
import { type Phrase, REMOVED, TRACES } from './scrub-traces.ts';

/*
 * Everything that looks like an address, a path, a trace, a key or an account. Every pattern is one class of characters, or
 * bounded, so none takes more than linear time; what a word is, functions decide. Parameters, paths into a body, versions
 * and numbers stay, because a refusal without them helps nobody.
 */
export function removeByPattern(text: string): string {
  let shown = text;
  for (const [pattern, by] of PHRASES) shown = shown.replace(pattern, by);
  return shown
    .replace(WORDS, removeWord)
    .replace(IPV4_ANYWHERE, REMOVED)
    .replace(VENDOR_NAMES, 'the provider')
    .replace(VENDOR_NAMES_THAT_ARE_WORDS, 'the provider')
    .replace(REMOVED_IN_A_ROW, '');
}

const REMOVED_IN_A_ROW = /…[\s:/.,@-]{0,3}(?=…)/g;

const PHRASES: readonly Phrase[] = [
  // Paths of Windows come before line ends that are spelled out: `\new` is no line.
  [/(?<![a-z])[a-z]:\\[^\s"'<>|*?;,]{0,300}/gi, REMOVED],
  [/\\\\[^\s"'<>|*?;,]{1,300}/g, REMOVED],
  [/\\[nrt](?![a-z]{0,30}\\)/g, '\n'],
  [/\b[a-z][a-z\d+.-]{0,19}:\/\/[^\s"'`<>]*/gi, REMOVED],
  ...TRACES,
  // Credentials by the name before them.
  [
    /\b[Bb]asic\s{1,3}(?=[a-z\d+/]{0,300}[A-Z\d])(?=[A-Z\d+/]{0,300}[a-z])[A-Za-z\d+/]{8,500}={0,2}(?![\w-])/g,
    `Basic ${REMOVED}`,
  ],
  [/\bbearer(?:\s{1,3}|\s?[:=]\s?)(?!auth|token|scheme|realm|header|is\b|key)[^\s"'`,;)]{1,500}/gi, REMOVED],
  [
    /(?<![a-z])((?:api|access|secret|private|auth|bearer|subscription)[ _-]?(?:key|token)s?|authorization|password|passwd|secret|credentials?)((?: provided| used)?["'`]?\s?[:=]\s?["'`]?)[^\s"'`,;)}\]]{1,500}/gi,
    `$1$2${REMOVED}`,
  ],
  // Variables of an environment.
  [
    /\b([A-Z][A-Z\d_]{0,60}_(?:KEY|TOKEN|SECRET|PASSWORD|PAT)\s?=\s?["'`]?)[^\s"'`,;)}\]]{1,500}/g,
    `$1${REMOVED}`,
  ],
  // A path of one part looks like a path into a body, unless a word before it tells.
  [/\b((?:url|uri|route|endpoint)\s?[:=]\s?["'`]?)\/[^\s"'`<>,;)\]}]{1,300}/gi, `$1${REMOVED}`],
  // A database tells for whom it failed. Anywhere else a user in quotes is a role of a message.
  [/\b((?:failed|denied) for (?:user|role|login) )["'`][^"'`\n]{1,100}["'`]/gi, `$1${REMOVED}`],
  // Accounts by the name before them: in quotes, or with a digit or a dash in them.
  [
    /\b(organi[sz]ations?|org|projects?|accounts?|tenants?|workspaces?|teams?|subscriptions?|customers?|usernames?|buckets?|namespaces?|resource groups?|service accounts?|deployments?)((?: id| name| number| key)?\s?[:=]?\s?)(["'`])[^"'`\n]{1,100}["'`]/gi,
    `$1$2$3${REMOVED}$3`,
  ],
  [
    /\b(organi[sz]ations?|org|projects?|accounts?|tenants?|workspaces?|teams?|subscriptions?|customers?|usernames?|buckets?|namespaces?|resource groups?)((?: id| name| number)?\s?[:=]?\s)(?=[a-z\d_]{0,60}[\d_-])[\w-]{1,100}/gi,
    `$1$2${REMOVED}`,
  ],
  [
    /\b(organi[sz]ation|org|project|account|tenant|workspace|team|username|hostname|host)((?:[ _]?(?:id|name|number))?["']?\s?[:=]\s?["']?)[^\s"'`,;)}\]]{1,100}/gi,
    `$1$2${REMOVED}`,
  ],
  // Ids of a request, which hold names of hosts at some servers.
  [
    /\b((?:request|req|trace|span|correlation|cf)[ _-]?(?:id|ray)["'`:= ]{1,4})(?=\S{0,60}\d)[^\s"'`,;)]{1,200}/gi,
    `$1${REMOVED}`,
  ],
  [/\b(port\s?[:=]\s?)\d{2,5}\b/gi, `$1${REMOVED}`],
];

const WORDS = /[^\s"'`()<>{}[\],;|=]+/g;
const WORD_ENDS = /[.:!?-]{1,3}$/;

function removeWord(word: string): string {
  const core = word.replace(WORD_ENDS, '');
  if (core === '') return word;
  if (isTelling(core)) return REMOVED + word.slice(core.length);
  return word.replace(LONG_IDS, (id) => (isCallersId(id) || !looksRandom(id) ? id : REMOVED));
}

const isTelling = (word: string): boolean =>
  JOINED_TO_REMOVED.test(word) ||
  WINDOWS_PATH.test(word) ||
  word.includes('://') ||
  word.startsWith('//') ||
  /^:\d{2,5}(?:\/|$)/.test(word) ||
  /^[+-]?0x[\da-f]{6,}$/i.test(word) ||
  /^\d{12}$/.test(word) ||
  /^arn:/i.test(word) ||
  /^[\w.+-]{1,64}@[\w.-]{1,255}$/.test(word) ||
  /^[\w.%+-]{0,64}:[^@/]{1,128}@[\w[]/.test(word) ||
  (/^[\da-f]{12,}$/i.test(word) && /\d/.test(word) && /[a-f]/i.test(word)) ||
  RESOURCE.test(word) ||
  isAddress(word) ||
  isPath(word) ||
  isFile(word) ||
  isHost(word) ||
  isKey(word);

/** Part of a longer host, account or path whose other part was removed, or the port behind it. */
const JOINED_TO_REMOVED = /…\.?(?:[/@]|:\d|\.\w)|[./@]…/;

/** The rest of a path with a blank in it, or one that begins with the name of a server. */
const WINDOWS_PATH = /[\w$]\\\w{2}|^\\{1,2}[\w-]{2,}\\/;

/** Names of resources in clouds: their first part says what, their second whose. */
const RESOURCE =
  /^\/?(?:projects|organizations|folders|accounts|billingaccounts|tenants|subscriptions|resourcegroups|workspaces|publishers|foundation-model|inference-profile|application-inference-profile)\/./i;

const IPV4_ANYWHERE = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d)(?::\d{1,5})?(?:\/\d{1,2}\b)?/g;

function isAddress(word: string): boolean {
  if (isIP(word) !== 0) return true;
  if (!word.includes('::') && word.split(':').length < 7) return false;
  const [address = ''] = word.split(/[%/]/, 1);
  return isIPv6(address) || isIPv6(address.replace(/:\d{1,5}$/, ''));
}

function isPath(word: string): boolean {
  if (/^(?:~|\.\.?|[A-Za-z]:|\$[A-Z_]{2,})\/./.test(word)) return true;
  if (/^models--/i.test(word)) return true;
  if (!word.startsWith('/')) return false;
  const parts = word
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '');
  const [first = ''] = parts;
  // An interface's own paths and paths into a body say what to change.
  if (parts.every((part) => /^v\d[a-z\d]{0,8}$/.test(part) || INTERFACE_PARTS.has(part))) return false;
  if (BODY_PARTS.has(first)) return false;
  return parts.length > 1 || FOLDERS.has(first) || first.includes('.');
}

const INTERFACE_PARTS: ReadonlySet<string> = new Set(
  `audio batches chat completions count_tokens edits embeddings files generations images messages models moderations
  rerank responses speech transcriptions videos`.split(/\s+/),
);
const BODY_PARTS: ReadonlySet<string> = new Set(
  `$defs anyof body content contents definitions function functions generationconfig input instructions items
  max_tokens messages metadata model oneof parameters properties reasoning required response_format schema stop system
  text tool_choice tools type`.split(/\s+/),
);
const FOLDERS: ReadonlySet<string> = new Set(
  `app bin code data dev etc home lib local media mnt opt proc root run srv sys tmp users usr var volumes
  workspace`.split(/\s+/),
);

/** Source files, models and settings of a server. Files of callers (`.pdf`, `.png`, `.csv`, …) have other endings. */
const isFile = (word: string): boolean => SERVER_FILE.test(word);
const SERVER_FILE =
  /[\w)]\.(?:py|pyc|pyx|js|mjs|cjs|ts|go|rs|rb|java|kt|cpp|cc|cu|php|dll|so|gguf|ggml|safetensors|onnx|pt|pth|jinja|yaml|yml|toml|ini|conf|env|pem|crt|sock|log)(?::\d{1,7}){0,2}$/i;

function isHost(word: string): boolean {
  const [, name = '', port, path] = HOST.exec(word) ?? [];
  if (name === '') return false;
  const labels = name.toLowerCase().split('.');
  const last = labels.at(-1) ?? '';
  if (!/[a-z]/i.test(last) && labels.length > 1) return false;
  if (name === 'localhost' || /^ip-\d{1,3}(?:-\d{1,3}){3}/.test(name)) return true;
  if (port !== undefined && isPort(name, Number(port))) return true;
  if (labels.length < 2 || name.includes('_') || labels.some((label) => label === '')) return false;
  if (HOST_ENDINGS.has(last)) return true;
  // Three names with a dash among them are no path into a body.
  const isDashed = name.includes('-') && labels.every((label) => /^[a-z][a-z\d-]*$/.test(label));
  return labels.length > 2 && (isDashed || path !== undefined);
}

const HOST = /^([a-z\d][\w.-]{0,252})(?::(\d{2,5}))?(\/.*)?$/i;

/** `vllm:8000` is a server, `max_tokens:4096`, `12:30` and `16:9` are none. */
function isPort(name: string, port: number): boolean {
  if (port > 65_535 || !/[a-z]/i.test(name)) return false;
  if (name.includes('.')) return true;
  if (port < 1_000 && port !== 80 && port !== 443) return false;
  return !name
    .toLowerCase()
    .split(/[_-]/)
    .some((part) => COUNTED.has(part));
}

const COUNTED: ReadonlySet<string> = new Set(
  `actual allowed at batch budget bytes char character chars code col column completion context count ctx current error
  expected fps frames got height id index input is k length limit line max maximum min minimum model n num offset output
  pixels position prompt quality rate requested seed seq size status step steps tokens token top total used value width
  window`.split(/\s+/),
);

const HOST_ENDINGS: ReadonlySet<string> = new Set(
  `ai app au biz br ca cc ch cloud cluster cn co com consul corp de dev edu es eu example fr gg gov home hk host info
  intra intranet internal invalid io jp kr kube lan local localdomain localhost ly me ml net nl online onion org pl
  priv private ru sg sh site svc test tv tw uk us xyz`.split(/\s+/),
);

const KEY_WITH_PREFIX =
  /^(?:org|proj|user|req|key|token|secret|acct|account|chatcmpl|cmpl|gen|resp|hf|fw|xai|pplx|nvapi|r8|tgp|gh[pousr]|glpat|xox[abps]|pat|sess|asst|tenant|team|workspace|pk|rk|csk|vllm|litellm)[-_](?=[\w-]{0,80}\d)[\w-]{6,}$/i;

const isKey = (word: string): boolean =>
  /^g?sk[-_][\w-]{3,}/i.test(word) ||
  KEY_WITH_PREFIX.test(word) ||
  (/^(?:org|proj|acct)[-_]\w{8,}$/.test(word) && /[a-z][A-Z]/.test(word)) ||
  /^(?:AIza[\w-]{20,}|(?:AKIA|ASIA)[A-Z\d]{8,}|ya29\.|eyJ[\w-]{10,}\.)/.test(word);

const LONG_IDS = /[\w-]{20,}/g;

/** Of a conversation: the caller sent it, and learns by it which part is meant. */
const isCallersId = (id: string): boolean => /^(?:call|toolu|fc|ctc|msg|rs)_/.test(id);

/** Twenty letters and digits are nobody's words, unless they are words with a dash below between them. */
const looksRandom = (id: string): boolean =>
  /\d/.test(id) && /[a-z]/i.test(id) && !id.split('_').every((part) => WORD_OF_A_NAME.test(part));
const WORD_OF_A_NAME = /^(?:[a-z]{0,20}\d{0,2}|[A-Z]{0,20}\d{0,2}|\d{1,4})$/;
