import type { ProviderSettings } from '#core/catalog/catalog-settings.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { CONFIG_BYTES_MAX } from '#core/limits.ts';
import type { Secret } from '#core/secret.ts';
import { findKind, kindNamed } from '../providers/provider-kinds.ts';
import { parseAdminToken } from './admin-token.ts';
import { checkMediaModels } from './check-media-models.ts';
import { checkReferences } from './check-references.ts';
import { type ConfigDocument, parseConfigDocument } from './config-document.ts';
import { configDraft } from './config-draft.ts';
import type { ConfigProblem } from './config-error.ts';
import { type ConfigFile, configFile } from './config-file.ts';
import type { DefaultProviders } from './default-providers.ts';
import { describeIssue, issueMessage } from './describe-issue.ts';
import { type FilesConfig, toFiles } from './files-settings.ts';
import {
  type Environment,
  errorCode,
  parseApiKey,
  type ReadFile,
  resolveSecrets,
  secretPlace,
} from './resolve-secrets.ts';
import { type LookupHost, settleDialect } from './settle-dialect.ts';
import { type StorageConfig, toStorage } from './storage-settings.ts';
import { toProviderSettings } from './to-settings.ts';

export type FileRead =
  /** `providers` is `null` where the file names none of its own. */
  | {
      ok: true;
      content: ConfigFile;
      providers: ProviderSettings[] | null;
      storage: StorageConfig;
      files: FilesConfig;
      /** `null`: none is named, one is made in the data folder. */
      adminToken: Secret | null;
      /** Warnings that the operator reads at the start and at a reload. */
      notices: string[];
    }
  | { ok: false; problems: ConfigProblem[] };

interface Options {
  /** `null`: no file, which is as good as an empty one. */
  file: string | null;
  env: Environment;
  readFile: ReadFile;
  lookup: LookupHost;
  defaults: DefaultProviders;
}

export async function readConfigFile(options: Options): Promise<FileRead> {
  const { file, readFile } = options;
  if (file === null) return checkDocument(emptyDocument, options);
  const text = await readText(file, readFile);
  if (typeof text !== 'string') return { ok: false, problems: [text] };
  const parsed = parseConfigDocument(file, text);
  return parsed.ok ? checkDocument(parsed.document, options) : parsed;
}

async function readText(file: string, readFile: ReadFile): Promise<string | ConfigProblem> {
  const whole = { source: file, line: null, column: null, path: '' };
  try {
    const text = await readFile(file);
    if (Buffer.byteLength(text) <= CONFIG_BYTES_MAX) return text;
    return { ...whole, message: `is larger than ${CONFIG_BYTES_MAX} bytes` };
  } catch (error) {
    return { ...whole, message: `cannot be read${errorCode(error)}; FAREGATE_CONFIG names it` };
  }
}

const emptyDocument: ConfigDocument = {
  value: {},
  problem: () => {
    throw new Error('An empty configuration has no problem.');
  },
};

async function checkDocument(document: ConfigDocument, options: Options): Promise<FileRead> {
  const { env, readFile, defaults } = options;
  // A file with nothing but comments is an empty map, not a mistake.
  const value = document.value ?? {};
  const parsed = configFile.safeParse(value, { error: issueMessage });
  const shapeProblems = parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) => describeIssue(issue, document));

  const draft = configDraft.parse(value);
  const ofProviders = (draft.providers ?? []).map((provider, index) =>
    secretPlace(['providers', index], 'apiKey', provider, parseApiKey),
  );
  const secrets = await resolveSecrets(ofProviders, env, readFile, document);
  const providerIds = (draft.providers ?? defaults.providers).flatMap(({ id }) => id ?? []);
  const otherProblems = [
    ...secrets.problems,
    ...checkReferences(draft, providerIds, document),
    ...(draft.providers === undefined ? defaults.problems : []),
  ];
  // The draft holds a value of the wrong shape as absent: saying that, too, would be two lines for one slip.
  const wrongPaths = new Set(shapeProblems.map((problem) => problem.path));
  const problems = [...shapeProblems, ...otherProblems.filter((problem) => !wrongPaths.has(problem.path))];
  if (!parsed.success || problems.length > 0) return { ok: false, problems };

  const content = parsed.data;
  const ofMedia = checkMediaModels(content, kindsOf(content, defaults), document);
  if (ofMedia.length > 0) return { ok: false, problems: ofMedia };
  const storage = await toStorage(content.storage, document, env, readFile);
  const isCluster = content.storage.mode === 'cluster';
  const files = await toFiles({ file: content.files, isCluster }, document, env, readFile);
  const place = secretPlace(['admin'], 'token', content.admin, parseToken);
  const admin = await resolveSecrets([place], env, readFile, document);
  const adminToken = admin.secrets[0] ?? null;
  if (!storage.ok || !files.ok || admin.problems.length > 0) {
    const unresolved = [storage, files].flatMap((block) => (block.ok ? [] : block.problems));
    return { ok: false, problems: [...unresolved, ...admin.problems] };
  }
  if (storage.storage.mode === 'cluster') {
    const unshared = clusterProblems(content, adminToken, document);
    if (unshared.length > 0) return { ok: false, problems: unshared };
  }
  const written = content.providers ?? [];
  const settled = await Promise.all(
    written.map((each, at) =>
      settleDialect(toProviderSettings(each, secrets.secrets[at] ?? null), each, options.lookup),
    ),
  );
  return {
    ok: true,
    content,
    providers: content.providers === undefined ? null : settled.map(({ settings }) => settings),
    notices: settled.flatMap(({ notice }) => notice ?? []),
    storage: storage.storage,
    files: files.files,
    adminToken,
  };
}

/** What the processes of a cluster have to have in common. */
function clusterProblems(
  { providers = [] }: ConfigFile,
  adminToken: Secret | null,
  document: ConfigDocument,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (adminToken === null) {
    const message = 'is missing: the processes of a cluster share one; write tokenEnv or tokenFile';
    problems.push(document.problem(['admin', 'tokenEnv'], message));
  }
  for (const [index, { kind, baseUrl }] of providers.entries()) {
    if (findKind(kind)?.configuration.runsInProcess !== true || baseUrl !== undefined) continue;
    const message =
      'is missing: a simulator inside one process is no provider of a cluster; start one by itself';
    problems.push(document.problem(['providers', index, 'baseUrl'], message));
  }
  return problems;
}

const parseToken = (text: string): Secret | string =>
  parseAdminToken(text) ?? 'names a token of less than 32 characters, or one with blanks in it';

const kindsOf = (
  { providers }: Pick<ConfigFile, 'providers'>,
  defaults: DefaultProviders,
): readonly { id: string; kind: ProviderKind }[] =>
  providers?.map(({ id, kind }) => ({ id, kind: kindNamed(kind) })) ?? defaults.providers;
