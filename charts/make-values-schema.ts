import { type JsonSchema, simulatorElsewhere } from './config-schema-of-values.ts';
import { patterns } from './patterns.ts';
import type { Value } from './read-values.ts';

const quantity = {
  type: ['string', 'number'],
  pattern: '^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$',
  minimum: 0,
};
const seconds = (minimum: number, maximum: number): JsonSchema => ({ type: 'integer', minimum, maximum });
const closed = (properties: Record<string, unknown>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties: properties as Record<string, JsonSchema>,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});
/** A refusal of a key names the map and the key, which one of `propertyNames` does not. */
const keyed = (value: JsonSchema): JsonSchema => ({
  type: 'object',
  patternProperties: { [patterns.metadataKey]: value },
  additionalProperties: false,
});
const probe = {
  periodSeconds: seconds(1, 3_600),
  timeoutSeconds: seconds(1, 3_600),
  failureThreshold: seconds(1, 1_000),
  initialDelaySeconds: seconds(0, 3_600),
};
const oneToAll = '([1-9]|[1-9][0-9]|100)%';

/** What several values are, by the names that their lines `# schema:` use. */
const shared: Record<string, JsonSchema> = {
  name: { type: 'string', pattern: patterns.name, maxLength: 253 },
  names: { type: 'array', items: { $ref: '#/$defs/name', minLength: 1 } },
  hostNames: {
    type: 'array',
    items: {
      type: 'string',
      pattern: patterns.hostName,
      not: { pattern: patterns.noHostName },
      maxLength: 253,
    },
  },
  exceptV4: { type: 'array', items: { type: 'string', pattern: patterns.exceptV4 } },
  exceptV6: { type: 'array', items: { type: 'string', pattern: patterns.exceptV6 } },
  networks: {
    type: 'array',
    items: {
      anyOf: [
        { type: 'string', pattern: patterns.networkV4 },
        { type: 'string', pattern: patterns.networkV6 },
      ],
    },
  },
  hostsAndPorts: {
    type: 'array',
    maxItems: 100,
    items: { type: 'string', pattern: patterns.hostAndPort, maxLength: 255 },
  },
  redisAddresses: {
    type: 'array',
    maxItems: 100,
    items: { type: 'string', pattern: patterns.redisAddress },
  },
  webAddress: {
    anyOf: [
      { type: 'string', const: '' },
      { type: 'string', pattern: patterns.webAddress },
    ],
  },
  registry: { type: 'string', pattern: patterns.registry },
  repository: { type: 'string', pattern: patterns.repository },
  secretKey: { type: 'string', pattern: '^[-._a-zA-Z0-9]*$', maxLength: 253 },
  environmentSecrets: {
    type: 'object',
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' },
    additionalProperties: closed(
      {
        existingSecret: { $ref: '#/$defs/name', description: 'Default: `secrets.existingSecret`.' },
        key: { $ref: '#/$defs/secretKey', minLength: 1, description: 'Key in it.' },
      },
      ['key'],
    ),
  },
  remoteKeys: {
    type: 'object',
    patternProperties: {
      '^[-._a-zA-Z0-9]{1,253}$': closed(
        {
          key: { type: 'string', minLength: 1, description: 'Its name in the store.' },
          property: { type: 'string', description: 'What of it, where it has several parts.' },
          version: { type: 'string', description: 'Which version of it.' },
        },
        ['key'],
      ),
    },
    additionalProperties: false,
  },
  quantity,
  resources: closed({
    requests: closed({ cpu: quantity, memory: quantity, 'ephemeral-storage': quantity }),
    limits: closed({ cpu: quantity, memory: quantity, 'ephemeral-storage': quantity }),
    claims: { $ref: '#/$defs/objects' },
  }),
  labels: keyed({ type: 'string', pattern: patterns.labelValue, maxLength: 63 }),
  annotations: keyed({ type: 'string' }),
  stringMap: { type: 'object', additionalProperties: { type: 'string' } },
  objects: { type: 'array', items: { type: 'object' } },
  openObject: { type: 'object' },
  countOrPercent: {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: 1_000 },
      { type: 'string', pattern: `^${oneToAll}$` },
    ],
  },
  zeroOrCountOrPercent: {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: 1_000 },
      { type: 'string', pattern: `^(0%|${oneToAll})$` },
    ],
  },
  duration: { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' },
  probe: closed(probe),
  livenessProbe: closed({ ...probe, terminationGracePeriodSeconds: seconds(1, 3_600) }),
  environment: {
    type: 'array',
    items: {
      ...closed(
        {
          name: { type: 'string', pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$' },
          value: { type: 'string' },
          valueFrom: { type: 'object' },
        },
        ['name'],
      ),
      dependentSchemas: { value: { properties: { valueFrom: { not: {} } } } },
    },
  },
};

/** What belongs together, beyond single values. What needs a sentence of its own, `templates/check/first/check.yaml` says. */
const together: JsonSchema[] = [
  {
    if: has('httpRoute', { enabled: { const: true } }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: has('httpRoute', { parentRefs: { minItems: 1 } }),
  },
  {
    if: has('ingress', { enabled: { const: true } }),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: has('ingress', { hosts: { minItems: 1 } }),
  },
  {
    if: has('media', has('s3', { bucket: { minLength: 1 } }).properties ?? {}),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: has('media', has('s3', { endpoint: { minLength: 1 } }).properties ?? {}),
  },
  {
    if: has('secrets', has('externalSecret', { enabled: { const: true } }).properties ?? {}),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: has('secrets', {
      existingSecret: { minLength: 1 },
      ...has('externalSecret', {
        ...has('storeRef', { name: { minLength: 1 } }).properties,
        data: { minProperties: 1 },
      }).properties,
    }),
  },
  {
    if: has('kafka', has('sasl', { mechanism: { minLength: 1 } }).properties ?? {}),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: has('kafka', has('sasl', { username: { minLength: 1 } }).properties ?? {}),
  },
  {
    if: { properties: { mode: { const: 'embedded' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: has('api', has('autoscaling', { kind: { const: 'none' } }).properties ?? {}),
    else: has('config', { providers: { items: simulatorElsewhere } }),
  },
];

function has(name: string, properties: Record<string, unknown>): JsonSchema {
  return { properties: { [name]: { properties: properties as Record<string, JsonSchema> } } };
}

/** The schema that Helm checks values against: closed, but for `global`, in which other charts' keys stand, too. */
export function makeValuesSchema(
  values: readonly Value[],
  {
    config,
    renamed,
    alerts,
  }: { config: JsonSchema; renamed: Record<string, string>; alerts: readonly string[] },
): JsonSchema {
  const properties = propertiesOf(values);
  const pod = values.find(({ name }) => name === 'pod');
  const habits = Object.entries(renamed).map(([old, now]) => [old, { description: `Is ${now} here.` }]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the Faregate chart',
    type: 'object',
    properties: {
      ...properties,
      enabled: { type: 'boolean', description: 'For the condition of an umbrella chart, which reads it.' },
      ...(Object.fromEntries(habits) as Record<string, JsonSchema>),
    },
    additionalProperties: false,
    allOf: together,
    $defs: {
      ...shared,
      pod: closed(propertiesOf(pod?.children ?? [])),
      alerts: { type: 'array', items: { enum: alerts } },
      config,
    },
  };
}

const propertiesOf = (values: readonly Value[]): Record<string, JsonSchema> =>
  Object.fromEntries(values.map((each) => [each.name, schemaOf(each)]));

function schemaOf({ path, value, description, hint, children }: Value): JsonSchema {
  const { written, ...said } = hint;
  const about = description === '' ? {} : { description };
  if (typeof said.$ref === 'string')
    return { ...about, ...said, ...(children.length === 0 ? { default: value } : {}) };
  if (children.length > 0) {
    return {
      ...about,
      type: 'object',
      properties: propertiesOf(children),
      additionalProperties: false,
      ...said,
    };
  }
  return { ...about, ...typeOf(path, value, said), ...said, default: value };
}

function typeOf(path: string, value: unknown, hint: Record<string, unknown>): JsonSchema {
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (Number.isInteger(value)) return { type: 'integer' };
  if (Array.isArray(value) && hint.items !== undefined) return { type: 'array' };
  if (hint.type !== undefined) return {};
  throw new Error(`${path}: its default does not say what it may be; write a line "# schema:"`);
}
