import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Prints the reason of a failure as it happens. By itself vitest prints reasons at its end, which a run that is ended early never reaches. */
export default class FailuresAtOnce implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === 'failed') print(`${test.module.relativeModuleId} > ${test.fullName}`, errors ?? []);
  }

  /** An import, or a hook of the whole file, may fail without a test. */
  onTestModuleEnd(module: TestModule): void {
    const errors = module.errors();
    if (errors.length > 0) print(module.relativeModuleId, errors);
  }
}

function print(name: string, errors: readonly { message: string; stack?: string | undefined }[]): void {
  const reasons = errors.map(({ message, stack }) => ownLines(stack ?? message));
  console.log([`FAILED at once: ${name}`, ...reasons].join('\n'));
}

const ownLines = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => !/node_modules|new Promise/.test(line))
    .join('\n');
