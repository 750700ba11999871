import { useResource } from './use-resource.js';

/** @returns {import('./use-resource.js').Resource<import('./records.d.ts').KeyList>} */
export const useKeys = () => useResource('keys', (gateway) => gateway.tool('list_keys'));
