export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
}

/** Blocks and keys that the chart writes itself, from values of their own. */
const written = ['storage', 'files', 'admin', 'market'];
const writtenOfServer = ['host', 'port', 'internalHost', 'internalPort', 'drainNoticeMs', 'drainMs'];
/** The drain and the routes are reckoned with these. */
const neededLimits = ['streamMs', 'callMs', 'requestBodyBytes'];

/** The server's schema without what does not stand under `config` in the values. */
export function configSchemaOfValues(schema: unknown): JsonSchema {
  const { $schema, title, properties = {}, ...rest } = structuredClone(schema) as JsonSchema;
  const { server = {}, limits = {} } = properties;
  return {
    ...rest,
    properties: {
      ...omit(properties, written),
      server: { ...server, properties: omit(server.properties ?? {}, writtenOfServer) },
      limits: { ...limits, required: neededLimits },
    },
    required: ['limits'],
  };
}

const omit = (of: Record<string, JsonSchema>, names: readonly string[]): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(of).filter(([name]) => !names.includes(name)));
