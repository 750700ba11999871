import { join } from 'node:path';
import { run } from '../chart/helm.ts';
import type { KubeObject } from '../chart/kube-object.ts';
import { toolPath } from '../tools/tool.ts';

/** A call of one of Tilt's functions, with its arguments by their names. */
export interface TiltCall {
  call: string;
  [argument: string]: unknown;
}

export interface TiltRun {
  /** `null` where it ran; else what it failed with. */
  failure: string | null;
  calls: TiltCall[];
  /** Of one function. */
  of: (name: string) => TiltCall[];
  /** All that is handed to the cluster. */
  objects: KubeObject[];
}

export interface TiltOptions {
  file?: string;
  env?: Record<string, string>;
  settings?: Record<string, string>;
}

const root = join(import.meta.dirname, '../..');

/** As `tilt up` would run it, but for what it asks for: that is only noted. */
export async function runTiltfile(options: TiltOptions = {}): Promise<TiltRun> {
  const { file = join(root, 'Tiltfile'), env = {}, settings = {} } = options;
  const given = JSON.stringify({ env, settings, namespace: 'developer' });
  const ran = await run(toolPath('run-tiltfile'), [file, toolPath('helm')], { stdin: given });
  const calls: TiltCall[] = ran.code === 0 ? JSON.parse(ran.stdout) : [];
  const of = (name: string) => calls.filter(({ call }) => call === name);
  return {
    failure: ran.code === 0 ? null : ran.stderr,
    calls,
    of,
    objects: of('k8s_yaml').flatMap(({ yaml }) => JSON.parse(String(yaml)) as KubeObject[]),
  };
}
