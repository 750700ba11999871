import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, type CompatClient, failed } from '../client.ts';
import { isolatedEnv } from '../coding-agent.ts';
import { environment } from '../program-client.ts';
import { runProgram } from '../run-program.ts';

const TESTS = join(import.meta.dirname, '../programs/langchain_standard.py');
const TIMEOUT_MS = 600_000;

export const langchainTests: CompatClient = {
  id: 'langchain-tests',
  title: "LangChain's standard tests",
  group: 'Public suites',
  packages: 'langchain',
  versionOf: 'langchain-tests',
  speaks: 'chat, responses, messages',
  async run(world) {
    const report = join(world.folder, 'report.xml');
    const options = [
      '--asyncio-mode=auto',
      '-o',
      'asyncio_default_test_loop_scope=session',
      '-p',
      'no:cacheprovider',
    ];
    const { output, errors } = await runProgram({
      command: [
        join(world.installed, 'bin/python'),
        '-m',
        'pytest',
        TESTS,
        ...options,
        '-q',
        `--junitxml=${report}`,
      ],
      cwd: world.folder,
      env: { ...isolatedEnv(world.home), ...environment(world), PYTHONDONTWRITEBYTECODE: '1' },
      timeoutMs: TIMEOUT_MS,
    });
    world.transcript.add('pytest', `${output}\n${errors}`);
    const checks = readReport(await readFile(report, 'utf8'));
    return checks.length > 0 ? checks : [failed('runs', errors || output)];
  },
};

/** Reads what pytest writes: a `testcase` for each test, with a child where it did not pass. */
function readReport(xml: string): Check[] {
  return xml
    .split('<testcase ')
    .slice(1)
    .map((testcase) => {
      const attribute = (name: string): string =>
        new RegExp(`\\b${name}="([^"]*)"`).exec(testcase)?.[1] ?? '';
      const name = `${attribute('classname').split('.').at(-1)} ${attribute('name')}`;
      const outcome = /<(?:failure|error)\b/.test(testcase)
        ? 'failed'
        : testcase.includes('<skipped')
          ? 'skipped'
          : 'passed';
      return { name, outcome, detail: outcome === 'failed' ? attribute('message').slice(0, 600) : '' };
    });
}
