import type { Gaps } from './gaps.ts';

/**
 * What a router is asked to do around the answer has words in no other format, but for searches and fetches: those are
 * written into the result (`server-tools/`).
 */
export function addPluginGaps({ plugins, transforms }: Readonly<Record<string, unknown>>, gaps: Gaps): void {
  for (const [index, plugin] of gaps.records(plugins, 'plugins').entries()) {
    if (plugin.enabled === false || WRITTEN.has(plugin.id)) continue;
    gaps.add(`plugins[${index}]`);
  }
  // The older name of a plugin that shortens the prompt.
  if (gaps.texts(transforms, 'transforms').length > 0) gaps.add('transforms');
}

const WRITTEN: ReadonlySet<unknown> = new Set(['web', 'web-fetch']);
