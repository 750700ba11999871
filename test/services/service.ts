/** One real store as a process of our own, on loopback. */
export interface Service {
  readonly name: ServiceName;
  /** `host:port`; of S3 a URL. */
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  /** From the start of the process to its first answer in its own protocol. */
  readonly startMs: number;
  signal(signal: NodeJS.Signals): void;
  /** Resolves once the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** The same data on the same ports, after a stop or a kill. */
  restart(): Promise<Service>;
}

export const serviceNames = ['redis', 'kafka', 'cassandra', 's3'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** This machine cannot give a service: what is missing, in a sentence for whoever started the tests. */
export class ServiceMissingError extends Error {
  override readonly name = 'ServiceMissingError';
}
