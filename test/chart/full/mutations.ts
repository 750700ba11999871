/** One way to break one row of the chart's checklist. */
export interface Mutation {
  row: number;
  what: string;
  /** From the chart's folder. */
  file: string;
  from?: RegExp;
  to: string | ((text: string) => string);
  /** Which tests have to see it, where it is not one of the chart's own gates. */
  tests?: readonly string[];
}

const POD = 'templates/_pod.tpl';
const API = 'templates/_api.tpl';
const CHECK = 'templates/check/first/check.yaml';

export const mutations: readonly Mutation[] = [
  {
    row: 1,
    what: 'releases share a selector',
    file: 'templates/_names.tpl',
    from: /app\.kubernetes\.io\/instance: .+\n/,
    to: '',
  },
  {
    row: 1,
    what: 'a long name is cut without a hash',
    file: 'templates/_names.tpl',
    from: /gt \(len \$name\) 43/,
    to: 'gt (len $name) 430',
  },
  {
    row: 2,
    what: 'the schema is open',
    file: 'values.schema.json',
    to: (text) => text.replaceAll(/"(additional|unevaluated)Properties": false/g, '"$1Properties": true'),
  },
  {
    row: 2,
    what: 'an umbrella’s `global` is refused',
    file: 'values.schema.json',
    to: (text) => {
      const schema = JSON.parse(text) as { properties: { global: object } };
      schema.properties.global = { ...schema.properties.global, additionalProperties: false };
      return JSON.stringify(schema);
    },
  },
  {
    row: 2,
    what: 'a Secret by any name',
    file: 'values.schema.json',
    to: (text) => {
      const schema = JSON.parse(text) as { $defs: { name: object } };
      schema.$defs.name = { type: 'string' };
      return JSON.stringify(schema);
    },
  },
  {
    row: 2,
    what: 'a limit below its request',
    file: CHECK,
    from: /if gt \(include "faregate\.amount" .*float64\)/,
    to: 'if false',
  },
  {
    row: 2,
    what: 'a provider by the name of another',
    file: CHECK,
    from: /if has \.id \$seen/,
    to: 'if false',
  },
  {
    row: 3,
    what: 'workers that lack a provider’s key',
    file: CHECK,
    from: /range include "faregate\.roles" \. \|/,
    to: 'range "" |',
  },
  {
    row: 3,
    what: 'a value without a comment',
    file: 'values.yaml',
    from: /$/,
    to: 'unheardOf: 1\n',
    tests: ['test/chart/chart-documents'],
  },
  {
    row: 4,
    what: 'a field that Kubernetes does not know',
    file: POD,
    from: /enableServiceLinks/,
    to: 'enableServiceLink',
  },
  {
    row: 4,
    what: 'any Kubernetes will do',
    file: 'Chart.yaml',
    from: /kubeVersion:.*/,
    to: 'kubeVersion: ">=1.20.0-0"',
  },
  {
    row: 5,
    what: 'a name by chance',
    file: 'templates/config.yaml',
    from: /^data:/m,
    to: 'immutable: {{ eq (randInt 0 2) 2 }}\ndata:',
  },
  {
    row: 6,
    what: 'a root that can be written',
    file: 'values.yaml',
    from: /readOnlyRootFilesystem: true/,
    to: 'readOnlyRootFilesystem: false',
  },
  { row: 6, what: 'capabilities are kept', file: 'values.yaml', from: /drop: \[ALL\]/, to: 'drop: []' },
  {
    row: 7,
    what: 'a token in the pod',
    file: POD,
    from: /automountServiceAccountToken: false/,
    to: 'automountServiceAccountToken: true',
  },
  {
    row: 7,
    what: 'a right',
    file: 'templates/rights.yaml',
    to: () =>
      'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: "{{ .Release.Name }}"}\nrules: []\n',
  },
  {
    row: 8,
    what: 'no limit on memory',
    file: 'values.yaml',
    from: /limits: \{ memory: 1Gi \}/,
    to: 'limits: {}',
  },
  { row: 8, what: 'a heap as large as the pod', file: POD, from: /\| int64\) 3\) 5/, to: '| int64) 5) 5' },
  {
    row: 9,
    what: 'liveness asks the stores',
    file: POD,
    from: /("path" )"\/livez"( "probe" \.liveness)/,
    to: '$1"/readyz"$2',
  },
  { row: 9, what: 'probes on the public port', file: POD, from: /port: internal/, to: 'port: http' },
  {
    row: 10,
    what: 'a budget for one pod',
    file: 'templates/disruption-budgets.yaml',
    from: /gt \(int \$fewest\) 1/,
    to: 'gt (int $fewest) 0',
  },
  {
    row: 10,
    what: 'a budget without room',
    file: 'templates/disruption-budgets.yaml',
    from: /maxUnavailable: .*/,
    to: 'maxUnavailable: 0',
  },
  {
    row: 11,
    what: 'replicas beside a scaler',
    file: 'templates/api/deployment.yaml',
    from: /if eq \.Values\.api\.autoscaling\.kind "none"/,
    to: 'if true',
  },
  {
    row: 11,
    what: 'more workers than partitions',
    file: 'values.schema.json',
    to: (text) => text.replaceAll('"maximum": 64', '"maximum": 640'),
  },
  { row: 12, what: 'draining pods count', file: POD, from: / *matchLabelKeys: .*\n/, to: '' },
  { row: 12, what: 'a pod waits for its zone', file: POD, from: /ScheduleAnyway/, to: 'DoNotSchedule' },
  {
    row: 13,
    what: 'a secret in the environment',
    file: POD,
    from: /- name: \{\{ \$name \}\}\n {2}valueFrom:\n(?: {4}.*\n){2} {6}key: .*\n/,
    to: '- name: {{ $name }}\n  value: written-out\n',
  },
  {
    row: 13,
    what: 'the chart makes a Secret',
    file: 'templates/secret.yaml',
    to: () => 'apiVersion: v1\nkind: Secret\nmetadata: {name: "{{ .Release.Name }}"}\nstringData: {a: b}\n',
  },
  {
    row: 13,
    what: 'one process asks for a token that it makes itself',
    file: 'templates/_config.tpl',
    from: /\(eq \.Values\.mode "cluster"\) \.Values\.admin/,
    to: '(eq .Values.mode "cluster") .Values.secrets.existingSecret .Values.admin',
  },
  {
    row: 13,
    what: 'the Secret comes after the migration that needs it',
    file: CHECK,
    from: /and \(eq \$values\.mode "cluster"\) \(eq \$values\.migrate\.mode "hook"\)/,
    to: 'and false',
  },
  {
    row: 13,
    what: 'the store is asked by no name',
    file: 'templates/external-secret.yaml',
    from: /secretKey:/,
    to: 'secretKeys:',
  },
  {
    row: 14,
    what: 'a price replaces the pods',
    file: API,
    from: /include "faregate\.bootConfig" \./,
    to: 'include "faregate.config" .',
  },
  {
    row: 14,
    what: 'a store replaces none',
    file: POD,
    from: /\{\{- with \.checksum \}\}/,
    to: '{{- with "" }}',
  },
  {
    row: 14,
    what: 'a file that never reloads',
    file: POD,
    from: /mountPath: \/etc\/faregate\n/,
    to: 'mountPath: /etc/faregate/faregate.yaml\n    subPath: faregate.yaml\n',
  },
  {
    row: 15,
    what: 'the chart’s variable wins',
    file: POD,
    from: /concat \.env \.extra/,
    to: 'concat .extra .env',
  },
  {
    row: 16,
    what: 'a component without a policy',
    file: 'templates/network/network-policies.yaml',
    from: /concat \(list "api"\)/,
    to: 'concat (list)',
  },
  {
    row: 16,
    what: 'the way out leads to the cloud’s metadata',
    file: 'values.yaml',
    from: /169\.254\.0\.0\/16, /,
    to: '',
  },
  {
    row: 17,
    what: 'a route that ends before the call',
    file: 'templates/network/http-route.yaml',
    from: /int64\) 60\)/,
    to: 'int64) -60)',
  },
  {
    row: 18,
    what: 'the migration’s configuration comes too late',
    file: 'templates/_migrate.tpl',
    from: /"helm\.sh\/hook-weight" \.weight/,
    to: '"helm.sh/hook-weight" "0"',
  },
  {
    row: 18,
    what: 'the migration comes after the pods',
    file: 'templates/_migrate.tpl',
    from: /pre-install,pre-upgrade/,
    to: 'post-install,post-upgrade',
  },
  {
    row: 18,
    what: 'an account for a migration that is left out',
    file: CHECK,
    from: /and \(eq \$values\.migrate\.mode "none"\)/,
    to: 'and false',
  },
  {
    row: 19,
    what: 'workers that nobody reads are missed',
    file: 'templates/monitoring/_rules.tpl',
    from: /workersAreRead: .*/,
    to: 'workersAreRead: true',
  },
  {
    row: 19,
    what: 'a port that nothing has',
    file: 'templates/monitoring/pod-monitor.yaml',
    from: /port: internal/,
    to: 'port: metrics',
  },
  {
    row: 19,
    what: 'an alert of what is as it should be',
    file: 'rules/ledger.yaml',
    from: /== 0/,
    to: '== 1',
    tests: ['test/monitoring/alerts'],
  },
  {
    row: 19,
    what: 'a query of a metric that there is not',
    file: 'rules/ledger.yaml',
    from: /faregate_(\w+)/,
    to: 'faregate_unheard_of_$1',
    tests: ['test/monitoring/queries'],
  },
  {
    row: 20,
    what: 'a test that stays behind',
    file: 'templates/test/test.yaml',
    from: / "helm\.sh\/hook-delete-policy" "[^"]+"/,
    to: '',
  },
  {
    row: 21,
    what: 'no word about an unset bucket',
    file: 'templates/NOTES.txt',
    from: /NOTE: media\.s3 names no bucket.*/,
    to: '',
    tests: ['test/chart/notes'],
  },
  {
    row: 22,
    what: 'an image past the mirror',
    file: 'templates/_names.tpl',
    from: /\.Values\.global\.imageRegistry \| default /,
    to: '',
  },
  {
    row: 22,
    what: 'a digest that is left out',
    file: 'templates/_names.tpl',
    from: /if \$image\.digest/,
    to: 'if false',
  },
  {
    row: 23,
    what: 'a chart without its licence',
    file: 'Chart.yaml',
    from: / *artifacthub\.io\/license:.*\n/,
    to: '',
    tests: ['test/chart/chart-documents'],
  },
  {
    row: 24,
    what: 'a default that nobody reviews',
    file: 'values.yaml',
    from: /timeoutSeconds: 2, failureThreshold: 2 \}/,
    to: 'timeoutSeconds: 2, failureThreshold: 4 }',
    tests: ['test/chart/golden'],
  },
  { row: 24, what: 'a renamed key is taken in silence', file: 'files/renamed-values.yaml', to: () => '{}\n' },
  {
    row: 25,
    what: 'tilt builds an image that no chart uses',
    file: '../../Tiltfile',
    from: /docker_build\(\n {4}'faregate'/,
    to: "docker_build(\n    'gateway'",
    tests: ['test/tilt'],
  },
  {
    row: 26,
    what: 'no old ReplicaSets become the default',
    file: 'templates/api/deployment.yaml',
    from: /if not \(kindIs "invalid" \$pod\.revisionHistoryLimit\)/,
    to: 'if $pod.revisionHistoryLimit',
  },
  {
    row: 27,
    what: 'a hook that stays behind',
    file: 'templates/_migrate.tpl',
    from: / "helm\.sh\/hook-delete-policy" "[^"]+"/,
    to: '',
  },
  {
    row: 28,
    what: 'a demo agent that an environment can ask for',
    file: API,
    from: / \(dict "name" "FAREGATE_DEMO" "value" "0"\)/,
    to: '',
  },
  {
    row: 28,
    what: 'a demo agent by a value',
    file: CHECK,
    from: /if eq \.name "FAREGATE_DEMO"/,
    to: 'if false',
  },
];
