import { randomBytes } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Config, loadConfig } from '../../api/config/config.ts';
import { type Container, type PodTemplate, workloadsOf } from './kube-object.ts';
import { ciRenders, type Render } from './render.ts';
import { whereInstalled } from './where-installed.ts';

interface Started {
  label: string;
  config: Config;
}

/** Each container of a render that reads a configuration, as its process does: with its variables and its mounts only. */
async function start({ objects, name }: Render): Promise<Started[]> {
  const started: Started[] = [];
  for (const { label, pod, containers } of workloadsOf(objects)) {
    for (const container of containers) {
      const env = environmentOf(container);
      if (env.FAREGATE_CONFIG === undefined) continue;
      const config = await loadConfig(env, async (path) => readMounted(path, { pod, container, objects }));
      started.push({ label: `${name}: ${label}`, config });
    }
  }
  return started;
}

const environmentOf = ({ env = [] }: Container): Record<string, string> =>
  Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      value ?? (valueFrom?.secretKeyRef === undefined ? '' : randomBytes(32).toString('base64')),
    ]),
  );

function readMounted(
  path: string,
  parts: { pod: PodTemplate; container: Container; objects: Render['objects'] },
): string {
  const { pod, container, objects } = parts;
  const mount = container.volumeMounts?.find(({ mountPath }) => mountPath === dirname(path));
  const volume = pod.spec.volumes?.find(({ name }) => name === mount?.name);
  if (volume?.secret !== undefined) return randomBytes(32).toString('hex');
  const map = objects.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume?.configMap?.name,
  );
  const text = map?.data?.[basename(path)];
  if (text === undefined) throw Object.assign(new Error(`nothing is mounted at ${path}`), { code: 'ENOENT' });
  return text;
}

describe.runIf(whereInstalled('helm'))('the server takes the configuration that the chart writes', () => {
  test('of every process, in every file of ci/, with what its pod is given and no more', async () => {
    const started = (await Promise.all((await ciRenders()).map(start))).flat();
    expect(started.length).toBeGreaterThan(30);
    const rightly = started.filter(({ config, label }) => {
      const mode = label.startsWith('embedded:') ? 'embedded' : 'cluster';
      return (
        config.storage.mode === mode &&
        config.notices.every((notice) => notice.startsWith('Uploads are refused'))
      );
    });
    expect(rightly.map(({ label }) => label)).toEqual(started.map(({ label }) => label));
  });

  test('and finds in it what the values say', async () => {
    const renders = await ciRenders();
    const configOf = async (file: string) => {
      const render = renders.find(({ name }) => name === file);
      if (render === undefined) throw new Error(`There is no ci/${file}-values.yaml.`);
      return (await start(render)).find(({ label }) => /\/[^/]*(-api|faregate)$/.test(label))?.config;
    };
    expect(await configOf('no-market-no-media')).toMatchObject({ market: 'off', files: { kind: 'none' } });
    expect(await configOf('embedded')).toMatchObject({ market: 'on', files: { kind: 'local' } });
    expect(await configOf('gateway-api')).toMatchObject({ limits: { streamMs: 3_600_000 } });
    expect(await configOf('full')).toMatchObject({
      files: { kind: 's3', bucket: 'faregate' },
      storage: {
        redis: { cluster: true },
        kafka: { sasl: { mechanism: 'scram-sha-512' } },
        peppers: { length: 2 },
      },
      server: { host: '0.0.0.0', internalPort: 9090, publicUrl: 'https://gateway.example.com/v1' },
    });
  });
});
