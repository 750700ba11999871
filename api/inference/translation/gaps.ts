/**
 * Names of what a translation has no words for, such as `messages[0].name`. What cannot be said to a provider is refused
 * by its name before anything is held, never dropped.
 */
export class Gaps {
  readonly params: string[] = [];

  add(param: string): void {
    this.params.push(param);
  }

  /** Every member that is set, that no set of names holds. `path`: ends in a dot, or is empty. */
  unknown(
    value: Readonly<Record<string, unknown>>,
    path: string,
    ...known: readonly ReadonlySet<string>[]
  ): void {
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined || member === null || saysNothing(name, member)) continue;
      if (!known.some((names) => names.has(name))) this.add(path + name);
    }
  }
}

/** What the gateway itself has read, and writes into every body. */
export const OURS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
]);

/** Some clients always send values that ask for what happens anyway. */
export const saysNothing = (name: string, value: unknown): boolean => SAYS_NOTHING.get(name) === value;

const SAYS_NOTHING: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['n', 1],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['repetition_penalty', 1],
  ['min_p', 0],
  ['top_a', 0],
  ['best_of', 1],
]);

/**
 * Of no effect on the answer: tags, and hints for caches and routes, which a provider of another format has no use for.
 */
export const HINTS: ReadonlySet<string> = new Set([
  'cache_control',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'session_id',
  'user',
  'metadata',
  'safety_identifier',
  'service_tier',
  'store',
  'background',
  'include',
  'truncation',
  'usage',
  'trace',
  'route',
  'provider',
  'plugins',
  'transforms',
  'stream_options',
  'context_management',
]);
