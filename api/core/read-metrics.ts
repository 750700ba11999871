import { Counter, Gauge, type Registry } from 'prom-client';

type Add = (name: string, help: string, read: () => number) => void;

/** Adds metrics whose numbers are kept elsewhere anyway, and are read whenever the registry is asked. */
export function readMetrics(registry: Registry): { gauge: Add; counter: Add } {
  const registers = [registry];
  return {
    gauge(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    counter(name, help, read) {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    },
  };
}
