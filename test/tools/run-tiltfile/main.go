// run-tiltfile runs a Tiltfile by the interpreter that Tilt itself uses, and writes what it asked of Tilt as JSON.
//
//	run-tiltfile Tiltfile HELM < options.json
//
// Every function of Tilt that is not below does not exist, and neither does an argument that Tilt's own does not take.
// helm() really renders; the others only note that they were called.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
	"go.yaml.in/yaml/v3"
)

type options struct {
	Env       map[string]string `json:"env"`
	Settings  map[string]string `json:"settings"`
	Namespace string            `json:"namespace"`
}

var (
	given    options
	helmPath string
	calls    = starlark.NewList(nil)
)

// In the order in which they may be given without a name.
var parameters = map[string][]string{
	"allow_k8s_contexts":   {"contexts"},
	"config.define_string": {"name", "args", "usage"},
	"config.parse":         {},
	"decode_yaml_stream":   {"yaml"},
	"docker_build": {"ref", "context", "build_args", "dockerfile", "dockerfile_contents", "live_update", "match_in_env_vars", "ignore", "only",
		"entrypoint", "target", "ssh", "network", "secret", "extra_tag", "container_args", "cache_from", "pull", "platform", "extra_hosts"},
	"encode_yaml_stream": {"objs"},
	"fall_back_on":       {"files"},
	"helm":               {"pathToChartDir", "name", "namespace", "values", "set", "kube_version", "skip_crds"},
	"k8s_namespace":      {},
	"k8s_resource": {"workload", "new_name", "port_forwards", "extra_pod_selectors", "trigger_mode", "resource_deps", "objects", "auto_init",
		"pod_readiness", "links", "labels", "discovery_strategy"},
	"k8s_yaml": {"yaml", "allow_duplicates"},
	"link":     {"url", "name"},
	"local_resource": {"name", "cmd", "deps", "trigger_mode", "resource_deps", "ignore", "auto_init", "serve_cmd", "cmd_bat", "serve_cmd_bat",
		"allow_parallel", "links", "labels", "env", "serve_env", "readiness_probe", "dir", "serve_dir"},
	"os.getenv":    {"key", "default"},
	"port_forward": {"local_port", "container_port", "name", "link_path", "host"},
	"sync":         {"local_path", "remote_path"},
}

type arguments map[string]starlark.Value

// What answers something else than what it was called with.
var answers = map[string]func(arguments) (starlark.Value, error){
	"config.parse": func(arguments) (starlark.Value, error) {
		settings := starlark.NewDict(len(given.Settings))
		for name, value := range given.Settings {
			_ = settings.SetKey(starlark.String(name), starlark.String(value))
		}
		return settings, nil
	},
	"os.getenv": func(args arguments) (starlark.Value, error) {
		name, _ := starlark.AsString(args["key"])
		if value, ok := given.Env[name]; ok {
			return starlark.String(value), nil
		}
		if fallback, ok := args["default"]; ok {
			return fallback, nil
		}
		return starlark.None, nil
	},
	"k8s_namespace":      func(arguments) (starlark.Value, error) { return starlark.String(given.Namespace), nil },
	"helm":               renderChart,
	"decode_yaml_stream": decodeYaml,
	"encode_yaml_stream": encodeYaml,
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		var failed *starlark.EvalError
		if errors.As(err, &failed) {
			fmt.Fprintln(os.Stderr, failed.Backtrace())
		} else {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
}

func run(file, helm string) error {
	helmPath = helm
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	builtins := starlark.StringDict{"TRIGGER_MODE_MANUAL": starlark.String("manual"), "TRIGGER_MODE_AUTO": starlark.String("auto")}
	modules := map[string]starlark.StringDict{"config": {}, "os": {}}
	for name := range parameters {
		builtin := starlark.NewBuiltin(name, note)
		if module, member, ok := cut(name); ok {
			modules[module][member] = builtin
		} else {
			builtins[name] = builtin
		}
	}
	for name, members := range modules {
		builtins[name] = &starlarkstruct.Module{Name: name, Members: members}
	}
	// Paths are read from where the Tiltfile stands.
	if err := os.Chdir(filepath.Dir(file)); err != nil {
		return err
	}
	file = filepath.Base(file)
	dialect := &syntax.FileOptions{TopLevelControl: true, GlobalReassign: true, While: false}
	if _, err := starlark.ExecFileOptions(dialect, &starlark.Thread{Name: file}, file, nil, builtins); err != nil {
		return err
	}
	text, err := jsonOf(calls)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(text)
	return err
}

func cut(name string) (module, member string, ok bool) {
	before, after, found := bytes.Cut([]byte(name), []byte("."))
	return string(before), string(after), found
}

func note(_ *starlark.Thread, called *starlark.Builtin, positional starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	name := called.Name()
	known := parameters[name]
	if len(positional) > len(known) {
		return nil, fmt.Errorf("%s takes at most %d arguments", name, len(known))
	}
	args := arguments{}
	for i, value := range positional {
		args[known[i]] = value
	}
	for _, pair := range named {
		key, _ := starlark.AsString(pair[0])
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s has no argument %s", name, key)
		}
		if _, twice := args[key]; twice {
			return nil, fmt.Errorf("%s is given %s twice", name, key)
		}
		args[key] = pair[1]
	}
	call := starlark.NewDict(len(args) + 1)
	_ = call.SetKey(starlark.String("call"), starlark.String(name))
	for key, value := range args {
		_ = call.SetKey(starlark.String(key), value)
	}
	_ = calls.Append(call)
	if answer, ok := answers[name]; ok {
		return answer(args)
	}
	return call, nil
}

func renderChart(args arguments) (starlark.Value, error) {
	text := func(key string) string { value, _ := starlark.AsString(args[key]); return value }
	command := []string{"template", text("name"), text("pathToChartDir"), "--namespace", text("namespace")}
	for _, list := range []struct{ key, flag string }{{"values", "--values"}, {"set", "--set"}} {
		values, ok := args[list.key].(*starlark.List)
		for i := 0; ok && i < values.Len(); i++ {
			value, _ := starlark.AsString(values.Index(i))
			command = append(command, list.flag, value)
		}
	}
	helm := exec.Command(helmPath, command...)
	helm.Stderr = os.Stderr
	rendered, err := helm.Output()
	return starlark.String(rendered), err
}

func decodeYaml(args arguments) (starlark.Value, error) {
	text, _ := starlark.AsString(args["yaml"])
	decoder := yaml.NewDecoder(bytes.NewBufferString(text))
	objects := []any{}
	for {
		var object any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
	encoded, err := json.Marshal(objects)
	if err != nil {
		return nil, err
	}
	return starlark.Call(&starlark.Thread{}, starlarkjson.Module.Members["decode"], starlark.Tuple{starlark.String(encoded)}, nil)
}

func encodeYaml(args arguments) (starlark.Value, error) {
	// Of JSON every line is YAML.
	text, err := jsonOf(args["objs"])
	return starlark.String(text), err
}

func jsonOf(value starlark.Value) (string, error) {
	encoded, err := starlark.Call(&starlark.Thread{}, starlarkjson.Module.Members["encode"], starlark.Tuple{value}, nil)
	if err != nil {
		return "", err
	}
	text, _ := starlark.AsString(encoded)
	return text, nil
}
