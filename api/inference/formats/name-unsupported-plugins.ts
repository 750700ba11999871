import type { UnsupportedFields } from './unsupported-fields.ts';

/**
 * Only searches and fetches, of all that a router is asked to do around the answer, have words in other formats: those are
 * written into the result (`server-tools/`).
 */
export function nameUnsupportedPlugins(
  { plugins, transforms }: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): void {
  for (const [index, plugin] of unsupported.records(plugins, 'plugins').entries()) {
    if (plugin.enabled === false || WRITTEN.has(plugin.id)) continue;
    unsupported.leaveOut(`plugins[${index}]`);
  }
  // The older name of a plugin that shortens the prompt.
  if (unsupported.texts(transforms, 'transforms').length > 0) unsupported.leaveOut('transforms');
}

const WRITTEN: ReadonlySet<unknown> = new Set(['web', 'web-fetch']);
