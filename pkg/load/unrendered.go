package load

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*[^{}]*\}`)

// identities are the fields by which objects of policies and routes name something.
var identities = []string{"name", "namespace", "hostname", "hostnames", "host", "hosts", "sectionName", "gatewayClassName", "port", "kind", "group"}

// unrendered reports variables that stand for a name, where the object is looked for by that name or looks for others: it is a template that
// was not rendered, and what it would name is not known. In other fields such texts are left to whoever reads them.
func (d *document) unrendered(o *model.Object, m *tree) {
	if !d.variables {
		return
	}
	var found []string
	at := 0
	note := func(text string, line int, path ...string) {
		if at == 0 {
			at = line
		}
		for _, name := range variable.FindAllString(text, -1) {
			if one := name + " in " + strings.Join(path, "."); !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	var look func(v any, line int, path []string)
	look = func(v any, line int, path []string) {
		switch v := v.(type) {
		case string:
			if variable.MatchString(v) {
				note(v, line, path...)
			}
		case *tree:
			for _, e := range v.kids {
				switch _, nested := e.value.(*tree); {
				case v.list:
					look(e.value, e.line, path)
				case nested || slices.Contains(identities, e.key):
					look(e.value, e.line, append(slices.Clone(path), e.key))
				}
			}
		}
	}
	meta := asMap(m.at("metadata"))
	for _, key := range []string{"name", "namespace"} {
		if e := meta.find(key); e != nil {
			look(e.value, e.line, []string{"metadata", key})
		}
	}
	if spec := m.find("spec"); spec != nil && attaches(o.Ref, asMap(spec.value)) {
		look(spec.value, spec.line, []string{"spec"})
	}
	if len(found) == 0 {
		return
	}
	const most = 3
	more := ""
	if n := len(found); n > most {
		found, more = found[:most], fmt.Sprintf(" and %d more", n-most)
	}
	d.report(o, &trouble{code: model.UnrenderedVariable, line: at, message: "an unrendered variable: " + strings.Join(found, ", ") + more + ": what it names is not known",
		hint: "render the manifests before; Flux puts values in the place of variables with spec.postBuild"})
}

// attaches reports whether an object is one of the Gateway API, or names what it is about as those and their policies do.
func attaches(r model.Ref, spec *tree) bool {
	if strings.HasSuffix(r.Group, "gateway.networking.k8s.io") {
		return true
	}
	return slices.ContainsFunc([]string{"targetRef", "targetRefs", "parentRefs"}, func(key string) bool { return spec.find(key) != nil })
}
