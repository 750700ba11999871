import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * Puts a `make` into the folder that starts what the Makefile starts, without its look at what is installed: that would
 * install it anew beneath other tests. Nobody is at a terminal to be asked; that these ask has tests of their own.
 */
export const putMake = (folder: string): Promise<void> =>
  writeFile(join(folder, 'make'), MAKE, { mode: 0o700 });

const node = (file: string): string => `exec '${process.execPath}' '${resolve(file)}'`;

const MAKE = `#!/bin/sh
for word; do
  case $word in -*) ;; *=*) export "$word" ;; *) target=$word ;; esac
done
case $target in
  cli) case $ARGS in *recover*|restore*) ARGS="$ARGS --yes" ;; esac; eval "${node('api/admin/cli.ts')} $ARGS" ;;
  run) ${node('api/main.ts')} ;;
  workers) ${node('workers/main.ts')} $ROLES ;;
  simulator) ${node('api/simulator/main.ts')} --port $PORT ;;
  *) exit 2 ;;
esac
`;
