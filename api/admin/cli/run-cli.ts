import { Command, CommanderError } from 'commander';
import { programVersion } from '#core/program-version.ts';
import { addAgents } from './agents.ts';
import { addAudit } from './audit.ts';
import { addBackup } from './backup.ts';
import { addCalls } from './calls.ts';
import { addCatalog } from './catalog.ts';
import { type CliIo, createContext, type GlobalOptions, type OpenContext } from './cli-context.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { addClock } from './clock.ts';
import { addCompletion } from './completion.ts';
import { addCredit } from './credit.ts';
import { addDoctor } from './doctor.ts';
import { addKeys } from './keys.ts';
import { addLedger } from './ledger.ts';
import { addMarket } from './market.ts';
import { addMarkets } from './markets.ts';
import { addMigrate } from './migrate.ts';
import { paintFor, printable } from './terminal.ts';

/** Resolves with the exit code. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const program = createProgram(() =>
    createContext(program, io, () => {
      exitCode = exitCodes.refused;
    }),
  );
  writeTo(program, io);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    if (!(error instanceof CliError)) throw error;
    const asJson = program.opts<GlobalOptions>().json === true;
    const text = asJson
      ? JSON.stringify(error.body)
      : paintFor(io.stderr)('red', printableLines(error.message));
    io.stderr.write(`${text}\n`);
    return error.exitCode;
  }
}

/** A configuration's mistakes stand in a line each. */
const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** Every command there is. `open` is called by the one that runs. */
export function createProgram(open: OpenContext): Command {
  const program = new Command('faregate')
    .description('Operates a Faregate gateway over its admin API; backs up and restores its data.')
    .version(programVersion)
    .option('--json', 'print the answer as JSON, for programs')
    .option('--url <address>', 'address of the admin API; without it, the gateway that runs on this machine')
    .option('--token-file <path>', 'file that holds its admin token')
    .addHelpText('after', HELP)
    .configureHelp({ showGlobalOptions: true });
  const ofGateway = [
    addAgents,
    addCredit,
    addKeys,
    addCalls,
    addCatalog,
    addLedger,
    addClock,
    addMarkets,
    addMarket,
    addAudit,
  ];
  for (const add of [...ofGateway, addBackup, addMigrate, addDoctor, addCompletion]) add(program, open);
  return program;
}

/** Throws where commander would end the process, and writes to the given streams, down to every verb. */
function writeTo(command: Command, io: CliIo): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
  });
  for (const each of command.commands) writeTo(each, io);
}

const HELP = `
Without --url the gateway is found by its data folder: FAREGATE_DATA, or .faregate in the current folder.
Backups work on that folder itself, or on the stores that FAREGATE_CONFIG names, without the admin API. So does
doctor, which looks at all that a gateway of that configuration needs.

Exit codes:
  0  done
  1  refused: the gateway said no, an audit or doctor found something, or you said no
  2  wrong usage
  3  the gateway cannot be reached`;
