import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Programs of a user on types that are generated from a document: they import `./faregate.d.ts`. */
export interface GeneratedClient extends AsyncDisposable {
  write(file: string, program: string): Promise<void>;
  /** What the compiler says: nothing when the program is right. */
  compile(file: string): Promise<string>;
  /** What the program prints. */
  run(file: string, ...args: string[]): Promise<string>;
}

export async function generateClient(documentText: string): Promise<GeneratedClient> {
  const folder = await mkdtemp(join(tmpdir(), 'generated-client-'));
  const write = (file: string, text: string) => writeFile(join(folder, file), text);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await write('package.json', '{"type":"module"}');
  await write('faregate.d.ts', astToString(await openapiTS(JSON.parse(documentText))));
  return {
    write,
    compile(file) {
      const options =
        '--strict --noEmit --skipLibCheck --module esnext --moduleResolution bundler --target es2022 ' +
        '--lib es2022,dom --types node --allowImportingTsExtensions';
      const tsc = join(root, 'node_modules/typescript/bin/tsc');
      return run(process.execPath, [tsc, ...options.split(' '), file], { cwd: folder }).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      );
    },
    async run(file, ...args) {
      const { stdout } = await run(process.execPath, [file, ...args], { cwd: folder });
      return stdout;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
