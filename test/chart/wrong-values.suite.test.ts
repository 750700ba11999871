import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHART, helm } from './helm.ts';
import { whereInstalled } from './where-installed.ts';

const BASE = join(CHART, 'ci/minimal-values.yaml');

/** What somebody writes, as helm's `--set-json`, and what the refusal has to name. */
const wrong: [what: string, json: string, says: RegExp][] = [
  // A name that is not there.
  ['a value that does not exist', 'apii={}', /apii/],
  ['a value that does not exist, further down', 'api.replica=3', /replica/],
  ['a key of a store that does not exist', 'redis.hosts=["a"]', /hosts/],
  ['a setting of the server that does not exist', 'config.limits.callPerMinute=3', /callPerMinute/],
  ['a worker that does not exist', 'workers.candles={}', /candles/],
  ['a key of the pod that does not exist', 'api.pod.nodeSelectors={}', /nodeSelectors/],
  [
    'a provider’s setting that does not exist',
    'config.providers=[{"id":"a","kind":"openai","url":"x"}]',
    /url/,
  ],
  // A type.
  ['a number as text', 'api.replicas="3"', /replicas/],
  ['half a pod', 'api.replicas=2.5', /replicas/],
  ['a switch as text', 'networkPolicy.enabled="false"', /enabled/],
  ['one address in the place of several', 'redis.urls="redis://a:6379"', /urls/],
  ['a list in the place of a map', 'pod.labels=["a"]', /labels/],
  ['a label that is a number', 'pod.labels={"a":1}', /labels/],
  ['an environment as a map', 'pod.extraEnv={"A":"b"}', /extraEnv/],
  ['a port as a number in brokers', 'kafka.brokers=[9092]', /brokers/],
  ['a time in seconds as text', 'drain.preStopSeconds="15s"', /preStopSeconds/],
  ['an annotation that is a switch', 'service.annotations={"a":true}', /annotations/],
  ['a limit of the server as text', 'config.limits.streamMs="30m"', /streamMs/],
  ['a secret by its value', 'keyPepper.key=["x"]', /key/],
  // A range.
  ['fewer pods than none', 'api.replicas=-1', /replicas/],
  ['more workers than there are shards', 'workers.settlement.replicas=65', /replicas/],
  ['a scaler above the partitions', 'workers.market.autoscaling.maxReplicas=100', /maxReplicas/],
  ['a budget that lets no node be drained', 'api.disruptionBudget.maxUnavailable=0', /maxUnavailable/],
  ['a budget of no percent', 'api.disruptionBudget.maxUnavailable="0%"', /maxUnavailable/],
  ['a rolling update without a surge', 'api.strategy.maxSurge=0', /maxSurge/],
  [
    'a grace period shorter than a call',
    'drain.terminationGracePeriodSeconds=600',
    /terminationGracePeriodSeconds/,
  ],
  ['no time to settle', 'drain.settleSeconds=0', /settleSeconds/],
  ['no copy of a topic', 'kafka.replicationFactor=0', /replicationFactor/],
  ['more than all of the processor', 'api.autoscaling.targetCpuPercent=500', /targetCpuPercent/],
  ['no time at all for a stream', 'config.limits.streamMs=0', /streamMs/],
  ['a bucket with a space', 'media.s3.bucket="my bucket"', /bucket/],
  // A word.
  ['a mode that does not exist', 'mode="ha"', /mode/],
  ['a migration that does not exist', 'migrate.mode="always"', /mode/],
  ['a scaler that does not exist', 'api.autoscaling.kind="keda"', /kind/],
  ['a pull policy that does not exist', 'image.pullPolicy="Sometimes"', /pullPolicy/],
  ['a kind of service that does not exist', 'service.type="ExternalName"', /type/],
  ['a digest that is none', 'image.digest="sha256:abc"', /digest/],
  ['a tag with a space', 'image.tag="v 1"', /tag/],
  ['an address without a scheme', 'redis.urls=["redis:6379"]', /urls/],
  ['an address with a password in it', 'redis.urls=["redis://:pw@redis:6379"]', /urls/],
  ['a broker without a port', 'kafka.brokers=["kafka"]', /brokers/],
  ['a broker with a scheme', 'kafka.brokers=["http://kafka:9092"]', /brokers/],
  ['a SASL mechanism that does not exist', 'kafka.sasl.mechanism="gssapi"', /mechanism/],
  ['a keyspace with a dash', 'cassandra.keyspace="fare-gate"', /keyspace/],
  ['an endpoint without a scheme', 'media.s3.endpoint="s3.test"', /endpoint/],
  ['an amount of disk that is none', 'persistence.size="lots"', /size/],
  ['an amount of memory that is none', 'api.resources.limits.memory="1 gig"', /memory/],
  ['a variable with a dash', 'providerKeys={"OPEN-ROUTER":{"key":"a"}}', /OPEN-ROUTER/],
  ['a network that is none', 'networkPolicy.exceptCidrs=[""]', /exceptCidrs/],
  // What does not go together.
  ['a cluster without Redis', 'redis.urls=[]', /redis/i],
  ['a cluster without Kafka', 'kafka.brokers=[]', /kafka/i],
  ['a cluster without Cassandra', 'cassandra.contactPoints=[]', /cassandra/i],
  ['no Secret for the pepper', 'secrets.existingSecret=""', /keyPepper|secrets\.existingSecret/],
  [
    'fewest pods above the most',
    'api.autoscaling={"kind":"hpa","minReplicas":9,"maxReplicas":3}',
    /minReplicas|maxReplicas/,
  ],
  ['an Ingress for no host', 'ingress.enabled=true', /hosts/],
  ['a route without a gateway', 'httpRoute.enabled=true', /parentRefs/],
  [
    'a key of a provider in the file',
    'config.providers=[{"id":"a","kind":"openrouter","apiKey":"sk-1"}]',
    /apiKey/,
  ],
  ['a storage block beside the chart’s own', 'config.storage={"mode":"embedded"}', /storage/],
  ['an admin token in the file', 'config.admin={"token":"x"}', /admin/],
];

describe.runIf(whereInstalled('helm'))('helm template refuses in a sentence', () => {
  test.concurrent.each(wrong)('%s', async (_, json, says) => {
    const ran = await helm('template', 'shop', CHART, '--values', BASE, '--set-json', json);
    expect(ran.stdout).toBe('');
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toMatch(says);
    // A trace of the templates is no sentence.
    expect(ran.stderr).not.toMatch(
      /nil pointer|can't evaluate field|wrong type for value|error calling (index|merge)/,
    );
  });
});
