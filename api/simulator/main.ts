import { parseArgs } from 'node:util';
import { takeEndSignals } from '#core/end-signals.ts';
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

const signals = takeEndSignals();
const simulator = await startSimulator({
  host: values.host,
  port: toPort(values.port),
  seed: values.seed,
  paceMs: Number(values['pace-ms']),
  lookupDelayMs: Number(values['lookup-delay-ms']),
  videoMs: Number(values['video-ms']),
}).catch(explain);
signals.endBy(() => void simulator.close());
console.log(`Provider simulator: ${simulator.baseUrl}`);

function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  return fail(`PORT has to be a port number, from 0 to 65535, and is ${text}.`);
}

function explain(error: Error): never {
  const code = 'code' in error ? error.code : null;
  if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
  const why = code === 'EACCES' ? 'This user may not listen' : 'Another program listens';
  return fail(`${why} on ${values.host}:${values.port}. Choose another port with PORT.`);
}

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}
