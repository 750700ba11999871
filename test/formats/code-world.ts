import type { FormatName } from '#core/catalog/catalog.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { formatYaml, modelOf, type ProviderKind, startFormatGateway } from './format-gateway.ts';
import { requestIn } from './requests.ts';

/** Who asks what: one cell of the table of codes. */
export interface Cell {
  format: FormatName;
  stream: boolean;
  kind: ProviderKind;
}

/** What one call came to. */
export interface Met {
  gateway: TestGateway;
  agent: TestAgent;
  res: Response;
  text: string;
}

/** What an operator may have configured. */
const SETTINGS = {
  usual: '',
  'one call may hold next to nothing': 'capacity: { perCallUsd: "0.000001" }',
  'all calls together may hold one call': 'capacity: { poolUsd: "0.00025" }',
  'the process runs one call': 'capacity: { runningCalls: 1 }',
  'an agent’s day has room for one call': 'capacity: { dailySharePerAgentUsd: "0.00025" }',
  'an agent starts one call a minute': 'limits: { callsPerMinute: 1, burst: 1 }',
  'an agent runs one call': 'limits: { runningCalls: 1 }',
  'the gateway is stopped': 'stopped: true',
  'a list of models never came': '',
  'the provider is stopped': '',
  'time moves by hand': '',
} as const;
const CANCEL = 'stops_billing';
export type Setting = keyof typeof SETTINGS;

/** Real gateways, each started when the first cell needs it. */
export class CodeWorld {
  readonly clock: FakeClock = createFakeClock();
  readonly #gateways = new Map<Setting, Promise<TestGateway>>();

  gateway(setting: Setting): Promise<TestGateway> {
    const known = this.#gateways.get(setting) ?? this.#start(setting);
    this.#gateways.set(setting, known);
    return known;
  }

  async ask(
    setting: Setting,
    { format, stream, kind }: Cell,
    { extra = {}, path = pathOf(format), ...given }: Asked = {},
  ): Promise<Met> {
    const gateway = await this.gateway(setting);
    const agent = given.agent ?? (await gateway.newAgent());
    const body = given.body ?? requestIn(format, modelOf[kind], { stream, ...extra });
    const res = await gateway.post(body, { path, agent });
    given.onHead?.();
    return { gateway, agent, res, text: await res.text() };
  }

  async reset(): Promise<void> {
    for (const gateway of this.#gateways.values()) (await gateway).provider.reset();
  }

  async stop(): Promise<void> {
    for (const gateway of this.#gateways.values()) await (await gateway).stop();
  }

  #start(setting: Setting): Promise<TestGateway> {
    switch (setting) {
      case 'time moves by hand':
        return startFormatGateway(CANCEL, {}, { clock: this.clock });
      case 'the provider is stopped':
        return startFormatGateway(CANCEL, { stopped: true });
      case 'a list of models never came':
        return startWithoutList();
      default:
        return startFormatGateway(CANCEL, { more: SETTINGS[setting] });
    }
  }
}

/** Another provider's list would tell whether it serves a model that stands nowhere else. */
function startWithoutList(): Promise<TestGateway> {
  const silent = '\n  - { id: silent, kind: openrouter, baseUrl: PROVIDER_URL/none }\nmodels:';
  return startTestGateway({ yaml: formatYaml('PROVIDER_URL', CANCEL).replace('\nmodels:', silent) });
}

interface Asked {
  agent?: TestAgent;
  extra?: object;
  path?: string;
  body?: unknown;
  onHead?: () => void;
}
