import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CONFIG_POLL_MS } from '../../api/config/watch-config.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, MODEL, startTestGateway, type TestGateway, until } from '../support/gateway.ts';

const clock = createFakeClock();
const yaml = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ clock, yaml });
  vi.stubEnv('FAREGATE_CONFIG', gateway.configFile);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway.stop();
});

/** Puts these lines into the file, and resolves when the running gateway has looked at them. */
async function change(lines: string): Promise<void> {
  const { config } = gateway.running.deps;
  const before = config.lastReload();
  await writeFile(gateway.configFile, yaml.replace('PROVIDER_URL', gateway.provider.baseUrl) + lines);
  await until(() => {
    clock.advance(CONFIG_POLL_MS);
    return config.lastReload() !== before;
  });
}

/** Of one call. */
async function answer(): Promise<string> {
  const res = await gateway.post(hello());
  const { error } = JSON.parse(await res.text());
  return error === undefined ? String(res.status) : `${res.status} ${error.code}`;
}

describe('a change of the configuration file counts without a restart', () => {
  it('of the gateway’s stop switch, both ways', async () => {
    expect(await answer()).toBe('200');
    await change('stopped: true');
    expect(await answer()).toBe('503 gateway_unavailable');
    await change('');
    expect(await answer()).toBe('200');
  });

  it('of a model’s stop switch', async () => {
    await change(`models: [{ id: ${MODEL}, stopped: true }]`);
    expect(await answer()).toBe('400 model_not_served');
  });

  it('of what an agent may have running', async () => {
    await change('limits: { runningCalls: 1 }');
    gateway.provider.next({ gate: 'one', gateAt: 'headers' });
    const running = answer();
    await gateway.provider.reached('one');
    expect(await answer()).toBe('429 too_many_running_calls');
    gateway.provider.release('one');
    expect(await running).toBe('200');
  });

  it('of what one call may hold', async () => {
    await change('capacity: { perCallUsd: "0.001" }');
    expect(await answer()).toBe('400 request_over_capacity');
  });

  it('of what one agent may spend in a day', async () => {
    await change('capacity: { dailySharePerAgentUsd: "0.0000001" }');
    expect(await answer()).toBe('400 request_over_capacity');
  });

  it('but a file with a mistake changes nothing, and the operator is told, until it is mended', async () => {
    await change('capacity: { perCallUsd: "0.001" }');
    await change('capacity: { perCallUsd: "none" }\nstopped: true');
    expect(await answer()).toBe('400 request_over_capacity');
    expect(await gateway.metric('faregate_config_reload_ok')).toBe(0);
    expect(gateway.logged.at(-1)).toMatchObject({
      event: 'configuration not reloaded',
      fields: { cause: expect.stringContaining('capacity.perCallUsd') },
    });
    await change('');
    expect(await answer()).toBe('200');
    expect(await gateway.metric('faregate_config_reload_ok')).toBe(1);
  });
});
