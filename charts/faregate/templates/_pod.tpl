{{/* dict "root" $ "pod" .Values.api.pod: `pod` of all with that of a component over it, as YAML. */}}
{{- define "faregate.pod" -}}
{{- $pod := deepCopy .root.Values.pod -}}
{{- range $key, $value := .pod -}}
  {{- if has $key (list "extraEnv") -}}
    {{- $_ := set $pod $key (concat (get $pod $key | default list) $value) -}}
  {{- else if and (kindIs "map" $value) (kindIs "map" (get $pod $key)) (ne $key "affinity") -}}
    {{- $merged := get $pod $key -}}
    {{- range $name, $each := $value -}}
      {{- if kindIs "invalid" $each -}}{{- $_ := unset $merged $name -}}{{- else -}}{{- $_ := set $merged $name $each -}}{{- end -}}
    {{- end -}}
  {{- else -}}
    {{- $_ := set $pod $key $value -}}
  {{- end -}}
{{- end -}}
{{ toYaml $pod }}
{{- end -}}

{{/* dict "env" (list) "extra" (list): one entry a name; the later one wins, in the place of the first. */}}
{{- define "faregate.env" -}}
{{- $names := list -}}
{{- $entries := dict -}}
{{- range concat .env .extra -}}
  {{- if not (hasKey $entries .name) -}}{{- $names = append $names .name -}}{{- end -}}
  {{- $_ := set $entries .name . -}}
{{- end -}}
{{- range $names }}
- {{ get $entries . | toYaml | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/* dict "root" $ "secrets" (dict): each as a variable that the kubelet fills. */}}
{{- define "faregate.secretEnv" -}}
{{- $root := .root -}}
{{- range $name, $of := .secrets }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "faregate.secretName" (merge (dict "root" $root) $of) | quote }}
      key: {{ $of.key | quote }}
{{- end }}
{{- end -}}

{{/* A Kubernetes quantity, as a number. */}}
{{- define "faregate.amount" -}}
{{- $text := toString . -}}
{{- if kindIs "float64" . -}}{{- $text = printf "%f" . -}}{{- end -}}
{{- $units := dict "" 1 "m" 0.001 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- printf "%f" (mulf (regexFind "^[0-9.]+" $text | float64) (get $units (regexFind "[A-Za-z]*$" $text))) -}}
{{- end -}}

{{/* A Kubernetes quantity of bytes, in whole MiB. */}}
{{- define "faregate.mebibytes" -}}
{{- if hasSuffix "m" (toString .) -}}{{- fail (printf "%s is no amount of memory: write it as 512Mi or 2Gi." .) -}}{{- end -}}
{{- divf (include "faregate.amount" . | float64) 1048576 | floor | int64 -}}
{{- end -}}

{{/*
dict "resources" … "flags" (list) "heapMax" 0: flags of Node. Buffers of streams are outside of its heap, so that the heap gets
three fifths of the memory limit.
*/}}
{{- define "faregate.nodeFlags" -}}
{{- $flags := .flags | default list -}}
{{- $limit := dig "limits" "memory" "" .resources -}}
{{- if or $limit .heapMax -}}
{{- $heap := .heapMax | default 0 | int64 -}}
{{- if $limit -}}
{{- $share := div (mul (include "faregate.mebibytes" $limit | int64) 3) 5 -}}
{{- $heap = ternary $share (min $share $heap) (eq $heap 0) -}}
{{- end -}}
{{- $flags = append $flags (printf "--max-old-space-size=%d" ($heap | int64)) -}}
{{- end -}}
{{- range $flags }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "faregate.probe" -}}
httpGet:
  path: {{ .path }}
  port: internal
{{ toYaml .probe }}
{{- end -}}

{{- define "faregate.probes" -}}
startupProbe:
  {{- include "faregate.probe" (dict "path" "/livez" "probe" .startup) | nindent 2 }}
readinessProbe:
  {{- include "faregate.probe" (dict "path" "/readyz" "probe" .readiness) | nindent 2 }}
livenessProbe:
  {{- include "faregate.probe" (dict "path" "/livez" "probe" .liveness) | nindent 2 }}
{{- end -}}

{{/* Draining pods are of another template, and do not count where the new ones go. */}}
{{- define "faregate.spread" -}}
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- topologyKey: {{ . }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- include "faregate.selectorLabels" $ | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end -}}

