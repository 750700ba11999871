import { relative, resolve } from 'node:path';
import type { Model } from '#core/catalog/catalog.ts';
import { smallModelId } from '../simulator/models.ts';
import type { Demo, DemoAddresses } from './demo.ts';

export interface BannerParts {
  addresses: Omit<DemoAddresses, 'adminToken'>;
  dataDir: string;
  /** `null`: this start has none. */
  demo: Demo | null;
  models: readonly Pick<Model, 'id'>[];
}

/** The text that a start of one process prints: every address, and a first call to paste. It holds no key. */
export function banner(parts: BannerParts): string {
  const { baseUrl, mcpUrl, adminUrl } = parts.addresses;
  const root = baseUrl.replace(/\/v1$/, '');
  return [
    '',
    'Faregate is running.',
    '',
    `  API         ${baseUrl}`,
    `  MCP         ${mcpUrl}`,
    `  OpenAPI     ${root}/openapi.json`,
    `  Docs        ${root}/docs`,
    `  Console     ${root}/console`,
    `  Admin API   ${adminUrl}`,
    ...(parts.demo === null ? [''] : demoLines(parts, parts.demo)),
    'Operate it:',
    '',
    `  ${command(parts, 'agents list')}`,
    '',
  ].join('\n');
}

function demoLines(parts: BannerParts, demo: Demo): string[] {
  const { agentId, key, status, spendableUsd } = demo;
  const credit = `  Demo agent  ${agentId}, with $${spendableUsd} to spend`;
  if (key !== 'usable') {
    const why =
      key === 'revoked'
        ? 'The key in its file was revoked, and stays revoked. Make a new key, which is shown once:'
        : `${shown(demo.file)} does not hold its key, and no start makes a second one. Make a new key, which is shown once:`;
    return [credit, '', why, '', `  ${command(parts, `keys create ${agentId} laptop`)}`, ''];
  }
  const remedy = (words: string, args: string) => [words, '', `  ${command(parts, args)}`, ''];
  const remedies = [
    ...(status === 'active' ? [] : remedy(`It is ${status}. Activate it:`, `agents activate ${agentId}`)),
    ...(spendableUsd === '0'
      ? remedy('It has no credit left. Grant some:', `credit grant ${agentId} 5`)
      : []),
  ];
  return [
    `${credit}; its key is in ${shown(demo.file)}`,
    '',
    ...remedies,
    remedies.length === 0 ? 'Try it:' : 'Then try it:',
    '',
    ...firstCall(parts, demo),
    '',
  ];
}

/** Reads the key from its file, so that neither the terminal nor a log holds it. The whole path: it is pasted anywhere. */
function firstCall({ addresses, models }: BannerParts, { file }: Demo): string[] {
  const read = `sed -n 's/.*"key": *"\\([^"]*\\)".*/\\1/p' ${quoted(resolve(file))}`;
  const key = `-H "Authorization: Bearer $(${read})"`;
  const model = models.find(({ id }) => id === smallModelId) ?? models[0];
  if (model === undefined) return [`  curl ${addresses.baseUrl}/balance \\`, `    ${key}`];
  const body = JSON.stringify({ model: model.id, messages: [{ role: 'user', content: 'Say hello.' }] });
  return [
    `  curl ${addresses.baseUrl}/chat/completions \\`,
    `    ${key} \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d ${quoted(body)}`,
  ];
}

/** The command of a checkout. It must be told of another data folder than the default. */
function command({ dataDir }: BannerParts, args: string): string {
  const folder = shown(dataDir);
  return `${folder === '.faregate' ? '' : `FAREGATE_DATA=${quoted(folder)} `}make cli ARGS="${args}"`;
}

/** Short where it is below the folder that the gateway was started in. */
function shown(path: string): string {
  const short = relative('', path);
  return short === '' || short.startsWith('..') ? path : short;
}

/** One word of a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
