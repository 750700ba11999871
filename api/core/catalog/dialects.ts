import type { FormatName } from './catalog.ts';
import { GOOGLE_FIELDS, SELF_HOSTED_FIELDS } from './dialect-fields.ts';
import { isPrivateHost } from './private-host.ts';

/**
 * What a server of kind `openai` does otherwise than others, as far as the gateway acts on it. Answers are read alike from
 * all: every known variant of usage, thought and errors is understood whoever sends it.
 */
export interface Dialect {
  /** Spoken where the operator names none. */
  formats: readonly FormatName[];
  /** The vendor's own addresses: nobody has to say what is spoken there. */
  hosts: readonly string[];
  /** The one name of a chat's output cap that every version and model of this server heeds. */
  capField: 'max_tokens' | 'max_completion_tokens';
  /** `inline`: it reads no links, or would follow them from inside the operator's network. */
  images: ImageSource;
  /** The only fields that may be sent. `null`: those that nobody knows pass. */
  fields: Readonly<Record<FormatName, ReadonlySet<string>>> | null;
  /** Fields that it answers with an error; `messages[].name` stands for that of any message. */
  refusedFields: ReadonlySet<string>;
  /** Members of answers that name the vendor, or our account there: no caller sees them. */
  vendorFields: readonly string[];
  /** Where its cache of prompts, which all callers share, is kept apart by a salt of each agent. */
  saltedFormats: readonly FormatName[];
}

export type ImageSource = 'url' | 'inline';

export type DialectName = keyof typeof dialects;

const NONE: ReadonlySet<string> = new Set();

/** Conservative when writing: what the oldest compatible server understands. */
const other: Dialect = {
  formats: ['chat/completions'],
  hosts: [],
  capField: 'max_tokens',
  images: 'url',
  fields: null,
  refusedFields: NONE,
  vendorFields: [],
  saltedFormats: [],
};

export const dialects = {
  other,
  // Its own responses refer to thought that it keeps, or has not kept: who sends it back would be told that it is gone.
  openai: { ...other, hosts: ['api.openai.com'], capField: 'max_completion_tokens' },
  vllm: {
    ...other,
    images: 'inline',
    fields: SELF_HOSTED_FIELDS,
    saltedFormats: ['chat/completions', 'responses'],
  },
  sglang: { ...other, images: 'inline', fields: SELF_HOSTED_FIELDS, saltedFormats: ['chat/completions'] },
  ollama: { ...other, images: 'inline', fields: SELF_HOSTED_FIELDS },
  // Any server in the operator's own network of which nothing else is known: the same care as for those that are known.
  'self-hosted': { ...other, images: 'inline', fields: SELF_HOSTED_FIELDS },
  groq: {
    ...other,
    hosts: ['api.groq.com'],
    refusedFields: new Set(['logprobs', 'top_logprobs', 'logit_bias', 'n', 'messages[].name']),
    vendorFields: ['x_groq'],
  },
  together: { ...other, hosts: ['api.together.ai', 'api.together.xyz'] },
  fireworks: { ...other, formats: ['chat/completions', 'messages'], hosts: ['api.fireworks.ai'] },
  deepseek: { ...other, hosts: ['api.deepseek.com'] },
  google: { ...other, hosts: ['generativelanguage.googleapis.com'], fields: GOOGLE_FIELDS },
} as const satisfies Record<string, Dialect>;

export const DIALECT_NAMES = Object.keys(dialects) as [DialectName, ...DialectName[]];

/**
 * The dialect of a server whose dialect nobody has written down: a vendor's at its own address, the careful one at an address
 * that is private, else `other`, of which only a name server can tell whether it should have been the careful one.
 */
export function dialectAt(baseUrl: string): DialectName {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  const vendors = DIALECT_NAMES.find((name) => dialects[name].hosts.some((each) => each === host));
  return vendors ?? (isPrivateHost(host) ? 'self-hosted' : 'other');
}
