import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CHART, helm } from './helm.ts';
import { whereInstalled } from './where-installed.ts';

const BASE = join(CHART, 'ci/minimal-values.yaml');

const PRICES = '"pricing":{"prompt":"0","completion":"0"}';

const filled = `migrate.mode="job",secrets.externalSecret={"enabled":true,"storeRef":{"name":"a"},"data":{"key-pepper":{"key":"a"},"admin-token":{"key":"a"},"openrouter-api-key":{"key":"a"}}}`;

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
  ['less than no processor', 'api.resources.requests.cpu=-1', /cpu/],
  ['less than no memory', 'workers.market.resources.limits.memory=-1', /memory/],
  ['a volume of less than nothing', 'persistence.size=-5', /size/],
  ['a volume of nothing', 'persistence.size=0', /size/],
  ['a volume of nothing as text', 'persistence.size="0Gi"', /size/],
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
  // A text of a form.
  ['an address in the place of a network', 'networkPolicy.exceptCidrs=["10.0.0.1"]', /exceptCidrs/],
  ['a network of no address', 'networkPolicy.exceptCidrs=["10.0.0.300/8"]', /exceptCidrs/],
  ['a network of too many bits', 'networkPolicy.exceptCidrs=["10.0.0.0/33"]', /exceptCidrs/],
  ['an exception of everything', 'networkPolicy.exceptCidrs=["0.0.0.0/0"]', /exceptCidrs/],
  ['an exception of everything in IPv6', 'networkPolicy.exceptCidrsV6=["::/0"]', /exceptCidrsV6/],
  ['a network of half an address', 'networkPolicy.exceptCidrsV6=["1:2:3/8"]', /exceptCidrsV6/],
  ['a network of one colon', 'networkPolicy.exceptCidrsV6=[":/8"]', /exceptCidrsV6/],
  ['a network of the other family', 'networkPolicy.exceptCidrsV6=["10.0.0.0/8"]', /exceptCidrsV6/],
  [
    'a network of callers that is none',
    'service.loadBalancerSourceRanges=["all"]',
    /loadBalancerSourceRanges/,
  ],
  ['a proxy by its name', 'config.server={"trustedProxies":["balancer"]}', /trustedProxies/],
  ['a proxy by half its address', 'config.server={"trustedProxies":["1:2:3"]}', /trustedProxies/],
  ['a Secret with a space', 'secrets.existingSecret="my secret"', /existingSecret/],
  ['a Secret with capitals', 'redis.existingSecret="Redis"', /redis\/existingSecret/],
  [
    'a Secret of a key with capitals',
    'providerKeys={"OPENROUTER_API_KEY":{"existingSecret":"A","key":"b"}}',
    /existingSecret/,
  ],
  ['a Secret of a registry with a slash', 'image.pullSecrets=["a/b"]', /pullSecrets/],
  ['a name of objects that begins with a dash', 'fullnameOverride="-shop"', /fullnameOverride/],
  ['a name of objects with a dot', 'nameOverride="fare.gate"', /nameOverride/],
  ['a claim with an underscore', 'persistence.existingClaim="my_claim"', /existingClaim/],
  ['a class with a space', 'ingress.className="my class"', /className/],
  ['an account with a slash', 'serviceAccount.name="a/b"', /serviceAccount\/name/],
  ['a gateway with a space', 'httpRoute.parentRefs=[{"name":"the public"}]', /parentRefs/],
  ['a host with a scheme', 'ingress.hosts=["https://gateway.example.com"]', /hosts/],
  ['a host with a path', 'httpRoute.hostnames=["gateway.example.com/v1"]', /hostnames/],
  ['a host that is an address', 'ingress.hosts=["10.0.0.1"]', /hosts/],
  [
    'a variable with a value and a source of it',
    'pod.extraEnv=[{"name":"A","value":"b","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]',
    /extraEnv.*valueFrom/,
  ],
  ['a label with a space', 'pod.labels={"team":"the platform"}', /labels/],
  ['a label’s key with a space', 'pod.labels={"the team":"platform"}', /labels/],
  ['an annotation’s key with two slashes', 'service.annotations={"a/b/c":"d"}', /annotations/],
  ['an image with a tag', 'image.repository="registry.example.com/faregate:1.0"', /repository/],
  ['an image with a digest', 'image.repository="faregate@sha256:abc"', /repository/],
  ['an image with a scheme', 'image.repository="https://registry.example.com/faregate"', /repository/],
  ['a registry with a dot at its end', 'image.registry="registry.example.com."', /registry/],
  ['a registry with a scheme', 'image.registry="https://registry.example.com"', /registry/],
  ['a mirror with a scheme', 'global.imageRegistry="oci://mirror.test"', /imageRegistry/],
  ['a broker’s port that is none', 'kafka.brokers=["kafka:70000"]', /brokers/],
  ['a broker with a password', 'kafka.brokers=["user:pw@kafka:9092"]', /brokers/],
  ['a node’s port that is none', 'cassandra.contactPoints=["cassandra:65536"]', /contactPoints/],
  ['a Redis port that is none', 'redis.urls=["redis://redis:65536"]', /urls/],
  ['a port 0', 'redis.urls=["redis://redis:0"]', /urls/],
  ['a store’s password in its address', 'media.s3.endpoint="https://id:pw@s3.test"', /endpoint/],
  ['a store’s port that is none', 'media.s3.endpoint="https://s3.test:99999"', /endpoint/],
  ['an alert that does not exist', 'monitoring.rules.disabled=["FaregateLogLags"]', /disabled/],
  // What only the server would say, as its pods start.
  [
    'a provider’s password in its address',
    'config.providers=[{"id":"a","kind":"openai","baseUrl":"https://me:pw@models.test/v1"}]',
    /baseUrl/,
  ],
  [
    'a provider’s key in its address',
    'config.providers=[{"id":"a","kind":"openai","baseUrl":"https://models.test/v1?key=1"}]',
    /baseUrl/,
  ],
  [
    'a provider’s port that is none',
    'config.providers=[{"id":"a","kind":"openai","baseUrl":"https://models.test:80000/v1"}]',
    /baseUrl/,
  ],
  ['a public address without a scheme', 'config.server={"publicUrl":"gateway.example.com"}', /publicUrl/],
  ['a compatible server without its address', 'config.providers=[{"id":"a","kind":"openai"}]', /baseUrl/],
  [
    'a list of prices of a server that has none',
    'config.providers=[{"id":"a","kind":"openai","baseUrl":"https://models.test","catalog":"import"}]',
    /catalog/,
  ],
  [
    'a dialect of a server that has its own',
    'config.providers=[{"id":"a","kind":"anthropic","dialect":"vllm"}]',
    /dialect/,
  ],
  [
    'a key by two ways',
    'config.providers=[{"id":"a","kind":"anthropic","apiKeyEnv":"A","apiKeyFile":"/b"}]',
    /apiKeyFile/,
  ],
  ['a simulator inside each pod of a cluster', 'config.providers=[{"id":"a","kind":"simulator"}]', /baseUrl/],
  [
    'two providers of one name',
    'config.providers=[{"id":"twin","kind":"anthropic"},{"id":"twin","kind":"openrouter"}]',
    /config\.providers: the id twin stands twice/,
  ],
  [
    'two models of one name',
    'config.models=[{"id":"twin","stopped":true},{"id":"twin","stopped":true}]',
    /config\.models: the id twin stands twice/,
  ],
  [
    'a model without endpoints',
    'config.models=[{"id":"vendor/small","contextLength":1000}]',
    /models\/0.*endpoints/,
  ],
  [
    'a model of a provider that is not there',
    `config.models=[{"id":"vendor/small","contextLength":1000,"endpoints":[{"provider":"gone","model":"small",${PRICES}}]}]`,
    /vendor\/small names the provider gone/,
  ],
  [
    'an image’s model of a provider that is not there',
    'config.imageModels=[{"id":"vendor/brush","provider":"gone"}]',
    /vendor\/brush names the provider gone/,
  ],
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
  [
    'more memory than is allowed',
    'api.resources={"requests":{"memory":"2Gi"},"limits":{"memory":"1024Mi"}}',
    /api\.resources\.requests\.memory is 2Gi, above its limit of 1024Mi/,
  ],
  [
    'more processor than is allowed',
    'workers.video.resources={"requests":{"cpu":1.5},"limits":{"cpu":"500m"}}',
    /workers\.video\.resources\.requests\.cpu is 1\.5, above its limit of 500m/,
  ],
  [
    'a key of a provider that workers have not',
    'api.pod.extraEnv=[{"name":"A_KEY","value":"x"}],config.providers=[{"id":"a","kind":"openrouter","apiKeyEnv":"A_KEY"}]',
    /A_KEY is the variable of a key that nothing sets for workers\./,
  ],
  [
    'a demo agent',
    'pod.extraEnv=[{"name":"FAREGATE_DEMO","value":"1"}]',
    /extraEnv sets FAREGATE_DEMO: an installation has no demo agent/,
  ],
  [
    'a demo agent of one component',
    'api.pod.extraEnv=[{"name":"FAREGATE_DEMO","value":"1"}]',
    /api\.pod\.extraEnv sets FAREGATE_DEMO/,
  ],
  [
    'an account of a migration that is left out',
    'migrate.mode="none",cassandra.migration={"username":"ddl","passwordKey":"a"}',
    /cassandra\.migration/,
  ],
  [
    'an ExternalSecret of no store',
    'migrate.mode="job",secrets.externalSecret={"enabled":true,"data":{"key-pepper":{"key":"a"}}}',
    /storeRef\/name/,
  ],
  [
    'an ExternalSecret that lacks a key',
    'migrate.mode="job",secrets.externalSecret={"enabled":true,"storeRef":{"name":"a"},"data":{"key-pepper":{"key":"a"}}}',
    /secrets\.externalSecret\.data has no key/,
  ],
  ...Object.entries({
    'one reference, by its name': 'keyPepper={"existingSecret":"faregate","key":"nope"}',
    'the test of an installation': 'test={"existingSecret":"faregate","apiKeyKey":"nope"}',
  }).map(([what, json]): (typeof wrong)[number] => [
    `an ExternalSecret that lacks the key of ${what}`,
    `secrets.existingSecret="faregate",${filled},${json}`,
    /secrets\.externalSecret\.data has no key nope/,
  ]),
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

