import { useResource } from './use-resource.js';

/** @returns {import('./use-resource.js').Resource<import('./records.d.ts').Balance>} */
export const useBalance = () => useResource('balance', (gateway) => gateway.v1('/balance'));
