import { describe, expect, it } from 'vitest';
import { functionsOf } from './function-lines.ts';
import { readAll, type SourceFile, workingFiles } from './repository-files.ts';

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 400;

const product = readAll(workingFiles().filter((path) => /^(api|workers)\/.*\.(ts|js|lua)$/.test(path)));
const written = readAll(
  workingFiles().filter((path) =>
    /^(api|workers|test|charts|openapi|image)\/.*\.(ts|mts|js|lua)$/.test(path),
  ),
);

/** Longer than they should be. The lists may only shrink: nothing is added, and what is mended is taken out. */
const longFunctions: readonly string[] = [
  'api/admin/cli/keys.ts: addKeys',
  'api/admin/cli/ledger.ts: addLedger',
  'api/config/storage-settings.ts: toStorage',
  'api/config/watch-config.ts: watchConfig',
  'api/core/catalog/import-source.ts: createImportSource',
  'api/core/files/local-file-store.ts: openLocalFileStore',
  'api/core/ledger/cluster/cassandra-agent-states.ts: createCassandraAgentStates',
  'api/core/ledger/cluster/redis-commands.ts: toAccountCall',
  'api/core/rates/redis-address-weights.ts: createRedisAddressWeights',
  'api/deps.ts: buildDeps',
  'api/http/create-public-server.ts: createPublicServer',
  'api/inference/admit/admit.ts: planCall',
  'api/inference/json/json-object.ts: scan',
  'api/market/market-reads.ts: createMarketReads',
  'api/simulator/call-runner.ts: createCallRunner',
  'api/start/start-gateway.ts: startBehind',
  'api/start/workers/start-settlement-role.ts: startSettlementRole',
];

const longFiles: readonly string[] = [
  'api/core/ledger/cluster/redis-ledger.ts',
  'api/core/ledger/embedded/embedded-ledger.ts',
  'api/inference/json/json-object.ts',
];

describe('the code stays readable', () => {
  it(`no function has more than ${FUNCTION_LINES_MAX} lines, but for a list that only shrinks`, () => {
    const long = product
      .filter(({ path }) => path.endsWith('.ts'))
      .flatMap(functionsOf)
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
      .map(({ path, name }) => `${path}: ${name}`);
    expect(long.sort()).toEqual([...longFunctions].sort());
  });

  it(`no file has more than ${FILE_LINES_MAX} lines, but for a list that only shrinks`, () => {
    const long = product.filter(({ text }) => text.trimEnd().split('\n').length > FILE_LINES_MAX);
    expect(long.map(({ path }) => path).sort()).toEqual([...longFiles].sort());
  });

  it('counts the lines of a function without its docstring', () => {
    const text = `/** ${'\n * a'.repeat(80)} */\nexport function a() {\n  return 1;\n}\nconst b = () => {\n};\n`;
    expect(functionsOf({ path: 'a.ts', text })).toEqual([
      { path: 'a.ts', name: 'a', lines: 3 },
      { path: 'a.ts', name: 'b', lines: 2 },
    ]);
  });
});

/*
 * Comments in the project's old dialect: those that begin with a word that stands in for their subject, and words that
 * nobody else uses. A change that removes some lowers the number here.
 */
describe('comments become plain English', () => {
  const OLD_BEGINNINGS = 1_221;
  const OLD_WORDS = 97;

  it('no comment more begins with "Of", "What", "Who", "Whoever" or "Nobody"', () => {
    expect(countOf(written, /^\s*(?:\/\*\*|\/\/|\*)\s*(?:Of|What|Who|Whoever|Nobody)\b/gm)).toBe(
      OLD_BEGINNINGS,
    );
  });

  it('no comment more says "anew" or "has to be"', () => {
    const comments = written.map(({ path, text }) => ({ path, text: commentsOf(text) }));
    expect(countOf(comments, /\b(?:anew|has to be)\b/g)).toBe(OLD_WORDS);
  });
});

const countOf = (files: readonly SourceFile[], pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0);

const commentsOf = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^\s*(\/\/|\/\*|\*)/.test(line))
    .join('\n');
