import { fileURLToPath } from 'node:url';

/**
 * As the Makefile sets it, for programs that get nothing else of this environment: without it each start compiles all
 * sources anew, half a second of a core.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.cache/compile', import.meta.url)),
};
