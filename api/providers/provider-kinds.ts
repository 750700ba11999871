import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { anthropic } from './anthropic/kind.ts';
import { openai } from './openai/kind.ts';
import { openrouter, simulator } from './openrouter/kind.ts';

/** Every kind of provider, by the name that the configuration gives it. A new kind is one line here and its folder. */
export const providerKinds = { openrouter, openai, anthropic, simulator } as const satisfies Readonly<
  Record<string, ProviderKind>
>;

export type ProviderKindName = keyof typeof providerKinds;

export const PROVIDER_KIND_NAMES = Object.keys(providerKinds) as [string, ...string[]];

/** `undefined`: no kind has this name. */
export function findKind(name: string): ProviderKind | undefined {
  const kinds: Readonly<Record<string, ProviderKind>> = providerKinds;
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

/** Throws for a name that no kind has: the schema of the configuration lets none through. */
export function kindNamed(name: string): ProviderKind {
  const kind = findKind(name);
  if (kind === undefined) throw new Error(`There is no kind of provider named ${name}.`);
  return kind;
}
