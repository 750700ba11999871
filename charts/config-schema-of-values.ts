import { patterns } from './patterns.ts';

export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
}

/** Blocks and keys that the chart writes itself, from values of their own. */
const written = ['storage', 'files', 'admin', 'market'];
const writtenOfServer = ['host', 'port', 'internalHost', 'internalPort', 'drainNoticeMs', 'drainMs'];
/** The drain and the routes are reckoned with these. */
const neededLimits = ['streamMs', 'callMs', 'requestBodyBytes'];

/**
 * The server's schema without what does not stand under `config` in the values, and with what its process says only as it starts:
 * a pod that ends there says it to nobody who installs. What needs a sentence, `templates/check/first/check.yaml` has.
 */
export function configSchemaOfValues(schema: unknown): JsonSchema {
  const { $schema, title, properties = {}, ...rest } = withAddresses(schema);
  const { server = {}, limits = {}, providers = {}, models = {} } = properties;
  return {
    ...rest,
    properties: {
      ...omit(properties, written),
      server: { ...server, properties: serverKeys(server.properties ?? {}) },
      limits: { ...limits, required: neededLimits },
      providers: { ...providers, items: { ...(providers.items as JsonSchema), allOf: ofProvider } },
      models: { ...models, items: { ...(models.items as JsonSchema), ...ofModel } },
    },
    required: ['limits'],
  };
}

/** A `format` is a remark for Helm, and no rule. */
const withAddresses = (schema: unknown): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (_, each: JsonSchema | null) =>
    each?.format === 'uri' ? { ...each, pattern: patterns.webAddress } : each,
  ) as JsonSchema;

const serverKeys = (keys: Record<string, JsonSchema>): Record<string, JsonSchema> => ({
  ...omit(keys, writtenOfServer),
  trustedProxies: {
    ...keys.trustedProxies,
    items: { type: 'string', pattern: patterns.addressOrNetwork },
  },
});

const isKind = (kind: string): JsonSchema => ({ properties: { kind: { const: kind } }, required: ['kind'] });

/** A simulator inside of one process is none of the others': only mode embedded takes it. */
export const simulatorElsewhere: JsonSchema = {
  if: isKind('simulator'),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['baseUrl'] },
};

/** A refusal of it names the key. */
const never: JsonSchema = { not: {} };

const ofProvider: JsonSchema[] = [
  {
    if: isKind('openai'),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['baseUrl'], properties: { catalog: { const: 'none' } } },
    else: { properties: { dialect: never } },
  },
  { dependentSchemas: { apiKeyEnv: { properties: { apiKeyFile: never } } } },
];

const ofModel: JsonSchema = {
  if: { properties: { stopped: { const: true } }, required: ['stopped'] },
  else: { required: ['contextLength', 'endpoints'] },
};

const omit = (of: Record<string, JsonSchema>, names: readonly string[]): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(of).filter(([name]) => !names.includes(name)));
