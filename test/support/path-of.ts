import { FORMAT_PATHS, type FormatName } from '#core/catalog/catalog.ts';

type FormatPath<Name extends FormatName> = `/${(typeof FORMAT_PATHS)[Name]}`;

/** Where a format is called, as `/chat/completions`: below `/v1` at the gateway, and below the address of most providers. */
export const pathOf = <Name extends FormatName>(format: Name): FormatPath<Name> => `/${FORMAT_PATHS[format]}`;