describe.runIf(whereInstalled('helm'))('a release that no Service can be called after', () => {
  test.each(['my.release', '1st'])('%s is refused, unless its objects are named', async (release) => {
    const options = [release, CHART, '--values', BASE];
    expect((await helm('template', ...options)).stderr).toMatch(/set fullnameOverride/);
    expect(await helm('template', ...options, '--set', 'fullnameOverride=shop')).toMatchObject({ code: 0 });
  });
});

test.runIf(whereInstalled('helm'))('a name of digits stays a name', async () => {
  const digits = [
    'secrets.existingSecret="123",keyPepper.key="007",admin.token.key="123",image.pullSecrets=["123"]',
    'trustedCertificates={"existingConfigMap":"123","key":"007"},ingress={"enabled":true,"hosts":["a.test"],"className":"123","tlsSecret":"123"}',
    'migrate.mode="job",pod={"priorityClassName":"123","runtimeClassName":"123"}',
    'secrets.externalSecret={"enabled":true,"storeRef":{"name":"123"},"data":{"007":{"key":"a"},"123":{"key":"a"},"openrouter-api-key":{"key":"a"}}}',
  ].flatMap((json) => ['--set-json', json]);
  const ran = await helm('template', 'shop', CHART, '--values', BASE, ...digits);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).toContain('"007"');
  expect(ran.stdout.split('\n').filter((line) => /: (123|007)$/.test(line))).toEqual([]);
});

