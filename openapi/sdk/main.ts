import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { hasTool } from '../../test/tools/tool.ts';
import { makeSdk } from './make-sdk.ts';
import { generatorOf, isSdkLanguage, type SdkLanguage, sdkLanguages } from './sdk-language.ts';

/*
 * `make sdk LANG=python`: writes an SDK into `sdk/python` and says how it is used.
 */
const root = join(import.meta.dirname, '../..');
const usage: Readonly<Record<SdkLanguage, readonly [string, string]>> = {
  typescript: [
    "Use it:  copy the folder, then import { createChatCompletion } from './faregate/index.ts', set up as openapi/README.md shows",
    // The one that came with the install: the machine's own may be too old for TypeScript.
    `Try it:  FAREGATE_KEY=<key> ${relative(root, process.execPath)} sdk/typescript/tour.ts`,
  ],
  python: [
    'Use it:  pip install ./sdk/python, then from faregate import AuthenticatedClient',
    'Try it:  FAREGATE_KEY=<key> python3 sdk/python/tour.py',
  ],
  go: [
    'Use it:  go mod edit -replace faregate/sdk=./sdk/go, then import "faregate/sdk"',
    'Try it:  cd sdk/go && FAREGATE_KEY=<key> go run ./cmd/tour',
  ],
};

const language = process.argv[2];
if (isSdkLanguage(language)) writeSdk(language);
else {
  const commands = sdkLanguages.map((each) => `make sdk LANG=${each}`).join(', ');
  fail(`Say which SDK: ${commands}. How any other is made stands in openapi/README.md.`);
}

function writeSdk(wanted: SdkLanguage): void {
  const tool = generatorOf[wanted];
  if (!hasTool(tool)) {
    console.log(`Installing ${tool} once, which takes up to a minute …`);
    const install = spawnSync(process.execPath, [join(root, 'test/tools/install.ts'), tool], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (install.status !== 0) {
      fail(`Install what is missing, then make sdk LANG=${wanted} again.`);
      return;
    }
  }
  const folder = join(root, 'sdk', wanted);
  console.log(`Making ${relative(root, folder)} …`);
  try {
    makeSdk(wanted, folder);
  } catch (error) {
    fail(`No SDK was written: ${whyOf(error)}`);
    return;
  }
  console.log(`Wrote ${relative(root, folder)} from openapi/v1.json, by ${tool}.`);
  for (const line of usage[wanted]) console.log(line);
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isInTheWay = 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOTDIR');
  return isInTheWay ? 'sdk is a file. Move it away, for it has to be a folder.' : error.message;
}

function fail(sentence: string): void {
  console.error(sentence);
  process.exitCode = 1;
}
