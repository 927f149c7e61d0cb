package descriptor

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// orderReader reads comparators.
type orderReader struct{ reader }

// readKeys reads a list of keys.
func (r orderReader) readKeys(n *yaml.Node) []policy.Key {
	var out []policy.Key
	r.List(n, func(e *yaml.Node) {
		var k policy.Key
		if e.Kind == yaml.MappingNode {
			k = r.readKey(e)
		} else {
			wordField(r.Reader, &k.By, []policy.By{policy.ByLevel, policy.ByCreated, policy.ByName, policy.ByNamespace,
				policy.ByNamespacedName, policy.ByIdentity, policy.BySection, policy.ByIndex, policy.ByOpen})(e)
		}
		if slices.ContainsFunc(out, func(o policy.Key) bool {
			return o.By == k.By && slices.Equal(o.At, k.At) &&
				k.Func == nil
		}) {
			r.Fail(e, "%q is a key already", strings.Join(append([]string{string(k.By)}, k.At...), " "))
		}
		out = append(out, k)
	})
	for i, k := range out {
		if k.By == policy.ByLevel && i > 0 {
			r.Fail(n, "\"level\" must be the first key")
		}
	}
	return out
}

// readKey reads a key that is an object.
func (r orderReader) readKey(n *yaml.Node) policy.Key {
	var k policy.Key
	by := func(b policy.By, read func(*yaml.Node)) form.Field {
		return func(n *yaml.Node) {
			if k.By != "" {
				r.Fail(n, "a key compares one thing, %s or %s", k.By, b)
			}
			k.By = b
			read(n)
		}
	}
	name := func(n *yaml.Node) {
		k.At = []string{""}
		r.Text(&k.At[0])(n)
	}
	compares := functionField(r.Reader, &k.Func, r.funcs.Compare, "to compare policies")
	var sort string
	r.Object(n, map[string]form.Field{"field": by(policy.ByField, r.Path(&k.At)), "label": by(policy.ByLabel, name),
		"annotation": by(policy.ByAnnotation, name), "func": by(policy.ByFunc, compares),
		"of": r.Texts(&k.Values), "type": r.Word(&sort, []string{"text", "number", "present"}), "descending": r.Flag(
			&k.Descending), "called": r.Text(&k.Name),
		"absent": func(n *yaml.Node) { k.Absent = n.Value }})
	if k.By == "" && !r.Failed() {
		r.Fail(n, "a key needs \"field\", \"label\", \"annotation\" or \"func\"")
	}
	k.Number, k.Present = sort == "number", sort == "present"
	return k
}
