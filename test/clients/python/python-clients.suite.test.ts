import { afterAll, describe } from 'vitest';
import { testClient } from '../scenarios.ts';
import { installPython } from './install-python.ts';
import { PythonClients, pythonClients } from './python-clients.ts';

const installed = await installPython();
const missing = 'missing' in installed;
if (missing) console.warn(`\nSKIPPED: every test of a Python package. ${installed.missing}\n`);

describe.skipIf(missing)('with the official Python packages', () => {
  let open: PythonClients | null = null;
  afterAll(() => open?.stop());

  for (const [name, client] of Object.entries(pythonClients)) {
    testClient({
      ...client,
      open(account) {
        open ??= new PythonClients(missing ? '' : installed.python);
        return open.calls(name, account);
      },
    });
  }
});
