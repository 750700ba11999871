import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../services/free-port.ts';
import { compileCache } from '../support/compile-cache.ts';
import { createMovingClock, type MovingClock } from '../support/moving-clock.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';

export interface ApiProcessOptions {
  configFile: string;
  folder: string;
  name: string;
  /** The file that it starts with; default: the product's own. */
  entry?: string | undefined;
}

/** `node api/main.ts` under an address that stays, whatever becomes of the process. */
export class ApiProcess {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly clock: MovingClock;
  readonly internalUrl: string;
  readonly #start: (ready: boolean) => Promise<NodeProcess>;
  #process: NodeProcess | null = null;

  static async open(options: ApiProcessOptions): Promise<ApiProcess> {
    return new ApiProcess({ ...options, port: await freePort(), internalPort: await freePort() });
  }

  private constructor(options: ApiProcessOptions & { port: number; internalPort: number }) {
    const { configFile, folder, name, entry = 'api/main.ts', port, internalPort } = options;
    const dataDir = join(folder, name);
    mkdirSync(dataDir);
    this.baseUrl = `http://127.0.0.1:${port}/v1`;
    this.clock = createMovingClock(join(dataDir, 'clock'));
    this.internalUrl = `http://127.0.0.1:${internalPort}`;
    this.#start = (ready) =>
      startNodeProcess({
        command: [entry],
        internalPort,
        output: join(folder, `${name}.log`),
        env: {
          ...this.clock.env,
          ...compileCache,
          FAREGATE_CONFIG: configFile,
          FAREGATE_DATA: dataDir,
          PORT: String(port),
        },
        ready,
      });
  }

  async start({ ready = true } = {}): Promise<void> {
    this.#process = await this.#start(ready);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.signal(signal);
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    return (await this.#process?.stop(signal)) ?? null;
  }
}
