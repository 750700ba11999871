import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { freePort } from '../services/free-port.ts';
import { runCommand } from '../services/run-command.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { startKafka } from '../services/start-kafka.ts';
import { startRedis } from '../services/start-redis.ts';
import { until } from './gateway.ts';

/** All that a cluster needs, each over TLS and with a password. */
export interface SecuredStores {
  /** Of the authority that signed every store's certificate: no system trusts it by itself. */
  caFile: string;
  kafkaAddress: string;
  username: string;
  password: string;
  /** The blocks `storage` and `admin` of a configuration. */
  yaml: string;
  adminToken: string;
  stop(): Promise<void>;
}

const PASSWORD = 'a-password-of-the-tests';
/** Of Cassandra's first user, whom only the node itself can rename. */
const CASSANDRA = 'cassandra';
const USERNAME = 'faregate';
const USER_MADE_MS = 30_000;

export async function startSecuredStores(folder: string): Promise<SecuredStores> {
  const at = (name: string) => join(folder, name);
  const { key, certificate, store } = await makeCertificate(folder);
  const pem = `${await readFile(key, 'utf8')}${await readFile(certificate, 'utf8')}`;
  await writeFile(at('kafka.pem'), pem);
  const tlsPort = await freePort();
  const kafkaPort = await freePort();
  // None of them may outlive a start that failed.
  await using started = new AsyncDisposableStack();
  const starting = await Promise.allSettled(
    [
      startRedis({
        dir: at('redis'),
        args: [
          ...['--tls-port', String(tlsPort), '--tls-auth-clients', 'no', '--requirepass', PASSWORD],
          ...['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate],
        ],
      }),
      startKafka({
        dir: at('kafka'),
        properties: (ports) => securedListener(kafkaPort, ports, folder),
        format: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
          '--add-scram',
          `${mechanism}=[name=${USERNAME},password=${PASSWORD}]`,
        ]),
      }),
      startCassandra({ dir: at('cassandra'), asksPassword: true, settings: encryption(store) }),
    ].map(async (starts) => {
      const service = await starts;
      started.defer(() => service.stop('SIGKILL'));
      return service;
    }),
  );
  const failed = starting.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const cassandra = starting.flatMap((each) =>
    each.status === 'fulfilled' && each.value.name === 'cassandra' ? [each.value.address] : [],
  );
  const client = connectCassandra({
    contactPoints: cassandra,
    localDataCentre: 'datacenter1',
    credentials: { username: CASSANDRA, password: CASSANDRA },
    tls: false,
  });
  const isThere = () =>
    client.connect().then(
      () => true,
      () => false,
    );
  started.defer(() => client.shutdown());
  await until(isThere, USER_MADE_MS);
  const adminToken = 'test-admin-token-of-a-secured-cluster';
  await Promise.all([
    writeFile(at('pepper'), `${'p'.repeat(43)}\n`),
    writeFile(at('admin-token'), `${adminToken}\n`),
    writeFile(at('password'), `${PASSWORD}\n`),
    writeFile(at('cassandra-password'), `${CASSANDRA}\n`),
  ]);
  const running = started.move();
  return {
    caFile: certificate,
    kafkaAddress: `127.0.0.1:${kafkaPort}`,
    username: USERNAME,
    password: PASSWORD,
    adminToken,
    stop: () => running.disposeAsync(),
    yaml: `
storage:
  mode: cluster
  redis: { urls: ["rediss://127.0.0.1:${tlsPort}"], passwordFile: ${at('password')} }
  kafka:
    brokers: ["127.0.0.1:${kafkaPort}"]
    replicationFactor: 1
    tls: true
    sasl: { mechanism: scram-sha-512, username: ${USERNAME}, passwordFile: ${at('password')} }
  cassandra:
    contactPoints: ${JSON.stringify(cassandra)}
    replicationFactor: 1
    tls: true
    username: ${CASSANDRA}
    passwordFile: ${at('cassandra-password')}
  keyPepper: { id: t, secretFile: ${at('pepper')} }
  allowUnsafe: true # one copy of everything
admin: { tokenFile: ${at('admin-token')} }
`,
  };
}

/** For this machine's address, signed by itself. */
async function makeCertificate(folder: string): Promise<{ key: string; certificate: string; store: string }> {
  const key = join(folder, 'key.pem');
  const certificate = join(folder, 'certificate.pem');
  const store = join(folder, 'store.p12');
  await runCommand('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=faregate tests'],
    ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate],
  ]);
  await runCommand('openssl', [
    ...['pkcs12', '-export', '-in', certificate, '-inkey', key],
    ...['-out', store, '-passout', `pass:${PASSWORD}`],
  ]);
  return { key, certificate, store };
}

/** Beside the plain one, by which it is known to be ready. */
const securedListener = (
  kafkaPort: number,
  { port, controllerPort }: { port: number; controllerPort: number },
  folder: string,
): string => `
listeners=BROKER://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},SECURED://127.0.0.1:${kafkaPort}
advertised.listeners=BROKER://127.0.0.1:${port},SECURED://127.0.0.1:${kafkaPort}
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location=${join(folder, 'kafka.pem')}
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secured.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  user_${USERNAME}="${PASSWORD}";
listener.name.secured.scram-sha-256.sasl.jaas.config=${SCRAM_MODULE} required;
listener.name.secured.scram-sha-512.sasl.jaas.config=${SCRAM_MODULE} required;
`;
const SCRAM_MODULE = 'org.apache.kafka.common.security.scram.ScramLoginModule';

/** Both kinds of connection are taken, as while a cluster is moved to TLS. */
const encryption = (store: string): string => `
client_encryption_options:
  enabled: true
  optional: true
  keystore: ${store}
  keystore_password: ${PASSWORD}
  store_type: PKCS12
`;
