package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// apiServer compares with a kube-apiserver: what is refused or dropped by the CustomResourceDefinitions of the Gateway API and of vendors, and that
// what is in force is the same whether or not the server has filled its defaults in.
var apiServer = peer{Peer: built("apiserver", "k8s.io/apiserver", ""), generate: drawObjects, ask: askObjects, theirs: storedObjects,
	prepare: func() error {
		_, err := definitions()
		return err
	}}

// drawObjects draws objects of one or two kinds from their schemas, in a third of them with something wrong in some place, beside a Gateway and
// a route that policies can target. How much of what is optional an object has differs from object to object.
func drawObjects(s draw.Source) input {
	all, _ := definitions() // are there: prepare
	out := input{Objects: []object{
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": object{"name": "gw", "namespace": "default"},
			"spec": object{"gatewayClassName": "any", "listeners": []object{{"name": "http", "port": 80, "protocol": "HTTP"}}}},
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": object{"name": "web", "namespace": "default"},
			"spec": object{"parentRefs": []object{{"name": "gw"}}, "rules": []object{{"name": "main", "backendRefs": []object{{"name": "web", "port": 80}}}}}},
		{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "web", "namespace": "default"}, "spec": object{"ports": []object{{"port": 80}}}},
	}}
	for _, d := range all {
		if strings.HasPrefix(d.version, "gateway.networking.k8s.io/") && (d.kind == "Gateway" || d.kind == "HTTPRoute") {
			out.Definitions = append(out.Definitions, d.text)
		}
	}
	for range s.Between(1, 2) {
		d := draw.Pick(s, all...)
		for s.Chance(60) && !d.isPolicy() {
			d = draw.Pick(s, all...)
		}
		if !slices.Contains(out.Definitions, d.text) {
			out.Definitions = append(out.Definitions, d.text)
		}
		for range s.Between(2, 6) {
			out.Objects = append(out.Objects, drawObject(s, d, fmt.Sprintf("o%d", len(out.Objects))))
		}
	}
	return out
}

// isPolicy reports whether objects of the kind name targets.
func (d definition) isPolicy() bool {
	fields, _ := d.schema["properties"].(object)
	spec, _ := fields["spec"].(object)
	known, _ := spec["properties"].(object)
	return known["targetRef"] != nil || known["targetRefs"] != nil
}

// drawObject draws an object of a kind. References to targets, if the kind has them, mostly find one.
func drawObject(s draw.Source, d definition, name string) object {
	g := schemaSource{Source: s, more: draw.Pick(s, 10, 40, 80), bad: draw.Pick(s, 0, 0, 30)}
	fields, _ := d.schema["properties"].(object)
	of, _ := fields["spec"].(object)
	out := object{"apiVersion": d.version, "kind": d.kind, "metadata": object{"name": name, "namespace": "default"}}
	spec, isObject := g.value(of, 0).(object)
	if !isObject {
		spec = object{}
	}
	known, _ := of["properties"].(object)
	ref := draw.Pick(s, object{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "web"}, object{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "gw"},
		object{"group": "", "kind": "Service", "name": "web"})
	for field, value := range map[string]any{"targetRef": ref, "targetRefs": []any{ref}} {
		if _, has := known[field]; has && s.Chance(90) {
			spec[field] = value
		}
	}
	if known["targetRef"] != nil && known["targetRefs"] != nil {
		delete(spec, "targetRef")
	}
	out["spec"] = spec
	return out
}

// askObjects says what is wrong with each object, and what is in force by those that the server takes, as they were written.
func askObjects(ctx context.Context, p program.Program, translate translate, in *input) (facts, error) {
	out := facts{}
	for _, o := range in.Objects {
		out["schema "+named(o)] = "accepted"
	}
	args := []string{"check", "--fail-on", "none", "--validate", "warn"}
	for i, text := range in.Definitions {
		file, remove, err := program.Temporary(fmt.Sprintf("definition-%d-*.yaml", i), []byte(text))
		if err != nil {
			return nil, err
		}
		defer remove()
		args = append(args, "--crds", file)
	}
	var report struct {
		Items []struct {
			ID, Message string
			Ref         struct{ Kind, Name string }
		}
	}
	if err := p.JSON(ctx, in.Objects, &report, args...); err != nil {
		return nil, err
	}
	messages := map[string][]string{}
	for _, item := range report.Items {
		if item.ID == "SchemaViolation" || item.ID == "UnknownField" {
			of := item.Ref.Kind + " " + item.Ref.Name
			messages[of] = append(messages[of], strings.TrimSuffix(item.Message, ": the API server drops it"))
		}
	}
	for of, list := range messages {
		slices.Sort(list)
		out["schema "+of] = strings.Join(slices.Compact(list), "; ")
	}
	said, err := translate(in)
	if err != nil {
		return nil, err
	}
	written, _, err := taken(in, said)
	if err != nil {
		return nil, err
	}
	return out, effectiveFacts(ctx, p, written, out)
}

// storedObjects are the server's messages, and what is in force by the objects as it would store them.
func storedObjects(ctx context.Context, p program.Program, in *input, said facts) (facts, error) {
	out := facts{}
	for key, value := range said {
		if strings.HasPrefix(key, "schema ") {
			out[key] = value
		}
	}
	_, stored, err := taken(in, said)
	if err != nil {
		return nil, err
	}
	return out, effectiveFacts(ctx, p, stored, out)
}

// taken are the objects that the server takes whole: as they were written, and as it would store them.
func taken(in *input, said facts) (written, stored *input, err error) {
	written, stored = &input{Seed: in.Seed}, &input{Seed: in.Seed}
	for _, o := range in.Objects {
		if said["schema "+named(o)] != "accepted" {
			continue
		}
		var s struct{ Spec any }
		text, err := strconv.Unquote(said["stored "+named(o)])
		if err == nil {
			err = json.Unmarshal([]byte(text), &s)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading what is stored of %s: %w", named(o), err)
		}
		written.Objects = append(written.Objects, o)
		stored.Objects = append(stored.Objects, object{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": o["metadata"], "spec": s.Spec})
	}
	return written, stored, nil
}

// named is the kind and the name of an object.
func named(o object) string {
	metadata, _ := o["metadata"].(object)
	return fmt.Sprint(o["kind"], " ", metadata["name"])
}
