import { useResource } from './use-resource.js';

/** @returns {import('./use-resource.js').Resource<import('./records.d.ts').Limits>} */
export const useLimits = () => useResource('limits', (gateway) => gateway.tool('get_limits'));
