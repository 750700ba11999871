import { posix } from 'node:path';
import { type SourceFile, withoutComments } from './repository-files.ts';

/**
 * Which part may import which: the project's layers, as one table. A part is a folder of `api` with all below
 * it. `start` is also the files of `api` itself and the entry of the workers. Every part may import itself.
 */
export const layers: Readonly<Record<string, readonly string[]>> = {
  core: [],
  contract: ['core'],
  simulator: ['core'],
  // Kinds of providers, one folder each, and tables of what vendors answer with.
  providers: ['contract', 'core'],
  config: ['providers', 'core'],
  workers: ['providers', 'core'],
  inference: ['providers', 'contract', 'core'],
  media: ['inference', 'providers', 'contract', 'core'],
  // What anybody may read of markets.
  market: ['contract', 'core'],
  // What a key can ask of its account, by `/v1` or by MCP.
  account: ['contract', 'core'],
  routers: ['account', 'market', 'media', 'inference', 'contract', 'core'],
  http: ['market', 'media', 'inference', 'contract', 'core'],
  // Both are mounted by the edge's binding; the operator's command finds the gateway by the configuration, and lets a
  // simulated market trade.
  mcp: ['http', 'account', 'media', 'inference', 'contract', 'core'],
  admin: ['http', 'config', 'simulator', 'media', 'inference', 'providers', 'contract', 'core'],
  // The page's files; what runs in a browser imports nothing of ours, but for the types of answers.
  console: ['http', 'contract'],
  // The same of the documentation.
  'docs-page': ['http'],
  // The stores that a process opens, and its gauges.
  stores: ['config', 'core'],
  metrics: ['stores', 'config', 'http', 'inference', 'workers', 'core'],
  start: [
    'stores',
    'metrics',
    'http',
    'routers',
    'account',
    'mcp',
    'admin',
    'market',
    'media',
    'inference',
    'providers',
    'contract',
    'config',
    'core',
    'simulator',
    'workers',
    'console',
    'docs-page',
  ],
};

const inParts =
  (...parts: string[]) =>
  (path: string) =>
    parts.includes(partOf(path) ?? '');

interface PackageRule {
  packages: readonly string[];
  only: string;
  allows: (path: string) => boolean;
}

const isNamedFor = (path: string): boolean =>
  /^(redis|kafka|cassandra|sqlite)-[\w-]+\.ts$/.test(posix.basename(path));

const packageRules: readonly PackageRule[] = [
  {
    packages: ['express'],
    only: 'http, mcp, admin, simulator, app and main',
    allows: (path) =>
      inParts('http', 'mcp', 'admin', 'simulator')(path) || /^api\/(app|main)\.ts$/.test(path),
  },
  {
    packages: ['ioredis', 'kafkajs', 'cassandra-driver', 'node:sqlite'],
    only: 'drivers/ and files named for them, such as sqlite-journal.ts',
    allows: (path) => /\/drivers\//.test(path) || isNamedFor(path),
  },
  {
    packages: ['node:timers', 'node:timers/promises', 'node:perf_hooks'],
    only: '#core/clock',
    allows: (path) => path === 'api/core/clock.ts',
  },
];

interface CodeRule {
  what: RegExp;
  only: string;
  allows: (path: string) => boolean;
  /** A file and why it may: one that no longer needs to is an error, too. */
  exceptions: Readonly<Record<string, string>>;
}