{{/*
Labels and annotations of a pod; none of a version, for each change of them is a half-hour's drain. `checksum` of what it reads
once; a Secret's content is not known here.
*/}}
{{- define "faregate.podMetadata" -}}
labels:
  {{- $own := include "faregate.selectorLabels" (dict "root" .root "component" .component) | fromYaml }}
  {{- merge $own (.pod.labels | default dict) | toYaml | nindent 2 }}
{{- $annotations := dict "kubectl.kubernetes.io/default-container" .container }}
{{- with .checksum }}
{{- $_ := set $annotations "checksum/boot" (sha256sum .) }}
{{- end }}
{{- with .root.Values.secretsRevision }}
{{- $_ := set $annotations "faregate/secrets-revision" . }}
{{- end }}
annotations:
  {{- merge (deepCopy (.pod.annotations | default dict)) (.annotations | default dict) $annotations | toYaml | nindent 2 }}
{{- end -}}

{{/* What a pod's spec has before its containers. dict "root" "component" "pod" "grace"; "spread" true: of a Deployment. */}}
{{- define "faregate.podSettings" -}}
serviceAccountName: {{ include "faregate.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- include "faregate.imagePullSecrets" .root }}
terminationGracePeriodSeconds: {{ .grace }}
{{- with .pod.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .pod.runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- if kindIs "bool" .pod.hostUsers }}
hostUsers: {{ .pod.hostUsers }}
{{- end }}
{{- with .pod.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .pod.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml .pod.topologySpreadConstraints | nindent 2 }}
{{- else if .spread }}
topologySpreadConstraints:
  {{- include "faregate.spread" . | trim | nindent 2 }}
{{- end }}
{{- with .pod.initContainers }}
initContainers:
  {{- tpl (toYaml .) $.root | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
Image, environment, security and mounts of a main container. dict "root" "pod" "secrets" "env" "configName" "mounts"; "process" true: it
reads the whole configuration, which names the admin token.
*/}}
{{- define "faregate.containerSettings" -}}
{{- $root := .root -}}
image: {{ include "faregate.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
{{- with .pod.containerSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $certificates := $root.Values.trustedCertificates }}
{{- $env := .env | default list }}
{{- if $certificates.existingConfigMap }}
{{- $env = append $env (dict "name" "NODE_EXTRA_CA_CERTS" "value" "/etc/faregate-certificates/ca.crt") }}
{{- end }}
{{- $secretEnv := include "faregate.secretEnv" (dict "root" $root "secrets" (.secrets | default dict)) | fromYamlArray }}
env:
  {{- $extra := tpl (toYaml (.pod.extraEnv | default list)) $root | fromYamlArray }}
  {{- include "faregate.env" (dict "env" (concat $env $secretEnv) "extra" $extra) | trim | nindent 2 }}
{{- with .pod.extraEnvFrom }}
envFrom:
  {{- tpl (toYaml .) $root | nindent 2 }}
{{- end }}
volumeMounts:
  {{- if .configName }}
  - name: config
    mountPath: /etc/faregate
    readOnly: true
  {{- end }}
  {{- if and .process (include "faregate.hasAdminToken" $root) }}
  - name: admin
    mountPath: /etc/faregate-admin
    readOnly: true
  {{- end }}
  - name: tmp
    mountPath: /tmp
  {{- if $certificates.existingConfigMap }}
  - name: certificates
    mountPath: /etc/faregate-certificates
    readOnly: true
  {{- end }}
  {{- with .mounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .pod.extraVolumeMounts }}
  {{- tpl (toYaml .) $root | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "faregate.volumes" -}}
{{- $root := .root -}}
{{- if .configName }}
- name: config
  configMap:
    name: {{ .configName }}
{{- end }}
{{- if and .process (include "faregate.hasAdminToken" $root) }}
{{- $token := $root.Values.admin.token }}
- name: admin
  secret:
    secretName: {{ include "faregate.secretName" (dict "root" $root "existingSecret" $token.existingSecret "key" $token.key "path" "admin.token") | quote }}
    items:
      - key: {{ $token.key | quote }}
        path: token
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 256Mi
{{- with $root.Values.trustedCertificates }}
{{- if .existingConfigMap }}
- name: certificates
  configMap:
    name: {{ .existingConfigMap | quote }}
    items:
      - key: {{ .key | quote }}
        path: ca.crt
{{- end }}
{{- end }}
{{- with .volumes }}
{{ toYaml . }}
{{- end }}
{{- with .pod.extraVolumes }}
{{ tpl (toYaml .) $root }}
{{- end }}
{{- end -}}

{{- define "faregate.allSecrets" -}}
{{ include "faregate.storeSecrets" . }}
{{ include "faregate.processSecrets" . }}
{{- end -}}
