import { createHmac, randomBytes } from 'node:crypto';
import { isRecord } from '#core/is-record.ts';
import { parseRecord } from '../json/parse-record.ts';
import { type Hidden, repeatsHidden } from './scrub-words.ts';

/**
 * An answer, or one event of it, without the members beside its content that repeat the provider's key, its address or its name of the
 * model. Servers write their host, their file of the model or the parameters of the call there, under names that no list has all of. An
 * answer without any is the same buffer, and is searched for the words alone, not parsed.
 */
export function withoutHiddenMembers(record: Buffer, hidden: Hidden): Buffer {
  if (!mayTellHidden(record, hidden)) return record;
  const value = parseRecord(record);
  return value !== null && cleanRecord(value, hidden) ? Buffer.from(JSON.stringify(value)) : record;
}

/** Whether one of the words stands in these bytes, in the answer's own text perhaps. */
export const mayTellHidden = (bytes: Buffer, hidden: Hidden): boolean =>
  needlesOf(hidden).some((needle) => bytes.includes(needle));

function needlesOf(hidden: Hidden): readonly Buffer[] {
  const known = needles.get(hidden);
  if (known !== undefined) return known;
  const { provider, upstreamModel, publicModel } = hidden;
  const { hostname = '', username = '', password = '' } = URL.parse(provider.baseUrl) ?? {};
  const bare = hostname.replace(/^\[|\]$/g, '');
  // Every form of an address has the last two labels of its host in it.
  const host = /[a-z]/i.test(bare) && !bare.includes(':') ? bare.split('.').slice(-2).join('.') : bare;
  const words = [provider.apiKey ?? '', host, username, password].filter((word) => word.length > 1);
  if (upstreamModel !== publicModel) words.push(modelNeedle(hidden));
  const made = [...words.map((word) => Buffer.from(word)), INTERNAL_NEEDLE];
  needles.set(hidden, made);
  return made;
}

const needles = new WeakMap<Hidden, readonly Buffer[]>();

/** A short name, or one that is a part of the public one, counts as a whole value only. */
function modelNeedle({ upstreamModel, publicModel }: Hidden): string {
  const isTelling = upstreamModel.length >= MODEL_CHARS_MIN && !publicModel.includes(upstreamModel);
  return isTelling ? upstreamModel : JSON.stringify(upstreamModel);
}

const MODEL_CHARS_MIN = 6;

function tells(json: string, hidden: Hidden): boolean {
  const namesModel = hidden.upstreamModel !== hidden.publicModel && json.includes(modelNeedle(hidden));
  return namesModel || repeatsHidden(json, hidden.provider);
}

/** @returns Whether anything was changed. */
function cleanRecord(record: Record<string, unknown>, hidden: Hidden): boolean {
  let isChanged = false;
  for (const [name, value] of Object.entries(record)) {
    if (SAID.has(name) || (record.object === 'response' && name === 'metadata')) continue;
    if (HOLDERS.has(name)) {
      const changes = (Array.isArray(value) ? value : [value]).map(
        (each) => isRecord(each) && !JSON.isRawJSON(each) && cleanRecord(each, hidden),
      );
      isChanged ||= changes.includes(true);
      continue;
    }
    if (!INTERNAL.has(name) && !tells(JSON.stringify(value), hidden)) continue;
    isChanged = true;
    if (typeof value === 'string' && IDS.has(name)) record[name] = ownId(value);
    else if (name === 'status') record[name] = 'completed';
    else if (name === 'model' && record.type !== undefined) record[name] = hidden.publicModel;
    else if (name === 'model' && record.choices !== undefined) record[name] = hidden.publicModel;
    else delete record[name];
  }
  return isChanged;
}

/** The same id in each event. Its beginning stays, because servers that are sent an id back ask how it begins. */
function ownId(id: string): string {
  const digest = createHmac('sha256', SALT).update(id).digest('hex').slice(0, ID_CHARS);
  return `${/^[a-z]{2,6}_/.exec(id)?.[0] ?? 'call_'}${digest}`;
}

const SALT = randomBytes(32);
const ID_CHARS = 24;
const IDS: ReadonlySet<string> = new Set([
  'id',
  'call_id',
  'item_id',
  'response_id',
  'tool_call_id',
  'tool_use_id',
]);

/** Parts of an answer whose own members are looked at one by one. */
const HOLDERS: ReadonlySet<string> = new Set([
  'choices',
  'content',
  'content_block',
  'custom',
  'delta',
  'function',
  'item',
  'message',
  'output',
  'part',
  'response',
  'tool_calls',
  'usage',
]);

/**
 * Content that the model wrote or found, words of the format, and members of the request that an answer repeats. An address of the
 * provider may stand in them by right, as in a patch for a client of it.
 */
const SAID: ReadonlySet<string> = new Set([
  ...[
    'action',
    'actions',
    'annotation',
    'annotations',
    'arguments',
    'audio',
    'b64_json',
    'citation',
    'citations',
  ],
  ...['code', 'command', 'commands', 'content_parts', 'data', 'diff', 'encrypted_content', 'error', 'file'],
  ...[
    'finish_reason',
    'image_url',
    'images',
    'input',
    'instructions',
    'logprobs',
    'name',
    'namespace',
    'object',
  ],
  ...[
    'operation',
    'output_text',
    'outputs',
    'partial_json',
    'parts',
    'prompt',
    'prompt_cache_key',
    'queries',
    'query',
  ],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'refusal', 'result', 'results', 'role'],
  ...[
    'safety_identifier',
    'search_info',
    'search_results',
    'signature',
    'source',
    'sources',
    'stop_sequence',
  ],
  ...[
    'summary',
    'text',
    'thinking',
    'thinking_blocks',
    'thought',
    'thoughts',
    'title',
    'tool_choice',
    'tools',
  ],
  ...['transcript', 'type', 'url', 'user', 'web_search'],
]);

/** Members that servers write for other servers of the operator: where they run, and what a proxy was configured with. */
const INTERNAL: ReadonlySet<string> = new Set(['kv_transfer_params', '_hidden_params']);
const INTERNAL_NEEDLE = Buffer.from('_params"');
