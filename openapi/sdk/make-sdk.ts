import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { toolPath } from '../../test/tools/tool.ts';
import { readChoices } from '../generate/choice.ts';
import type { SdkLanguage } from './sdk-language.ts';

const here = import.meta.dirname;
const DOCUMENT = join(here, '../v1.json');

/* `unions` is the same document with unions that these generators make types of; to Go's they would be wrappers. */

/**
 * Writes the language's SDK anew into the folder: generated code, what makes a package of it, and its tour. What stood there goes
 * when all of it is written. Throws with what the generator wrote, or with the error of the file system.
 */
export function makeSdk(language: SdkLanguage, folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-`);
  // Beside it, because a generator empties its folder first.
  const unions = `${made}.json`;
  try {
    writeFileSync(unions, JSON.stringify(readChoices(JSON.parse(readFileSync(DOCUMENT, 'utf8')))));
    generators[language](made, unions);
    cpSync(join(here, language), made, { recursive: true });
    // A temporary folder is closed to all others, who build with it, too.
    chmodSync(made, 0o755);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
    rmSync(unions, { force: true });
  }
}

const generators: Readonly<Record<SdkLanguage, (folder: string, unions: string) => void>> = {
  typescript(folder, unions) {
    const config = join(here, 'generators/typescript.json');
    const options = ['--file', config, '--input', unions, '--no-log-file', '--silent'];
    // Its option for the folder would replace all that the configuration says of the output.
    run(process.execPath, [toolPath('openapi-ts'), ...options], { cwd: folder });
  },
  python(folder, unions) {
    const python = toolPath('openapi-python-client');
    const config = join(here, 'generators/python.yaml');
    run(
      python,
      [
        ...['-m', 'openapi_python_client', 'generate', '--path', unions, '--config', config],
        ...['--output-path', folder, '--overwrite', '--meta', 'setup', '--fail-on-warning'],
      ],
      // It formats what it has written by ruff, which is beside it.
      { env: { PATH: [dirname(python), process.env.PATH].join(delimiter) } },
    );
  },
  go(folder) {
    const config = join(here, 'generators/go.yaml');
    run(toolPath('oapi-codegen'), ['-config', config, '-o', join(folder, 'faregate.gen.go'), DOCUMENT]);
  },
};

/** Throws with what the generator wrote. */
function run(
  file: string,
  args: readonly string[],
  { cwd, env }: { cwd?: string; env?: Record<string, string> } = {},
): void {
  try {
    execFileSync(file, args, { cwd, stdio: 'pipe', encoding: 'utf8', env: { ...process.env, ...env } });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The generator failed: ${stdout}${stderr}`, { cause: error });
  }
}
