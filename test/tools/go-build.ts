import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, runCommand } from '../services/run-command.ts';

export interface GoBuild {
  /** A folder beside this file with go.mod and go.sum. */
  module: string;
  /** The package that is built. */
  main: string;
  /** The file that is written. */
  to: string;
  flags?: readonly string[] | undefined;
  /** What the linker sets, for programs that tell their version. */
  linkerFlags?: readonly string[];
}

/**
 * Builds a pinned program from its sources. In a module of its own, because `go install` refuses one that replaces
 * modules, and because one tool's versions must not bend another's.
 */
export async function goBuild({ module, main, to, flags = [], linkerFlags = [] }: GoBuild): Promise<void> {
  const folder = join(import.meta.dirname, module);
  const wanted = /^go (.+)$/m.exec(readFileSync(join(folder, 'go.mod'), 'utf8'))?.[1] ?? '';
  const go = findCommand('go');
  if (go === null)
    throw new Error(`it is built by Go ${wanted} or newer, and there is no \`go\` on the PATH.`);
  const ldflags = ['-s', '-w', ...linkerFlags].join(' ');
  await runCommand(
    go,
    ['build', '-C', folder, '-mod=readonly', '-trimpath', `-ldflags=${ldflags}`, ...flags, '-o', to, main],
    { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' },
  );
}
