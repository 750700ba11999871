import { basename } from 'node:path';
import { ciFiles, renderFile } from '../chart/render.ts';
import { buildControlPlane } from './build-control-plane.ts';
import { lifecycle } from './lifecycle.ts';
import { prerequisites } from './prerequisites.ts';
import { startControlPlane } from './start-control-plane.ts';

/*
 * `make test-kube`: every file of the chart's `ci/` lives once on a real control plane: installed, tried, upgraded, refused,
 * rolled back, drained and taken away. `ONLY=minimal` for one of them.
 */
const began = performance.now();
const files = ciFiles().filter((file) => basename(file).startsWith(process.env.ONLY ?? ''));
const renders = await Promise.all(files.map((file) => renderFile(file)));
const programs = await buildControlPlane();
const cluster = await startControlPlane(programs);
let problems = 0;
let steps = 0;
try {
  console.log(`control plane ready in ${(cluster.startMs / 1000).toFixed(1)} s`);
  const { stdout } = await cluster.kubectl(['api-versions']);
  const objects = renders.flatMap((render) => render.objects);
  const needed = prerequisites(objects, stdout.split('\n'));
  if (needed !== '') {
    const made = await cluster.kubectl(['apply', '--server-side', '-f', '-'], needed);
    if (made.code !== 0) throw new Error(made.stderr);
    const established = [
      '--for=condition=Established',
      'customresourcedefinitions',
      '--all',
      '--timeout=30s',
    ];
    await cluster.kubectl(['wait', ...established]);
  }
  for (const [index, render] of renders.entries()) {
    console.log(`\n${render.name}`);
    for await (const step of lifecycle(cluster, files[index] ?? '', render)) {
      steps += 1;
      problems += step.problems.length;
      const mark = step.problems.length === 0 ? 'ok  ' : 'FAIL';
      console.log(
        `  ${mark} ${step.name.padEnd(32)}${(step.ms / 1000).toFixed(1).padStart(6)} s  ${step.seen}`,
      );
      for (const problem of step.problems) console.log(`       ${problem}`);
    }
  }
} finally {
  await cluster.stop();
}
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(`\n${files.length} files, ${steps} steps, ${problems} problems, ${seconds} s`);
process.exitCode = problems > 0 || steps === 0 ? 1 : 0;
