#!/usr/bin/env node
import '#core/require-node.cjs';
import { cliEnvironment } from '../config/cli-environment.ts';
import { runCli } from './cli/run-cli.ts';

// Who reads may have seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCli(process.argv.slice(2), {
  environment: cliEnvironment(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
});
