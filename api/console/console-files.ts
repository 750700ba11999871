import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { packageFolder, pageHeaders, type StaticFile } from '../http/mount-static-files.ts';

/** Where the console lives. Its page names its parts by whole paths below it. */
export const CONSOLE_PATH = '/console';

const PAGE = join(import.meta.dirname, 'page');

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

interface Vendored {
  /** Below `/console/vendor/`. */
  as: string;
  package: string;
  /** Inside the package. */
  file: string;
}

/** All that comes from packages: exactly these files. */
const vendored: readonly Vendored[] = [
  { as: 'preact.js', package: 'preact', file: 'dist/preact.mjs' },
  { as: 'preact-hooks.js', package: 'preact', file: 'hooks/dist/hooks.mjs' },
  { as: 'htm.js', package: 'htm', file: 'dist/htm.mjs' },
  { as: 'uplot.js', package: 'uplot', file: 'dist/uPlot.esm.js' },
  {
    as: 'lightweight-charts.js',
    package: 'lightweight-charts',
    file: 'dist/lightweight-charts.standalone.production.mjs',
  },
  { as: 'uplot.css', package: 'uplot', file: 'dist/uPlot.min.css' },
  ...['latin', 'latin-ext'].map((subset) => ({
    as: `inter-${subset}.woff2`,
    package: '@fontsource-variable/inter',
    file: `files/inter-${subset}-wght-normal.woff2`,
  })),
];

/** Names in which a vendored module asks for another: a browser knows addresses alone. */
const addresses: Readonly<Record<string, string>> = { preact: `${CONSOLE_PATH}/vendor/preact.js` };

/**
 * No script or style but our own, images and videos from where links to files lead, nothing in line, no frame around
 * it, and no text that becomes markup: labels and names of models are others' words.
 */
export const consoleHeaders = (filesOrigin: string): Readonly<Record<string, string>> =>
  pageHeaders(
    `img-src 'self' ${filesOrigin}`,
    `media-src 'self' ${filesOrigin}`,
    // A video's file is found by following the gateway there.
    `connect-src 'self' ${filesOrigin}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  );

/** The console as it is served. Read once, at the start. */
export const readConsole = (): StaticFile[] => [...ownFiles(), ...vendored.map(readVendored)];

function ownFiles(): StaticFile[] {
  return readdirSync(PAGE, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) return [];
    const below = name.split(sep).join('/');
    const path = below === 'index.html' ? CONSOLE_PATH : `${CONSOLE_PATH}/${below}`;
    return [{ path, contentType, bytes: readFileSync(join(PAGE, name)) }];
  });
}

function readVendored({ as, package: name, file }: Vendored): StaticFile {
  const bytes = readFileSync(join(packageFolder(name), file));
  const contentType = contentTypes[extname(as)] ?? 'application/octet-stream';
  return {
    path: `${CONSOLE_PATH}/vendor/${as}`,
    contentType,
    bytes: as.endsWith('.js') ? Buffer.from(withAddresses(bytes.toString())) : bytes,
  };
}

const withAddresses = (source: string): string =>
  Object.entries(addresses).reduce(
    (text, [name, address]) => text.replaceAll(`from"${name}"`, `from"${address}"`),
    source,
  );