export const codeRules: readonly CodeRule[] = [
  {
    what: /\bprocess\.env\b/,
    only: 'config/',
    allows: inParts('config'),
    exceptions: {},
  },
  {
    what: /\b(Date\.now|new Date\(\)|performance\.now|(?<!\.)set(Timeout|Interval)\(|AbortSignal\.timeout|hrtime)/,
    only: '#core/clock',
    allows: (path) => path === 'api/core/clock.ts',
    exceptions: {
      'api/core/drivers/redis-evaluator.ts': 'It says so to take the timer of each command away.',
      'api/admin/cli/gateway-client.ts': 'The command is a process of seconds; it has no clock to hand in.',
    },
  },
];

/** `null` for what no rule is about, such as tests. */
export function partOf(path: string): string | null {
  const [top, second, third] = path.split('/');
  // The entry of the workers is to them what `api/main.ts` is to the API.
  if (top === 'workers') return third === undefined ? 'start' : 'workers';
  if (top !== 'api' || second === undefined) return null;
  return third === undefined ? 'start' : second;
}

export interface Import {
  from: string;
  /** Leaves nothing behind when types are stripped. */
  typeOnly: boolean;
}

const STATEMENT = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
const EXPRESSION = /(?:\bimport|\brequire)\(\s*'([^']+)'|new URL\(\s*'(\.[^']+\.ts)'/g;

export function importsOf(text: string): Import[] {
  const code = withoutComments(text);
  return [
    ...[...code.matchAll(STATEMENT)].map(([, type, from = '']) => ({ from, typeOnly: type !== undefined })),
    ...[...code.matchAll(EXPRESSION)].map(([, a, b]) => ({ from: a ?? b ?? '', typeOnly: false })),
  ];
}

/** A path of this repository, or `null` for a package. */
export function resolveImport(path: string, from: string): string | null {
  if (from.startsWith('#core/')) return `api/core/${from.slice('#core/'.length)}`;
  return from.startsWith('.') ? posix.join(posix.dirname(path), from) : null;
}

/** What breaks a rule, in sentences. */
export function checkFile({ path, text }: SourceFile): string[] {
  const part = partOf(path);
  if (part === null) return [];
  const problems: string[] = [];
  for (const { from } of importsOf(text)) {
    const target = resolveImport(path, from);
    if (target === null) problems.push(...checkPackage(path, from));
    else problems.push(...checkTarget(path, part, from, target));
  }
  const code = withoutComments(text);
  for (const { what, only, allows, exceptions } of codeRules) {
    const found = what.exec(code)?.[0];
    if (found !== undefined && !allows(path) && !Object.hasOwn(exceptions, path)) {
      problems.push(`${path} uses ${found}, which only ${only} may`);
    }
  }
  return problems;
}

function checkPackage(path: string, from: string): string[] {
  return packageRules
    .filter(({ packages, allows }) => packages.includes(from) && !allows(path))
    .map(({ only }) => `${path} imports ${from}, which only ${only} may`);
}

function checkTarget(path: string, part: string, from: string, target: string): string[] {
  const other = partOf(target);
  if (other === null) return [`${path} imports ${from}, which is no product code`];
  if (other === 'core' && part !== 'core' && !from.startsWith('#core/')) {
    return [`${path} imports ${from}: shared code is imported as #core/…`];
  }
  if (other === part || layers[part]?.includes(other)) return [];
  return [`${path} imports ${from}: ${part} may not import ${other}`];
}

/**
 * Folders that need each other to start, as a chain of names. Types do not count: they leave nothing behind.
 * A folder counts with all below it; the folders of `core` and `inference` count each for itself.
 */
export function findCycle(files: readonly SourceFile[]): string[] | null {
  const needs = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    const folder = folderOf(path);
    if (folder === null) continue;
    for (const { from, typeOnly } of importsOf(text)) {
      const target = resolveImport(path, from);
      const other = target === null ? null : folderOf(target);
      if (typeOnly || other === null || other === folder) continue;
      needs.set(folder, (needs.get(folder) ?? new Set()).add(other));
    }
  }
  return walkForCycle(needs);
}

function folderOf(path: string): string | null {
  const part = partOf(path);
  const [, , third, fourth] = path.split('/');
  return part !== null && WALLED.has(part) && fourth !== undefined ? `${part}/${third}` : part;
}

/** Parts whose folders each count for themselves. */
const WALLED: ReadonlySet<string> = new Set(['core', 'inference']);

function walkForCycle(needs: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>();
  const visit = (folder: string, chain: readonly string[]): string[] | null => {
    const seen = chain.indexOf(folder);
    if (seen !== -1) return [...chain.slice(seen), folder];
    if (done.has(folder)) return null;
    for (const next of needs.get(folder) ?? []) {
      const cycle = visit(next, [...chain, folder]);
      if (cycle !== null) return cycle;
    }
    done.add(folder);
    return null;
  };
  for (const folder of needs.keys()) {
    const cycle = visit(folder, []);
    if (cycle !== null) return cycle;
  }
  return null;
}
