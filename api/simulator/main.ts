import { parseArgs } from 'node:util';
import { startSimulator } from './simulator.ts';

/** `make simulator`: the simulator alone, for a gateway that runs elsewhere. Slow enough to see a stream arrive. */
const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8100' },
    seed: { type: 'string', default: 'faregate' },
    'pace-ms': { type: 'string', default: '20' },
    'lookup-delay-ms': { type: 'string', default: '500' },
    'video-ms': { type: 'string', default: '12000' },
  },
});

const simulator = await startSimulator({
  host: values.host,
  port: Number(values.port),
  seed: values.seed,
  paceMs: Number(values['pace-ms']),
  lookupDelayMs: Number(values['lookup-delay-ms']),
  videoMs: Number(values['video-ms']),
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void simulator.close());
console.log(`Provider simulator: ${simulator.baseUrl}`);
