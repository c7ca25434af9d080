{{/* Names of a release that is called fernpost are those of deploy/kubernetes. */}}
{{- define "fernpost.name" -}}
{{- if contains "fernpost" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-fernpost" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "fernpost.selector" -}}
app.kubernetes.io/name: fernpost-{{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "fernpost.labels" -}}
{{ include "fernpost.selector" . }}
app.kubernetes.io/part-of: fernpost
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "fernpost.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "fernpost.buildId" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ trimPrefix "sha256:" .digest | trunc 20 }}{{ else }}{{ .tag | default $.Chart.AppVersion | trunc 100 }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "fernpost.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "fernpost.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings of a long-lived pod come from the ConfigMap of the release. */}}
{{- define "fernpost.envFrom" -}}
- configMapRef: { name: {{ include "fernpost.name" . }}-settings }
- secretRef: { name: {{ .Values.existingSecret }} }
{{- end }}

{{- define "fernpost.spread" -}}
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "fernpost.selector" . | nindent 6 }}
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: {{- include "fernpost.selector" . | nindent 6 }}
{{- end }}

{{- define "fernpost.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "fernpost.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}
