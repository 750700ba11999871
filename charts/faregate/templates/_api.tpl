{{/* The pod of the gateway: of the Deployment of a cluster, and of the one StatefulSet of mode embedded. */}}
{{- define "faregate.apiPod" -}}
{{- $embedded := eq .Values.mode "embedded" -}}
{{- $pod := include "faregate.pod" (dict "root" . "pod" .Values.api.pod) | fromYaml -}}
{{- $parts := dict "root" . "component" "api" "pod" $pod "container" "gateway" "process" true -}}
{{- $parts = merge $parts (dict "configName" (printf "%s-config" (include "faregate.fullname" .))) -}}
{{- $_ := set $parts "grace" (include "faregate.apiGraceSeconds" .) -}}
{{- $_ = set $parts "spread" (not $embedded) -}}
{{- $_ = set $parts "checksum" (include "faregate.bootConfig" .) -}}
{{- $_ = set $parts "secrets" (include "faregate.allSecrets" . | fromYaml) -}}
{{- $data := ternary "/var/lib/faregate" "/tmp/faregate" $embedded -}}
{{- $_ = set $parts "env" (list (dict "name" "FAREGATE_CONFIG" "value" "/etc/faregate/faregate.yaml") (dict "name" "FAREGATE_DATA" "value" $data) (dict "name" "FAREGATE_DEMO" "value" "0")) -}}
{{- if $embedded -}}
{{- $_ = set $parts "mounts" (list (dict "name" "data" "mountPath" $data)) -}}
{{- end -}}
{{- if .Values.api.pinToNode -}}
{{- $_ = set $parts "annotations" (dict "cluster-autoscaler.kubernetes.io/safe-to-evict" "false" "karpenter.sh/do-not-disrupt" "true") -}}
{{- end -}}
metadata:
  {{- include "faregate.podMetadata" $parts | nindent 2 }}
spec:
  {{- include "faregate.podSettings" $parts | nindent 2 }}
  containers:
    - name: gateway
      {{- include "faregate.containerSettings" $parts | nindent 6 }}
      command:
        - node
        {{- include "faregate.nodeFlags" (dict "resources" .Values.api.resources "flags" (list "--max-semi-space-size=32")) | trim | nindent 8 }}
        - api/main.ts
      ports:
        - name: http
          containerPort: 8080
        - name: internal
          containerPort: 9090
      {{- include "faregate.probes" .Values.api.probes | nindent 6 }}
      {{- if .Values.drain.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ .Values.drain.preStopSeconds }}
      {{- end }}
      resources:
        {{- toYaml .Values.api.resources | nindent 8 }}
    {{- with $pod.sidecars }}
    {{- tpl (toYaml .) $ | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "faregate.volumes" $parts | trim | nindent 4 }}
    {{- if and $embedded .Values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.persistence.existingClaim | quote }}
    {{- end }}
{{- end -}}
