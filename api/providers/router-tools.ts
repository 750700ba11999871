/** The tools that the router runs in the middle of an answer, by the `type` of their entries in `tools`. Callers use the same names. */
export const ROUTER_TOOLS = {
  search: 'openrouter:web_search',
  fetch: 'openrouter:web_fetch',
  clock: 'openrouter:datetime',
} as const;

/** Of the router's models, only this vendor's keep to `max_uses` when they search by themselves. */
export const boundsItsSearches = (upstreamModel: string): boolean => upstreamModel.startsWith('anthropic/');