test.runIf(whereInstalled('helm'))(
  'an ExternalSecret needs no key of a store that one pod has not',
  async () => {
    const embedded = join(CHART, 'ci/embedded-values.yaml');
    const json = `secrets.existingSecret="faregate",${filled},cassandra.migration.passwordKey="left-over"`;
    const ran = await helm('template', 'shop', CHART, '--values', embedded, '--set-json', json);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
  },
);

/** What is right, and not of the form that most write. */
const unusual = [
  'global.imageRegistry="mirror.test:5000/team/"',
  'image.repository="localhost:5000/team/fare__gate"',
  'redis.cluster=true,redis.urls=["rediss://[fd00::1]:6380/0","redis://redis.stores.svc.cluster.local.:6379"]',
  'kafka.brokers=["10.0.0.7:9092","[fd00::1]:65535","kafka.stores.:9092"]',
  'cassandra.contactPoints=["cassandra_1:9042","cassandra.stores.:9042"]',
  'media.s3={"endpoint":"https://s3.test.:9000/base/","bucket":"b.c"}',
  'secrets.existingSecret="fare.gate-2"',
  'ingress={"enabled":true,"hosts":["*.example.com"]}',
  'service.loadBalancerSourceRanges=["203.0.113.0/24","2001:db8::/32"]',
  'pod={"labels":{"example.com/Team":""},"annotations":{"a.b/c_D":"any text"}}',
  'api.resources={"requests":{"cpu":2,"memory":"1Gi"},"limits":{"cpu":"2000m","memory":1073741824}}',
  'config.server={"publicUrl":"http://[::1]:8080/v1","trustedProxies":["10.0.0.7","fd00::/8"]}',
  'config.models=[{"id":"vendor/small","stopped":true}]',
  'networkPolicy.exceptCidrsV6=["1:2:3:4:5:6:7:8/128","::ffff:10.0.0.0/104","2001:db8::1/1"]',
  'secrets.externalSecret.refreshInterval="1h30m"',
  'api.strategy={"maxUnavailable":1,"maxSurge":0}',
];

test.runIf(whereInstalled('helm'))('helm template takes what is right, though few write it', async () => {
  const ran = await helm(
    'template',
    'shop',
    CHART,
    '--values',
    BASE,
    ...unusual.flatMap((json) => ['--set-json', json]),
  );
  expect(ran).toMatchObject({ code: 0, stderr: '' });
});
