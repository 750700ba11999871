{{/* dict "root" $ "role" "settlement": the pod of a role. */}}
{{- define "faregate.workerPod" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $worker := index $root.Values.workers $role -}}
{{- $pod := include "faregate.pod" (dict "root" $root "pod" $worker.pod) | fromYaml -}}
{{- $parts := dict "root" $root "component" $role "pod" $pod "container" "worker" "spread" true "process" true -}}
{{- $_ := set $parts "configName" (printf "%s-config" (include "faregate.fullname" $root)) -}}
{{- $_ = set $parts "grace" $root.Values.workers.terminationGracePeriodSeconds -}}
{{- $_ = set $parts "checksum" (include "faregate.bootConfig" $root) -}}
{{- $_ = set $parts "secrets" (include "faregate.allSecrets" $root | fromYaml) -}}
{{- $env := list (dict "name" "FAREGATE_CONFIG" "value" "/etc/faregate/faregate.yaml") (dict "name" "FAREGATE_DATA" "value" "/tmp/faregate") -}}
{{- if and (eq $worker.autoscaling.kind "keda") $root.Values.kafka.sasl.mechanism -}}
{{- $env = append $env (dict "name" "KAFKA_USERNAME" "value" $root.Values.kafka.sasl.username) -}}
{{- end -}}
{{- $_ = set $parts "env" $env -}}
metadata:
  {{- include "faregate.podMetadata" $parts | nindent 2 }}
spec:
  {{- include "faregate.podSettings" $parts | nindent 2 }}
  containers:
    - name: worker
      {{- include "faregate.containerSettings" $parts | nindent 6 }}
      command:
        - node
        {{- /* As VIDEO_FLAGS of the Makefile, which says why. */}}
        {{- $flags := ternary (dict "flags" (list "--max-semi-space-size=1") "heapMax" 256) (dict) (eq $role "video") }}
        {{- include "faregate.nodeFlags" (merge (dict "resources" $worker.resources) $flags) | trim | nindent 8 }}
        - workers/main.ts
        - {{ $role }}
      ports:
        - name: internal
          containerPort: 9090
      {{- include "faregate.probes" $root.Values.workers.probes | nindent 6 }}
      resources:
        {{- toYaml $worker.resources | nindent 8 }}
    {{- with $pod.sidecars }}
    {{- tpl (toYaml .) $root | nindent 4 }}
    {{- end }}
  volumes:
    {{- include "faregate.volumes" $parts | trim | nindent 4 }}
{{- end -}}
