import { join } from 'node:path';
import { z } from 'zod';
import { type CompatClient, failed, passed } from '../client.ts';
import { isolatedEnv } from '../coding-agent.ts';
import { runProgram } from '../run-program.ts';

const report = z.object({
  results: z.array(z.looseObject({ id: z.string(), status: z.string(), message: z.string().default('') })),
});

export const compatcanary: CompatClient = {
  id: 'compatcanary',
  title: 'compatcanary',
  group: 'Public suites',
  packages: 'compatcanary',
  versionOf: 'compatcanary',
  speaks: 'chat, responses',
  async run({ installed, home, folder, origin, accounts, modelId, transcript }) {
    const { output, errors } = await runProgram({
      command: [
        process.execPath,
        join(installed, 'node_modules/compatcanary/src/cli.js'),
        'scan',
        '--base-url',
        `${origin}/v1`,
        '--model',
        modelId,
        '--format',
        'json',
      ],
      cwd: folder,
      env: { ...isolatedEnv(home), OPENAI_API_KEY: accounts.paid },
      timeoutMs: 120_000,
    });
    transcript.add('scan', `${output}\n${errors}`);
    const { results } = report.parse(JSON.parse(output));
    return results.map(({ id, status, message }) =>
      status === 'pass' ? passed(id) : failed(id, `${status}: ${message}`),
    );
  },
};
