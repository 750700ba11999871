{{/* dict "root" $ "component" "api" "annotations" (dict) */}}
{{- define "faregate.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "faregate.componentName" . }}
  labels:
    {{- include "faregate.labels" . | nindent 4 }}
  {{- with merge (deepCopy (.annotations | default dict)) .root.Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end -}}
