import type { S3Settings } from '#core/files/s3-client.ts';
import { withoutEndSlashes } from '#core/without-end-slashes.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigProblem } from './config-error.ts';
import type { FilesFile } from './files-file.ts';
import {
  type Environment,
  parseApiKey,
  type ReadFile,
  resolveSecrets,
  secretPlace,
} from './resolve-secrets.ts';

export type FilesConfig = { kind: 'local' } | ({ kind: 's3' } & S3Settings) | { kind: 'none' };

type Resolved = { ok: true; files: FilesConfig } | { ok: false; problems: ConfigProblem[] };

const DEFAULT_REGION = 'us-east-1';

/** The block with its secrets, or what does not belong together in it. */
export async function toFiles(
  { file, isCluster }: { file: FilesFile; isCluster: boolean },
  document: ConfigDocument,
  env: Environment,
  readFile: ReadFile,
): Promise<Resolved> {
  const { kind, ...s3 } = file;
  const problem = (key: string, message: string) => document.problem(['files', key], message);
  if (kind !== 's3') {
    const unused = Object.keys(s3).map((key) => problem(key, 'belongs to kind s3'));
    if (kind === 'local' && isCluster) {
      unused.push(
        problem('kind', 'cannot be local in a cluster: each process would keep files of its own; write s3'),
      );
    }
    if (unused.length > 0) return { ok: false, problems: unused };
    return { ok: true, files: { kind: kind ?? (isCluster ? 'none' : 'local') } };
  }
  const places = [
    secretPlace(['files'], 'accessKeyId', s3, parseApiKey),
    secretPlace(['files'], 'secretAccessKey', s3, parseApiKey),
  ];
  const { secrets, problems } = await resolveSecrets(places, env, readFile, document);
  const [accessKeyId = null, secretAccessKey = null] = secrets;
  const { endpoint, bucket, publicEndpoint = endpoint, region = DEFAULT_REGION } = s3;
  for (const [key, value] of Object.entries({ endpoint, bucket })) {
    if (value === undefined) problems.push(problem(key, 'is missing: kind s3 needs it'));
  }
  for (const [name, value] of Object.entries({ accessKeyId, secretAccessKey })) {
    if (value !== null || problems.some(({ path }) => path.startsWith(`files.${name}`))) continue;
    problems.push(problem(`${name}Env`, `is missing: write ${name}Env or ${name}File`));
  }
  if (
    problems.length > 0 ||
    endpoint === undefined ||
    publicEndpoint === undefined ||
    bucket === undefined ||
    accessKeyId === null ||
    secretAccessKey === null
  ) {
    return { ok: false, problems };
  }
  return {
    ok: true,
    files: {
      kind,
      endpoint: withoutEndSlashes(endpoint),
      publicEndpoint: withoutEndSlashes(publicEndpoint),
      region,
      bucket,
      accessKeyId,
      secretAccessKey,
    },
  };
}
