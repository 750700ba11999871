import { kubeScore } from './kube-score.ts';
import { mutationTable } from './mutation-table.ts';
import { unusedValues } from './unused-values.ts';

/*
 * `make chart-full`, after the quick checks: what kube-score says and why we differ, values that no template reads, and the
 * checklist's promises broken one by one. `ONLY=mutations` for one of the three, with `ROWS=5,19` for
 * some rows of it.
 */
const checks = { 'kube-score': kubeScore, values: unusedValues, mutations: mutationTable };

let problems = 0;
for (const [name, check] of Object.entries(checks)) {
  if (process.env.ONLY !== undefined && process.env.ONLY !== name) continue;
  const began = performance.now();
  const found = await check();
  for (const problem of found) console.log(`FAIL ${problem}`);
  problems += found.length;
  console.log(`${name}: ${found.length} problems, ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
}
process.exitCode = problems > 0 ? 1 : 0;
