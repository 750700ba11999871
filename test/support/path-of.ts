import { FORMAT_NAMES, FORMAT_PATHS, type FormatName } from '#core/catalog/catalog.ts';

type FormatPath<Name extends FormatName> = `/${(typeof FORMAT_PATHS)[Name]}`;

/** Where a format is called, as `/chat/completions`: below `/v1` at the gateway, and below the address of most providers. */
export const pathOf = <Name extends FormatName>(format: Name): FormatPath<Name> => `/${FORMAT_PATHS[format]}`;

/** Throws for a path where no format is called. */
export function formatAt(path: string): FormatName {
  const format = FORMAT_NAMES.find((name) => pathOf(name) === path);
  if (format === undefined) throw new Error(`No format is called at ${path}.`);
  return format;
}
