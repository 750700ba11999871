import { z } from 'zod';
import {
  CALL_LIMIT_MAX_MS,
  CONNECTIONS_MAX,
  CONNECTIONS_PER_ADDRESS,
  DRAIN_MAX_MS,
  defaultLimits,
  MODELS_MAX,
  PROVIDERS_MAX,
} from '#core/limits.ts';
import { filesFile } from './files-file.ts';
import { imageModelFile } from './image-model-file.ts';
import { modelFile } from './model-file.ts';
import { providerFile } from './provider-file.ts';
import { storageFile } from './storage-file.ts';
import {
  dollars,
  network,
  secretFile,
  stopSwitch,
  text,
  variableName,
  webAddress,
  wholeNumber,
} from './values.ts';
import { videoModelFile } from './video-model-file.ts';

const port = wholeNumber(0, 65_535);
const host = text(255);
const hostName = z
  .string()
  .max(253)
  .regex(
    /^(\*\.)?[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/,
    'is no DNS name in small letters, such as metrics.example.com',
  );
const serverKeys = z.strictObject({
  host: host.default('127.0.0.1').describe('Address that the public port listens on.'),
  port: port
    .default(8080)
    .describe('Public port: /v1, /mcp, /openapi.json, /docs, /console. The environment variable PORT wins.'),
  internalHost: host.default('127.0.0.1').describe('Address that the internal port listens on.'),
  internalPort: port
    .default(9090)
    .describe('Internal port: health, metrics, admin API. The environment variable INTERNAL_PORT wins.'),
  publicUrl: webAddress
    .optional()
    .describe('Address of the API as callers see it, ending in /v1. Without it: this host and port.'),
  mcpUrl: webAddress
    .optional()
    .describe(
      'Address of the MCP endpoint as callers see it; it is served at /mcp. Without it: beside publicUrl, at /mcp.',
    ),
  trustedProxies: z
    .array(network)
    .max(100)
    .default([])
    .describe(
      'Networks of the load balancers in front. From these alone X-Forwarded-For is believed, from its right end to the first address outside of them: whose reads of markets are counted. Changes need a restart.',
    ),
  connectionsPerAddress: wholeNumber(0, CONNECTIONS_MAX)
    .default(CONNECTIONS_PER_ADDRESS)
    .describe(
      'Connections to the public port that one address may have open; in IPv6 a /64 network counts as one address. More are closed at once. 0 = any number. This machine and trustedProxies are not counted. Balancers and NAT gateways that hide their callers behind one address need to be in trustedProxies, a greater number, or 0. Changes need a restart.',
    ),
  internalHostNames: z
    .array(hostName)
    .max(100)
    .default([])
    .describe(
      'DNS names under which /metrics on the internal port answers, as faregate-internal or *.faregate.svc; addresses, localhost and internalHost always do. Other names are refused, because a web page could lead its own name here. Changes need a restart.',
    ),
  drainNoticeMs: wholeNumber(0, 600_000)
    .default(0)
    .describe(
      'After the signal to end, new calls are taken for so long, in milliseconds, while /readyz answers 503 and each answer closes its connection: until balancers and clients with open connections have noticed. Then they are refused with gateway_busy. Changes need a restart.',
    ),
  drainMs: wholeNumber(0, DRAIN_MAX_MS)
    .optional()
    .describe(
      'After the signal to end, running calls have so long, in milliseconds, drainNoticeMs included. Then they end with an error, and what was written is charged. Without it: as long as limits let them run. Changes need a restart.',
    ),
  callIdHeader: z
    .string()
    .regex(/^x-[a-z0-9-]{1,60}$/, 'has to be a lower-case header name that begins with x-')
    .refine(
      (name) => !takenHeaders.has(name),
      'is the name of another header that this service sends or reads',
    )
    .default('x-service-call-id')
    .describe('Response header that carries the call id.'),
});

const server = serverKeys.refine(
  ({ drainNoticeMs, drainMs }) => drainNoticeMs <= (drainMs ?? drainNoticeMs),
  {
    path: ['drainNoticeMs'],
    error: 'is more than drainMs, which it is a part of',
  },
);

const takenHeaders: ReadonlySet<string> = new Set([
  'x-generation-id',
  'x-hold-usd',
  'x-ignored-fields',
  'x-accel-buffering',
  'x-content-type-options',
  'x-should-retry',
  'x-api-key',
  'x-forwarded-for',
  'x-used-weight-1m',
]);

const admin = z.strictObject({
  tokenEnv: variableName
    .optional()
    .describe('Environment variable that holds the token of the admin API: at least 32 characters.'),
  tokenFile: secretFile.describe(
    'File that holds it. Without either, a token is made at the first start, in the data folder.',
  ),
});

const atMost = (most: number) => wholeNumber(1, most);
const callTimeMs = wholeNumber(1_000, CALL_LIMIT_MAX_MS);

const limits = z.strictObject({
  callsPerMinute: atMost(60_000)
    .default(defaultLimits.callsPerMinute)
    .describe('Calls that an agent may start a minute.'),
  burst: atMost(60_000)
    .default(defaultLimits.burst)
    .describe('Calls that an agent may start at once after a pause.'),
  runningCalls: atMost(10_000)
    .default(defaultLimits.runningCalls)
    .describe('Calls that an agent may have running.'),
  activeKeys: atMost(1_000).default(defaultLimits.activeKeys).describe('Active keys of an agent.'),
  mcpKeysPerDay: atMost(1_000)
    .default(defaultLimits.mcpKeysPerDay)
    .describe('Keys that an agent may make over MCP in any 24 hours.'),
  mcpRequestsPerMinute: atMost(60_000)
    .default(defaultLimits.mcpRequestsPerMinute)
    .describe('MCP requests that a key may make a minute.'),
  mcpBurst: atMost(60_000)
    .default(defaultLimits.mcpBurst)
    .describe('MCP requests that a key may make at once after a pause.'),
  uploadsPerDay: atMost(1_000)
    .default(defaultLimits.uploadsPerDay)
    .describe('Uploads that an agent may start in any 24 hours.'),
  openVideos: atMost(10_000)
    .default(defaultLimits.openVideos)
    .describe('Videos that an agent may have in the making.'),
  videoReadsPerMinute: atMost(60_000)
    .default(defaultLimits.videoReadsPerMinute)
    .describe('Times a minute that a key may read jobs of videos.'),
  marketWeightPerMinute: atMost(1_000_000_000)
    .default(defaultLimits.marketWeightPerMinute)
    .describe('Weight of market data that one address may read a minute.'),
  requestBodyBytes: wholeNumber(1_024, 64 * 1024 * 1024)
    .default(defaultLimits.requestBodyBytes)
    .describe('Largest body of a model call, in bytes.'),
  linksPerCall: atMost(10_000)
    .default(defaultLimits.linksPerCall)
    .describe('Links to images and files in one call, in its prompt or its references.'),
  streamMs: callTimeMs.default(defaultLimits.streamMs).describe('Longest streamed call, in milliseconds.'),
  callMs: callTimeMs.default(defaultLimits.callMs).describe('Longest other call, in milliseconds.'),
});

const media = z.strictObject({
  inline: z
    .enum(['refuse', 'store'])
    .default('refuse')
    .describe(
      'Images whose bytes stand in a request: refused, or kept as uploads of the agent, within its limits, and sent on as links. Documents are refused.',
    ),
});

const capacity = z.strictObject({
  perCallUsd: dollars.default('50').describe('Most that one call may hold, in dollars.'),
  poolUsd: dollars.default('1000').describe('Most that all running calls together may hold, in dollars.'),
  dailySharePerAgentUsd: dollars
    .nullable()
    .default('200')
    .describe('Most that one agent may spend in a UTC day, in dollars; null = no such share.'),
  runningCalls: atMost(100_000).default(2_000).describe('Calls that one process runs at a time.'),
  eventLoopLagMs: atMost(60_000)
    .default(250)
    .describe('How late one process may be with its work, in milliseconds; beyond, it takes no new calls.'),
});

/** The file as it is written. Its JSON Schema is made from this, so every key says here what it is for. */
export const configFile = z.strictObject({
  server: server.prefault({}).describe('Addresses of the process. Changes need a restart.'),
  admin: admin.prefault({}).describe('Access of the operator. Changes need a restart.'),
  storage: storageFile.prefault({}).describe('Where state lives. Changes need a restart.'),
  files: filesFile.prefault({}).describe('Where files live. Changes need a restart.'),
  market: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Market data and moves of credit between agents; off = no such paths. Changes need a restart.'),
  media: media.prefault({}).describe('Images and files in the requests of callers.'),
  limits: limits.prefault({}).describe('Limits of every agent.'),
  capacity: capacity
    .prefault({})
    .describe("The operator's own money at the providers, shared by all agents."),
  stopped: stopSwitch.describe('Stop switch of the gateway: true refuses every new call.'),
  providers: z
    .array(providerFile)
    .max(PROVIDERS_MAX)
    .optional()
    .describe(
      'Who runs the calls. Without it: the bundled simulator, and each vendor whose key the environment has.',
    ),
  models: z
    .array(modelFile)
    .max(MODELS_MAX)
    .default([])
    .describe('Models beside those that are imported from providers; the same id here wins.'),
  videoModels: z
    .array(videoModelFile)
    .max(MODELS_MAX)
    .default([])
    .describe(
      'Models of videos beside the imported ones, or what to change of those; the same id here wins.',
    ),
  imageModels: z
    .array(imageModelFile)
    .max(MODELS_MAX)
    .default([])
    .describe('Models of images beside the imported ones; the same id here wins.'),
});
export type ConfigFile = z.infer<typeof configFile>;

/**
 * The JSON Schema (draft 2020-12) of the configuration file, for editors and the chart:
 * `openapi/config.schema.json`.
 */
export function makeConfigSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(configFile, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: 'Faregate configuration', ...schema };
}
