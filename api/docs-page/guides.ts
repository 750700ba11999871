/** The guides, in the order in which somebody new reads them: names of files in `docs/guides`, and of places in the page. */
export const guides = [
  'quickstart',
  'money',
  'errors',
  'streaming',
  'tools',
  'fields',
  'media',
  'markets',
  'mcp',
  'limits',
  'migration',
  'clients',
  'works-with',
] as const;
