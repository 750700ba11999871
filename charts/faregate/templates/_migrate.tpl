{{- define "faregate.isHook" -}}
{{- if eq .Values.migrate.mode "hook" -}}true{{- end -}}
{{- end -}}

{{/* dict "root" $ "weight" "-10": annotations of the Job, and of what has to be there before it. */}}
{{- define "faregate.migrateAnnotations" -}}
{{- $own := dict -}}
{{- if include "faregate.isHook" .root -}}
{{- $own = dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" .weight "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" -}}
{{- end -}}
{{- with merge (deepCopy .root.Values.migrate.annotations) $own -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{/* The stores' part of the configuration, with the account that may change tables. It needs no key of a provider. */}}
{{- define "faregate.migrateConfig" -}}
{{- $account := ternary .Values.cassandra.migration .Values.cassandra (ne .Values.cassandra.migration.passwordKey "") -}}
storage:
  {{- include "faregate.storage" (dict "root" . "cassandra" $account) | nindent 2 }}
admin:
  tokenFile: /etc/faregate-admin/token
{{- end -}}

{{- define "faregate.migratePod" -}}
{{- $pod := include "faregate.pod" (dict "root" . "pod" .Values.migrate.pod) | fromYaml -}}
{{- $parts := dict "root" . "component" "migrate" "pod" $pod "container" "migrate" "grace" 60 "process" true -}}
{{- $_ := set $parts "configName" (include "faregate.componentName" (dict "root" . "component" "migrate")) -}}
{{- $_ = set $parts "checksum" (include "faregate.migrateConfig" .) -}}
{{- $secrets := include "faregate.storeSecrets" . | fromYaml -}}
{{- with .Values.cassandra.migration -}}
{{- if .passwordKey -}}
{{- $_ := set $secrets "CASSANDRA_PASSWORD" (dict "existingSecret" .existingSecret "key" .passwordKey "path" "cassandra.migration") -}}
{{- end -}}
{{- end -}}
{{- $_ = set $parts "secrets" $secrets -}}
{{- $_ = set $parts "env" (list (dict "name" "FAREGATE_CONFIG" "value" "/etc/faregate/faregate.yaml") (dict "name" "FAREGATE_DATA" "value" "/tmp/faregate")) -}}
metadata:
  {{- include "faregate.podMetadata" $parts | nindent 2 }}
spec:
  {{- include "faregate.podSettings" $parts | nindent 2 }}
  restartPolicy: Never
  containers:
    - name: migrate
      {{- include "faregate.containerSettings" $parts | nindent 6 }}
      command:
        - node
        {{- include "faregate.nodeFlags" (dict "resources" .Values.migrate.resources) | trim | nindent 8 }}
        - api/admin/cli.ts
        - migrate
      resources:
        {{- toYaml .Values.migrate.resources | nindent 8 }}
    {{- with .Values.migrate.pod.sidecars }}
    {{- tpl (toYaml .) $ | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "faregate.volumes" $parts | trim | nindent 4 }}
{{- end -}}
