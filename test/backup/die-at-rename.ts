import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Loaded before a program: it dies, as by a power cut, right before its nth rename of a file. */
const dieAt = Number(process.env.DIE_AT_RENAME);
const { renameSync } = fs;
let renames = 0;
fs.renameSync = (from, to) => {
  if (++renames === dieAt) process.kill(process.pid, 'SIGKILL');
  renameSync(from, to);
};
syncBuiltinESMExports();
