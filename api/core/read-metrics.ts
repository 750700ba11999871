import { Counter, Gauge, type Registry } from 'prom-client';

type Add = (name: string, help: string, read: () => number) => void;

/**
 * Metrics that are plain numbers elsewhere and are read when somebody looks: the registry's own counting costs a dear
 * part of a small call.
 */
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
