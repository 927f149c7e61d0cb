//go:build linux

package hostiletest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// What is put before and behind texts: commands of CI runners at the start of a line and within
// one, what moves a cursor, changes a title or makes a link in a terminal (C0 and C1), what
// reorders text, hides or breaks lines, and markup. There is no slash in it, so that names stay
// names.
const (
	poisonBefore = "::set-output name=zq::"
	poisonBehind = "\n::set-output name=zq::x\n  ::add-mask::zq\r##[error]zq ##vso[task.zq]x\x1b[66m\x1b]8;;zq\x07\x1b]52;c;enE=\x1b\\\b\x7f\u009b2J\u009d0;zq\u009c\u0085" +
		"\u202a\u202e\u2066\u2069\u200b\u200e\u200f\u2060\ufeff\u2028\u2029\u061c\u00ad\U000e0041\ufdd0 | `<zq onload=x>"
)

func poisoned(s string) string { return poisonBefore + s + poisonBehind }

// How much of an object is poisoned.
type dose int

const (
	free  dose = iota // texts that nothing is decided by
	names             // names of all kinds as well
	all               // everything but apiVersion, with kinds and enumerations
)

// Keys below which texts are words that decide what an object is, and those below which they are
// names.
var (
	words = []string{"kind", "group", "controllerName", "type", "from", "protocol", "strategy", "mode", "method",
		"status", "operator", "mergeType", "port", "allowMethods", "creationTimestamp",
		"lastTransitionTime", "@type", "window", "requestTimeout", "limit", "timeout", "plural", "version",
		"apiVersion", "readAt", "kinds", "for", "stringData", "data", "expression"}
	named = []string{"name", "namespace", "sectionName", "hostname", "hostnames", "gatewayClassName", "value",
		"cluster", "domains", "prefix", "route_config_name", "path", "id", "match", "matchLabels",
		"labels", "targetRef", "targetRefs", "parentRefs", "backendRefs", "parentRef", "ancestorRef", "requirements",
		"files", "targets"}
)

// poison gives texts and names of a value what a terminal, a runner or a page would act on.
func poison(v any, d dose, at string, name bool) any {
	switch v := v.(type) {
	case string:
		switch {
		case at == "apiVersion", d < all && slices.Contains(words, at), d < names && name:
			return v
		}
		return poisoned(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = poison(one, d, at, name)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, one := range v {
			to := key
			if open := slices.Contains([]string{"annotations", "rules", "limits", "authentication", "authorization",
				"labels"}, at); open && (d > free || at == "annotations") {
				to = poisoned(key)
			}
			out[to] = poison(one, d, key, name || slices.Contains(named, key))
		}
		return out
	}
	return v
}

// objectsOf are the objects of files.
func objectsOf(t *testing.T, patterns ...string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, pattern := range patterns {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Fatalf("no file is called %s", pattern)
		}
		for _, file := range files {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			for d := yaml.NewDecoder(f); ; {
				var doc map[string]any
				if d.Decode(&doc) != nil {
					break
				}
				if doc != nil {
					out = append(out, told(doc))
				}
			}
			_ = f.Close()
		}
	}
	return out
}

// told is an object as a server has stored it, with an annotation and, where it has a spec, a status
// with a message.
func told(o map[string]any) map[string]any {
	meta, ok := o["metadata"].(map[string]any)
	if !ok {
		return o
	}
	meta["resourceVersion"] = "1"
	meta["annotations"] = map[string]any{"a8r.io/owner": "team", "dopolicy.dev/ignore": "RuleShadowed", "note": "text"}
	condition := func(kind string) []any {
		return []any{map[string]any{"type": kind, "status": "False", "reason": "Refused", "message": "no",
			"lastTransitionTime": "2026-01-01T00:00:00Z"}}
	}
	spec, _ := o["spec"].(map[string]any)
	switch kind, _ := o["kind"].(string); {
	case spec["parentRefs"] != nil:
		var parents []any
		refs, _ := spec["parentRefs"].([]any)
		for _, ref := range refs {
			parents = append(parents, map[string]any{"parentRef": ref,
				"controllerName": "example.com/gateway-controller", "conditions": condition("Accepted")})
		}
		o["status"] = map[string]any{"parents": parents}
	case strings.HasSuffix(kind, "Policy") && kind != "NetworkPolicy":
		o["status"] = map[string]any{"conditions": condition("Enforced"), "ancestors": []any{map[string]any{
			"ancestorRef": map[string]any{"name": "eg", "namespace": "infra", "kind": "Gateway",
				"group": "gateway.networking.k8s.io"},
			"controllerName": "gateway.envoyproxy.io/gatewayclass-controller", "conditions": condition("Accepted")}}}
	case kind == "Gateway":
		o["status"] = map[string]any{"conditions": condition("Programmed")}
	}
	return o
}

// unstored takes off what says that a server has stored the objects: it refuses most of them.
func unstored(objects []map[string]any) []map[string]any {
	for _, o := range objects {
		if meta, ok := o["metadata"].(map[string]any); ok {
			delete(meta, "resourceVersion")
		}
	}
	return objects
}

// stream is objects as documents of JSON, in which every text can be written.
func stream(t *testing.T, objects []map[string]any, d dose) []byte {
	t.Helper()
	var out []byte
	for _, o := range objects {
		text, err := json.Marshal(poison(o, d, "", false))
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(append(out, "---\n"...), text...), '\n')
	}
	return out
}

// eachLeaf calls see with a document once for each text in it, that one poisoned.
func eachLeaf(t *testing.T, text string, see func(doc []byte)) {
	t.Helper()
	for n := 0; ; n++ {
		var doc any
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		left := n
		doc = leaf(doc, &left)
		if left >= 0 {
			return
		}
		out, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		see(out)
	}
}

// leaf poisons the text or key before which there are so many; left is then below zero.
func leaf(v any, left *int) any {
	switch v := v.(type) {
	case string:
		if *left--; *left == -1 {
			return poisoned(v)
		}
	case []any:
		for i := range v {
			v[i] = leaf(v[i], left)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			v[key] = leaf(v[key], left)
			if *left--; *left == -1 {
				v[poisoned(key)] = v[key]
				delete(v, key)
			}
		}
	}
	return v
}
