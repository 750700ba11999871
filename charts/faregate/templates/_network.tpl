{{- define "faregate.ingressRules" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- if has .component (list "migrate" "test") -}}
ingress: []
{{- else -}}
ingress:
  {{- if eq .component "api" }}
  - ports:
      - port: http
        protocol: TCP
    {{- with $policy.from }}
    from:
      {{- toYaml . | nindent 6 }}
      - podSelector:
          matchLabels:
            {{- include "faregate.selectorLabels" (dict "root" $.root "component" "test") | nindent 12 }}
    {{- end }}
  {{- end }}
  - ports:
      - port: internal
        protocol: TCP
    from:
      - podSelector: {}
      {{- with $policy.internalFrom }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
{{- end -}}
{{- end -}}

{{/*
Ports of the stores, as a list in JSON. Not those of the web: that way out leaves private networks out, because links to images come
from callers, and an S3 store in a private network is named in `networkPolicy.stores`.
*/}}
{{- define "faregate.storePorts" -}}
{{- $ports := list -}}
{{- if eq .Values.mode "cluster" -}}
{{- range .Values.redis.urls -}}
{{- $host := regexReplaceAll "^rediss?://([^/]*).*$" . "${1}" -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" $host | trimPrefix ":" | default "6379" | int) -}}
{{- end -}}
{{- range concat .Values.kafka.brokers .Values.cassandra.contactPoints -}}
{{- $ports = append $ports (regexFind "[0-9]+$" . | int) -}}
{{- end -}}
{{- end -}}
{{- if include "faregate.hasS3" . -}}
{{- $url := urlParse .Values.media.s3.endpoint -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) | int) -}}
{{- end -}}
{{- $wanted := list -}}
{{- range $ports | uniq -}}
{{- if or $.Values.networkPolicy.stores (not (has . (list 80 443))) -}}
{{- $wanted = append $wanted . -}}
{{- end -}}
{{- end -}}
{{- toJson (sortAlpha $wanted) -}}
{{- end -}}

{{- define "faregate.egressRules" -}}
{{- $root := .root -}}
{{- $policy := $root.Values.networkPolicy -}}
egress:
  - ports:
      {{- /* A policy sees the port of the pod behind the Service, which is 5353 on OpenShift. */}}
      {{- range list 53 5353 }}
      - port: {{ . }}
        protocol: UDP
      - port: {{ . }}
        protocol: TCP
      {{- end }}
  {{- if eq .component "test" }}
  - ports:
      - port: http
        protocol: TCP
      - port: internal
        protocol: TCP
    to:
      - podSelector:
          matchLabels:
            {{- include "faregate.selectorLabels" (dict "root" $root "component" "api") | nindent 12 }}
  {{- else }}
  {{- with include "faregate.storePorts" $root | fromJsonArray }}
  - ports:
      {{- range . }}
      - port: {{ . }}
        protocol: TCP
      {{- end }}
    {{- with $policy.stores }}
    to:
      {{- toYaml . | nindent 6 }}
    {{- end }}
  {{- end }}
  {{- if has .component (list "api" "settlement" "video") }}
  - ports:
      - port: 443
        protocol: TCP
    to:
      - ipBlock:
          cidr: 0.0.0.0/0
          except:
            {{- toYaml $policy.exceptCidrs | nindent 12 }}
      - ipBlock:
          cidr: ::/0
          except:
            {{- toYaml $policy.exceptCidrsV6 | nindent 12 }}
  {{- end }}
  {{- with $policy.extraEgress }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}
