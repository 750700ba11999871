import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../../package.json', import.meta.url);

/** The release that runs, such as `0.1.0`. */
export const programVersion: string = JSON.parse(readFileSync(PACKAGE, 'utf8')).version;
