{{- define "faregate.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 43 characters, so that each suffix fits into 63. A longer name keeps a hash of what is cut off it. */}}
{{- define "faregate.fullname" -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $chart := include "faregate.name" . -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name) -}}
{{- end -}}
{{- if gt (len $name) 43 -}}
{{- printf "%s-%s" (trunc 36 $name | trimSuffix "-") (sha256sum $name | trunc 6) -}}
{{- else -}}
{{- $name | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* dict "root" $ "component" "api": name of a component's objects. The one pod of mode embedded has the bare name. */}}
{{- define "faregate.componentName" -}}
{{- printf "%s-%s" (include "faregate.fullname" .root) .component -}}
{{- end -}}

{{/* What never changes, as a Deployment's selector cannot. */}}
{{- define "faregate.selectorLabels" -}}
app.kubernetes.io/name: {{ include "faregate.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "faregate.labels" -}}
{{ include "faregate.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/part-of: faregate
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "faregate.image" -}}
{{- $image := .Values.image -}}
{{- $registry := .Values.global.imageRegistry | default $image.registry -}}
{{- $path := ternary (printf "%s/%s" (trimSuffix "/" $registry) $image.repository) $image.repository (ne $registry "") -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $path $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $path ($image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "faregate.imagePullSecrets" -}}
{{- with concat .Values.global.imagePullSecrets .Values.image.pullSecrets | uniq }}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of a component, or the operator's one account. */}}
{{- define "faregate.serviceAccountName" -}}
{{- if .root.Values.serviceAccount.create -}}
{{- include "faregate.componentName" . -}}
{{- else -}}
{{- .root.Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* The workers that this installation has. A cluster that keeps no files makes no videos. */}}
{{- define "faregate.roles" -}}
{{- if eq .Values.mode "cluster" -}}
settlement projector {{- if include "faregate.hasS3" . }} video {{- end }} {{- if .Values.market.enabled }} market {{- end }}
{{- end -}}
{{- end -}}
