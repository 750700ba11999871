{{/* dict "root" $ "existingSecret" "" "key" "" "path" "redis": the Secret's name, or a sentence. */}}
{{- define "faregate.secretName" -}}
{{- $name := .existingSecret | default .root.Values.secrets.existingSecret -}}
{{- if not $name -}}
{{- fail (printf "%s needs a Secret with the key %s: make it, and name it in secrets.existingSecret or %s.existingSecret." .path .key .path) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* Of the stores, as variables: name, Secret, key. */}}
{{- define "faregate.storeSecrets" -}}
{{- $values := .Values -}}
{{- if eq $values.mode "cluster" }}
FAREGATE_KEY_PEPPER: {{ dict "existingSecret" $values.keyPepper.existingSecret "key" $values.keyPepper.key "path" "keyPepper" | toJson }}
{{- if $values.previousKeyPepper.id }}
FAREGATE_PREVIOUS_KEY_PEPPER: {{ dict "existingSecret" $values.previousKeyPepper.existingSecret "key" $values.previousKeyPepper.key "path" "previousKeyPepper" | toJson }}
{{- end }}
{{- if $values.redis.passwordKey }}
REDIS_PASSWORD: {{ dict "existingSecret" $values.redis.existingSecret "key" $values.redis.passwordKey "path" "redis" | toJson }}
{{- end }}
{{- if $values.kafka.sasl.mechanism }}
KAFKA_PASSWORD: {{ dict "existingSecret" $values.kafka.sasl.existingSecret "key" $values.kafka.sasl.passwordKey "path" "kafka.sasl" | toJson }}
{{- end }}
{{- if $values.cassandra.passwordKey }}
CASSANDRA_PASSWORD: {{ dict "existingSecret" $values.cassandra.existingSecret "key" $values.cassandra.passwordKey "path" "cassandra" | toJson }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of the files and the providers. */}}
{{- define "faregate.processSecrets" -}}
{{- $values := .Values -}}
{{- if include "faregate.hasS3" . }}
S3_ACCESS_KEY_ID: {{ dict "existingSecret" $values.media.s3.existingSecret "key" $values.media.s3.accessKeyIdKey "path" "media.s3" | toJson }}
S3_SECRET_ACCESS_KEY: {{ dict "existingSecret" $values.media.s3.existingSecret "key" $values.media.s3.secretAccessKeyKey "path" "media.s3" | toJson }}
{{- end }}
{{- range $name, $of := $values.providerKeys }}
{{ $name }}: {{ dict "existingSecret" ($of.existingSecret | default "") "key" $of.key "path" (printf "providerKeys.%s" $name) | toJson }}
{{- end }}
{{- end -}}

{{/*
One process makes its own token where none is given; the processes of a cluster share one. It is a file, so that the operator's command
can be run in a pod.
*/}}
{{- define "faregate.hasAdminToken" -}}
{{- if or (eq .Values.mode "cluster") .Values.admin.token.existingSecret -}}true{{- end -}}
{{- end -}}

{{- define "faregate.hasS3" -}}
{{- if and .Values.media.enabled .Values.media.s3.bucket -}}true{{- end -}}
{{- end -}}

{{- define "faregate.storage" -}}
{{- $values := .root.Values -}}
mode: {{ $values.mode }}
{{- if eq $values.mode "cluster" }}
redis:
  urls: {{ $values.redis.urls | toJson }}
  cluster: {{ $values.redis.cluster }}
  {{- with $values.redis.username }}
  username: {{ . | quote }}
  {{- end }}
  {{- if $values.redis.passwordKey }}
  passwordEnv: REDIS_PASSWORD
  {{- end }}
kafka:
  brokers: {{ $values.kafka.brokers | toJson }}
  tls: {{ $values.kafka.tls }}
  replicationFactor: {{ $values.kafka.replicationFactor }}
  {{- with $values.kafka.sasl }}
  {{- if .mechanism }}
  sasl:
    mechanism: {{ .mechanism }}
    username: {{ .username | quote }}
    passwordEnv: KAFKA_PASSWORD
  {{- end }}
  {{- end }}
cassandra:
  contactPoints: {{ $values.cassandra.contactPoints | toJson }}
  localDataCenter: {{ $values.cassandra.localDataCenter | quote }}
  keyspace: {{ $values.cassandra.keyspace }}
  replicationFactor: {{ $values.cassandra.replicationFactor }}
  tls: {{ $values.cassandra.tls }}
  {{- $account := .cassandra | default $values.cassandra }}
  {{- with $account.username }}
  username: {{ . | quote }}
  {{- end }}
  {{- if $account.passwordKey }}
  passwordEnv: CASSANDRA_PASSWORD
  {{- end }}
