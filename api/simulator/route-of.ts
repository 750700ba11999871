/** Where a request goes, as scripts name it, and whose id stands in its path. */
export interface SimRoute {
  path: string;
  id: string;
}

const WITH_ID: readonly { pattern: RegExp; path: string }[] = [
  { pattern: /^\/videos\/([^/]+)\/content$/, path: '/videos/{id}/content' },
  { pattern: /^\/videos\/([^/]+)$/, path: '/videos/{id}' },
  { pattern: /^\/images\/models\/([^/]+\/[^/]+)\/endpoints$/, path: '/images/models/{id}/endpoints' },
];

export function routeOf(path: string): SimRoute {
  if (path === '/videos/models') return { path, id: '' };
  for (const each of WITH_ID) {
    const id = each.pattern.exec(path)?.[1];
    if (id !== undefined) return { path: each.path, id };
  }
  return { path, id: '' };
}
