import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Check, type ClientWorld, type CompatClient, failed, passed } from './client.ts';
import { type Ended, runProgram } from './run-program.ts';

/** A coding agent on the command line: its configuration, and the command that gives it a task. */
export interface CodingAgent extends Omit<CompatClient, 'run' | 'group'> {
  /** How it is installed, in a user's words. */
  install: string;
  /** Sentences for the guide of clients. */
  advice: string;
  /** Files of its home, by path. */
  files(setup: AgentSetup): Readonly<Record<string, string>>;
  env(setup: AgentSetup): Readonly<Record<string, string>>;
  command(setup: AgentSetup, task: string): readonly string[];
  /** The command as a user types it. */
  typed(modelId: string): string;
  /** How this agent's tools are asked for; by default in words that fit most. */
  task?(file: string): string;
  /** For an agent without tools: what the model answers, so that the agent writes the file itself. */
  answer?(file: string): string;
  /** Refusals that it shows with words of its own in the place of ours. */
  ownWords?: Readonly<Partial<Record<RefusalName, RegExp>>>;
}

export interface AgentSetup {
  origin: string;
  key: string;
  modelId: string;
  home: string;
  folder: string;
  installed: string;
}

const WORDS = 'seven lions sleep';
const TIMEOUT_MS = 120_000;

type RefusalName = 'wrong key' | 'no credit' | 'unknown model';

/** Refusals that a person must be able to read. */
const REFUSALS: readonly {
  name: RefusalName;
  shown: RegExp;
  change(setup: AgentSetup, world: ClientWorld): AgentSetup;
}[] = [
  {
    name: 'wrong key',
    shown: /API key/i,
    change: (setup, { accounts }) => ({ ...setup, key: accounts.wrongKey }),
  },
  {
    name: 'no credit',
    shown: /is spendable/i,
    change: (setup, { accounts }) => ({ ...setup, key: accounts.empty }),
  },
  {
    name: 'unknown model',
    shown: /acme\/none/,
    change: (setup) => ({ ...setup, modelId: 'acme/none' }),
  },
];

export const codingAgent = (agent: CodingAgent): CompatClient => ({
  ...agent,
  group: 'Coding agents',
  async run(world) {
    const { accounts, origin, modelId, home, folder, installed } = world;
    const setup: AgentSetup = { origin, key: accounts.paid, modelId, home, folder, installed };
    const checks = [await checkTask(agent, setup, world)];
    for (const refusal of REFUSALS) {
      const task = 'Say hello.';
      const ended = await runAgent(agent, refusal.change(setup, world), task);
      world.transcript.add(`Refusal: ${refusal.name}`, shown(ended));
      const expected = agent.ownWords?.[refusal.name] ?? refusal.shown;
      const name = `shows the refusal: ${refusal.name}`;
      checks.push(
        expected.test(withoutTask(ended, task)) ? passed(name) : failed(name, shown(ended).slice(-500)),
      );
    }
    return checks;
  },
});

/** Two steps, of which the second needs what the first has done. */
async function checkTask(
  agent: CodingAgent,
  setup: AgentSetup,
  { transcript, provider, kind }: ClientWorld,
): Promise<Check> {
  const name = agent.answer === undefined ? 'two-step tool task' : 'writes a file';
  const file = join(setup.folder, 'notes.txt');
  const task = agent.task?.(file) ?? `Write the file ${file} with \`${WORDS}\`, then read ${file}.`;
  const answer = agent.answer?.(file);
  if (answer !== undefined)
    provider.next({ path: kind === 'messages-only' ? '/messages' : '/chat/completions', text: answer });
  const ended = await runAgent(agent, setup, task);
  transcript.add(`Task: ${task}`, shown(ended));
  const written = await readFile(file, 'utf8').catch(() => null);
  if (written?.trim() !== WORDS)
    return failed(name, `The file holds ${JSON.stringify(written)}. ${shown(ended).slice(-500)}`);
  // The words stand in the task too, so the model's last sentence is what proves the second result.
  const told = answer !== undefined || /The tools answered:[\s\S]*seven lions sleep/.test(ended.output);
  if (ended.code !== 0 || !told)
    return failed(name, `It ended with ${ended.code}. ${shown(ended).slice(-500)}`);
  return passed(name);
}

async function runAgent(agent: CodingAgent, setup: AgentSetup, task: string): Promise<Ended> {
  // A process of the agent may still write there.
  await rm(setup.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  for (const [path, content] of Object.entries({ '.keep': '', ...agent.files(setup) })) {
    await mkdir(dirname(join(setup.home, path)), { recursive: true });
    await writeFile(join(setup.home, path), content);
  }
  return runProgram({
    command: agent.command(setup, task),
    cwd: setup.folder,
    timeoutMs: TIMEOUT_MS,
    env: { ...isolatedEnv(setup.home), ...agent.env(setup) },
  });
}

/** Nothing of this machine's user: neither settings nor keys. */
export const isolatedEnv = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  XDG_CONFIG_HOME: join(home, '.config'),
  XDG_DATA_HOME: join(home, '.local/share'),
  XDG_CACHE_HOME: join(home, '.cache'),
  XDG_STATE_HOME: join(home, '.local/state'),
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  NO_COLOR: '1',
  CI: '1',
});

const shown = ({ code, output, errors }: Ended): string =>
  [output.trim(), errors.trim(), `(exit ${code ?? 'by the time limit'})`]
    .filter((part) => part !== '')
    .join('\n');

const withoutTask = (ended: Ended, task: string): string => shown(ended).replaceAll(task, '');