keyPepper:
  id: {{ $values.keyPepper.id | quote }}
  secretEnv: FAREGATE_KEY_PEPPER
{{- if $values.previousKeyPepper.id }}
previousKeyPepper:
  id: {{ $values.previousKeyPepper.id | quote }}
  secretEnv: FAREGATE_PREVIOUS_KEY_PEPPER
{{- end }}
allowUnsafe: {{ $values.allowUnsafe }}
{{- end }}
{{- end -}}

{{/* Under which names the internal Service is asked, in JSON. */}}
{{- define "faregate.internalNames" -}}
{{- $service := printf "%s-internal" (include "faregate.fullname" .) -}}
{{- $inNamespace := printf "%s.%s" $service .Release.Namespace -}}
{{- list $service $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.cluster.local" $inNamespace) | toJson -}}
{{- end -}}

{{/* What a process reads once, at its start. A change of it replaces the pods. */}}
{{- define "faregate.bootConfig" -}}
{{- $values := .Values -}}
{{- $listen := dict "host" $values.server.listenAddress "port" 8080 "internalHost" $values.server.listenAddress "internalPort" 9090 "drainNoticeMs" (mul $values.drain.noticeSeconds 1000) "drainMs" (include "faregate.drainMs" . | int64) -}}
{{- $own := $values.config.server | default dict -}}
{{- $_ := set $listen "internalHostNames" (concat (include "faregate.internalNames" . | fromJsonArray) ($own.internalHostNames | default list)) -}}
{{- /* What stands in front shows the gateway few addresses of its own, and no caller's. */}}
{{- $behindProxy := or $values.ingress.enabled $values.httpRoute.enabled (ne $values.service.type "ClusterIP") }}
{{- $defaults := ternary (dict "connectionsPerAddress" 0) dict (and $behindProxy (not $own.trustedProxies)) }}
server:
  {{- merge $listen $own $defaults | toYaml | nindent 2 }}
storage:
  {{- include "faregate.storage" (dict "root" .) | nindent 2 }}
{{- if include "faregate.hasAdminToken" . }}
admin:
  tokenFile: /etc/faregate-admin/token
{{- end }}
{{- if include "faregate.hasS3" . }}
files:
  kind: s3
  endpoint: {{ $values.media.s3.endpoint | quote }}
  bucket: {{ $values.media.s3.bucket | quote }}
  {{- with $values.media.s3.publicEndpoint }}
  publicEndpoint: {{ . | quote }}
  {{- end }}
  {{- with $values.media.s3.region }}
  region: {{ . | quote }}
  {{- end }}
  accessKeyIdEnv: S3_ACCESS_KEY_ID
  secretAccessKeyEnv: S3_SECRET_ACCESS_KEY
{{- else if not $values.media.enabled }}
files:
  kind: none
{{- end }}
market: {{ ternary "on" "off" $values.market.enabled | quote }}
{{- end -}}

{{- define "faregate.config" -}}
{{- $live := omit .Values.config "server" -}}
{{ merge (include "faregate.bootConfig" . | fromYaml) $live | toYaml }}
{{- end -}}

{{/* Longest call of any kind, in whole seconds. */}}
{{- define "faregate.longestCallSeconds" -}}
{{- $limits := .Values.config.limits -}}
{{- divf (max ($limits.streamMs | int64) ($limits.callMs | int64)) 1000 | ceil | int64 -}}
{{- end -}}

{{/* Of the API: the wait before SIGTERM, the notice, the longest call, its settlement. */}}
{{- define "faregate.apiGraceSeconds" -}}
{{- $drain := .Values.drain -}}
{{- $sum := add $drain.preStopSeconds $drain.noticeSeconds (include "faregate.longestCallSeconds" . | int64) $drain.settleSeconds -}}
{{- with $drain.terminationGracePeriodSeconds -}}
{{- if lt (. | int64) $sum -}}
{{- fail (printf "drain.terminationGracePeriodSeconds is %d, and a call may take longer: drain.preStopSeconds, drain.noticeSeconds, config.limits and drain.settleSeconds are %d seconds together." (. | int64) $sum) -}}
{{- end -}}
{{- end -}}
{{- $drain.terminationGracePeriodSeconds | default $sum | int64 -}}
{{- end -}}

{{/* From SIGTERM until what still runs is ended, so that it can be settled before SIGKILL. */}}
{{- define "faregate.drainMs" -}}
{{- $drain := .Values.drain -}}
{{- mul 1000 (sub (include "faregate.apiGraceSeconds" . | int64) (add $drain.preStopSeconds $drain.settleSeconds)) | min 7260000 -}}
{{- end -}}
