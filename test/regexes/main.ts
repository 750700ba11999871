import { join } from 'node:path';
import { allowedRegexes } from './allowed-regexes.ts';
import { checkRegexes } from './check-regexes.ts';

/** Part of `make check`: no pattern that strangers reach may cost more than linear time. */
const root = join(import.meta.dirname, '../..');
const problems = await checkRegexes(root, allowedRegexes, join(root, '.cache/regexes.json'));
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(
    'Rewrite the pattern, or search without one. What bounds its input otherwise is a reason for test/regexes/allowed-regexes.ts.',
  );
  process.exitCode = 1;
}
