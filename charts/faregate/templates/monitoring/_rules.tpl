{{/* The values of the words between percent signs in rules/*.yaml. The table of error codes makes files/error-codes.json. */}}
{{- define "faregate.ruleWords" -}}
{{- $fullname := include "faregate.fullname" . -}}
{{- $words := deepCopy .Values.monitoring.rules.thresholds -}}
{{- $_ := set $words "here" (printf "namespace=%q,job=%q" .Release.Namespace $fullname) -}}
{{- $_ := set $words "namespace" .Release.Namespace -}}
{{- $_ := set $words "fullname" $fullname -}}
{{- $_ := set $words "poolUsd" (dig "capacity" "poolUsd" "1000" .Values.config) -}}
{{- $_ := set $words "apiMemoryBytes" (mul (include "faregate.mebibytes" (dig "limits" "memory" "" .Values.api.resources) | int64) 1048576) -}}
{{- $pods := ternary .Values.api.replicas .Values.api.autoscaling.maxReplicas (eq .Values.api.autoscaling.kind "none") -}}
{{- $_ := set $words "drainingMax" ($pods | int64) -}}
{{- $codes := .Files.Get "files/error-codes.json" | fromJson -}}
{{- $_ := set $words "serverErrorCodes" (join "|" $codes.gateway) -}}
{{- $_ := set $words "providerErrorCodes" (join "|" $codes.provider) -}}
{{ toYaml $words }}
{{- end -}}

{{/* Facts that `when` of a rule may name. */}}
{{- define "faregate.ruleFacts" -}}
cluster: {{ eq .Values.mode "cluster" }}
embedded: {{ eq .Values.mode "embedded" }}
market: {{ .Values.market.enabled }}
media: {{ .Values.media.enabled }}
workersAreRead: {{ not .Values.monitoring.serviceMonitor.enabled }}
videoWorker: {{ ne (include "faregate.hasS3" .) "" }}
apiMemoryBytes: {{ ne (dig "limits" "memory" "" .Values.api.resources | toString) "" }}
{{- end -}}

{{/* The groups of all files in rules/, as a PrometheusRule has them. */}}
{{- define "faregate.ruleGroups" -}}
{{- $root := . -}}
{{- $settings := .Values.monitoring.rules -}}
{{- $words := include "faregate.ruleWords" . | fromYaml -}}
{{- $facts := include "faregate.ruleFacts" . | fromYaml -}}
{{- range $path, $_ := .Files.Glob "rules/*.yaml" -}}
{{- $text := $root.Files.Get $path -}}
{{- range $word, $value := $words -}}
{{- $text = replace (printf "%%%s%%" $word) (toString $value) $text -}}
{{- end -}}
{{- $file := fromYaml $text -}}
{{- $rules := $file.records | default list -}}
{{- range $file.alerts -}}
{{- $wanted := not (has .alert $settings.disabled) -}}
{{- range .when -}}
{{- $wanted = and $wanted (get $facts .) -}}
{{- end -}}
{{- if $wanted -}}
{{- $labels := merge (dict "severity" .severity) $settings.labels -}}
{{- $runbook := printf "%s#%s" $settings.runbookBaseUrl (lower .alert) -}}
{{- $annotations := dict "summary" .summary "description" .description "runbook_url" $runbook -}}
{{- $rule := merge (dict "labels" $labels "annotations" $annotations) (pick . "alert" "expr" "for") -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end }}
- name: faregate.{{ base $path | trimSuffix ".yaml" }}
  rules:
    {{- toYaml $rules | nindent 4 }}
{{- end -}}
{{- end -}}
