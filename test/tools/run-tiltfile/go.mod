module faregate/tools/run-tiltfile

go 1.26.0

require (
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5
	go.yaml.in/yaml/v3 v3.0.4
)

require golang.org/x/sys v0.42.0 // indirect
