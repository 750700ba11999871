import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand, runCommand } from '../services/run-command.ts';
import { hasTool, type ToolName, toolPath } from '../tools/tool.ts';

/*
 * Generators that are not behind `make sdk`, but that users bring: each makes code of the document, which is compiled as
 * strictly as its language can, beside a program of `programs/` that does what a client does.
 */

export interface Generator {
  tools: readonly ToolName[];
  commands: readonly string[];
  /** Too slow for `make test`. */
  isSlow?: true;
  /** Generates and compiles into the folder. Resolves to the command that runs the program. */
  prepare(folder: string, baseUrl: string): Promise<readonly [string, ...string[]]>;
}

const ROOT = join(import.meta.dirname, '../..');
export const DOCUMENT = join(ROOT, 'openapi/v1.json');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const GO = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' };

const program = (name: string): string => join(import.meta.dirname, 'programs', name);

export const generators = {
  orval: {
    tools: ['orval'],
    commands: [],
    async prepare(folder, baseUrl) {
      const config = { api: { input: DOCUMENT, output: { target: 'api.ts', client: 'fetch', baseUrl } } };
      writeFileSync(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)};`);
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      await run(process.execPath, [toolPath('orval'), '--config', 'orval.config.mjs'], folder);
      cpSync(program('orval.ts'), join(folder, 'program.ts'));
      await run(process.execPath, [TSC, ...STRICT_TYPESCRIPT, 'program.ts'], folder);
      return [process.execPath, join(folder, 'program.ts')];
    },
  },
  'datamodel-code-generator': {
    tools: ['datamodel-code-generator'],
    commands: [],
    async prepare(folder) {
      const python = toolPath('datamodel-code-generator');
      await generateModels(folder);
      const file = join(folder, 'program.py');
      cpSync(program('datamodel_code_generator.py'), file);
      await run(python, ['-m', 'mypy', '--strict', 'program.py', 'models.py'], folder);
      return [python, file];
    },
  },
  ogen: {
    tools: ['ogen'],
    commands: ['go'],
    isSlow: true,
    async prepare(folder) {
      for (const file of ['go.mod', 'go.sum'])
        cpSync(join(ROOT, 'test/tools/ogen', file), join(folder, file));
      await run(toolPath('ogen'), ['--target', join(folder, 'gw'), '--package', 'gw', DOCUMENT], folder);
      cpSync(program('ogen.go'), join(folder, 'main.go'));
      await runCommand('go', ['vet', '-C', folder, './...'], GO);
      await runCommand('go', ['build', '-C', folder, '-o', join(folder, 'program'), '.'], GO);
      return [join(folder, 'program')];
    },
  },
  java: {
    tools: ['openapi-generator', 'java-client'],
    commands: ['java', 'javac'],
    isSlow: true,
    async prepare(folder) {
      await openapiGenerator('java', folder, 'disallowAdditionalPropertiesIfNotPresent=false');
      const classes = join(folder, 'classes');
      const classPath = toolPath('java-client');
      const sources = [...globSync(join(folder, 'src/main/**/*.java')), program('Call.java')];
      await run('javac', ['-Werror', '-nowarn', '-cp', classPath, '-d', classes, ...sources], folder);
      return ['java', '-cp', [classes, classPath].join(delimiter), 'Call'];
    },
  },
  kotlin: {
    tools: ['openapi-generator', 'kotlin-client'],
    commands: ['java'],
    isSlow: true,
    async prepare(folder) {
      await openapiGenerator('kotlin', folder);
      const classes = join(folder, 'classes');
      const jars = jarsOf('kotlin-client');
      const compiler = [
        '-cp',
        jars,
        'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler',
        '-no-stdlib',
        '-no-reflect',
      ];
      const sources = [join(folder, 'src/main/kotlin'), program('Call.kt')];
      await run('java', [...compiler, '-cp', jars, '-d', classes, ...sources], folder);
      return ['java', '-cp', [classes, jars].join(delimiter), 'CallKt'];
    },
  },
} as const satisfies Record<string, Generator>;

export type GeneratorName = keyof typeof generators;

const STRICT_TYPESCRIPT =
  '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --noEmit --module nodenext --target es2024 --lib es2024,dom,dom.iterable --types node --allowImportingTsExtensions'.split(
    ' ',
  );

const PYDANTIC = [
  ...['--input-file-type', 'openapi', '--output-model-type', 'pydantic_v2.BaseModel'],
  ...['--target-python-version', '3.11', '--formatters', 'builtin', '--use-annotated'],
];

/** Writes `models.py`. */
export async function generateModels(folder: string): Promise<void> {
  const options = [...PYDANTIC, '--input', DOCUMENT, '--output', join(folder, 'models.py')];
  await run(toolPath('datamodel-code-generator'), ['-m', 'datamodel_code_generator', ...options], folder);
}

/** Why this machine cannot make and run it; `null`: it can. */
export function missingFor(name: GeneratorName): string | null {
  const { tools, commands }: Generator = generators[name];
  const command = commands.find((each) => findCommand(each) === null);
  if (command !== undefined) return `There is no \`${command}\` on the PATH.`;
  const tool = tools.find((each) => !hasTool(each));
  return tool === undefined ? null : `There is no ${tool}: \`make generators\` installs it where it can.`;
}

async function openapiGenerator(language: string, folder: string, ...options: string[]): Promise<void> {
  const flags = ['-g', language, '-i', DOCUMENT, '-o', folder];
  const more = options.length === 0 ? [] : [`--additional-properties=${options.join(',')}`];
  await run('java', ['-jar', toolPath('openapi-generator'), 'generate', '-q', ...flags, ...more], folder);
}

/** In one order always. */
function jarsOf(name: ToolName): string {
  const folder = toolPath(name).replace(/\*$/, '');
  return readdirSync(folder)
    .sort()
    .map((file) => join(folder, file))
    .join(delimiter);
}

/** Rejects with the end of what the command wrote. */
async function run(file: string, args: readonly string[], cwd: string): Promise<void> {
  mkdirSync(cwd, { recursive: true });
  await promisify(execFile)(file, [...args], { cwd, maxBuffer: OUTPUT_BYTES }).catch((error) => {
    throw new Error(`${file} failed: ${`${error.stdout}${error.stderr}`.slice(-TAIL_CHARS)}`, {
      cause: error,
    });
  });
}

const OUTPUT_BYTES = 64 * 1024 * 1024;
const TAIL_CHARS = 4_000;
