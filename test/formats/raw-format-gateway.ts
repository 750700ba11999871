import { afterAll, beforeAll } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml } from './format-gateway.ts';

export interface RawFormatGateway {
  provider: RawProvider;
  gateway: TestGateway;
}

/** Starts a gateway for all tests of the block. Behind its three kinds of providers stands one that writes whatever bytes a test sets. */
export function useRawFormatGateway(): RawFormatGateway {
  const raw = {} as RawFormatGateway;
  beforeAll(async () => {
    raw.provider = await startRawProvider();
    raw.gateway = await startTestGateway({
      yaml: formatYaml(raw.provider.baseUrl, 'stops_billing', { all: 'openai' }),
    });
  });
  afterAll(async () => {
    await raw.gateway.stop();
    await raw.provider[Symbol.asyncDispose]();
  });
  return raw;
}
