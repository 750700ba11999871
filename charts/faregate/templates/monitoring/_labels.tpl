{{/* The labels by which Prometheus' operator finds an object, too. */}}
{{- define "faregate.monitoringLabels" -}}
{{ merge (include "faregate.labels" (dict "root" . "component" "monitoring") | fromYaml) .Values.monitoring.labels | toYaml }}
{{- end -}}

{{/* What rules and dashboards tell an installation and its components by. */}}
{{- define "faregate.relabelings" -}}
- sourceLabels: [__meta_kubernetes_pod_label_app_kubernetes_io_component]
  targetLabel: component
- targetLabel: job
  replacement: {{ include "faregate.fullname" . }}
{{- end -}}
