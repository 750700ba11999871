{{/* dict "root" $ "name" "redis": what never changes. */}}
{{- define "dev-backends.selectorLabels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "dev-backends.labels" -}}
{{ include "dev-backends.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{/* dict "root" $ "image" .Values.redis.image */}}
{{- define "dev-backends.image" -}}
{{- $registry := .root.Values.global.imageRegistry | default .image.registry -}}
{{- $path := ternary .image.repository (printf "%s/%s" (trimSuffix "/" $registry) .image.repository) (eq $registry "") -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $path .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $path (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* Pod Security `restricted`. dict "writable" true: its image writes settings beside its programs when it starts. */}}
{{- define "dev-backends.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: {{ not .writable }}
{{- end -}}

{{- define "dev-backends.podSettings" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 30
{{- with .root.Values.global.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* A Service by the bare name, so that addresses are the same in every installation. dict "root" "name" "port" */}}
{{- define "dev-backends.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels:
    {{- include "dev-backends.labels" . | nindent 4 }}
spec:
  selector:
    {{- include "dev-backends.selectorLabels" . | nindent 4 }}
  ports:
    - name: {{ .name }}
      port: {{ .port }}
      targetPort: {{ .name }}
{{- end -}}

{{/*
One node with its data, and its Service. dict "root" "name" "user" "port" "data" "container" (its own lines) "initContainers" "writable"
*/}}
{{- define "dev-backends.store" -}}
{{- $values := index .root.Values .name -}}
{{ include "dev-backends.service" . }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .name }}
  labels:
    {{- include "dev-backends.labels" . | nindent 4 }}
spec:
  serviceName: {{ .name }}
  replicas: 1
  selector:
    matchLabels:
      {{- include "dev-backends.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "dev-backends.labels" . | nindent 8 }}
    spec:
      {{- include "dev-backends.podSettings" . | nindent 6 }}
      {{- with .initContainers }}
      initContainers:
        {{- . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ include "dev-backends.image" (dict "root" .root "image" $values.image) | quote }}
          imagePullPolicy: IfNotPresent
          securityContext:
            {{- include "dev-backends.containerSecurity" . | nindent 12 }}
          ports:
            - name: {{ .name }}
              containerPort: {{ .port }}
          {{- .container | nindent 10 }}
          startupProbe:
            tcpSocket:
              port: {{ .name }}
            periodSeconds: 2
            failureThreshold: 90
          readinessProbe:
            tcpSocket:
              port: {{ .name }}
            periodSeconds: 5
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          volumeMounts:
            - name: data
              mountPath: {{ .data }}
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: tmp
          emptyDir: {}
        {{- if not .root.Values.persistence.enabled }}
        - name: data
          emptyDir: {}
        {{- end }}
  {{- with .root.Values.persistence }}
  {{- if .enabled }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .storageClassName }}
        storageClassName: {{ . }}
        {{- end }}
        resources:
          requests:
            storage: {{ .size }}
  {{- end }}
  {{- end }}
{{- end -}}
