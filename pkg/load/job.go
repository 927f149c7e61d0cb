package load

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// job is one list to be read: the objects of a kind, of one namespace if it is not "".
type job struct {
	kind      *model.ServedKind
	namespace string
	name      string                   // of the one object that is read instead of a list; "": a list
	keep      func(*model.Object) bool // nil: keep all
	labels    string                   // a selector; "": all
	field     string                   // the same, of fields
	cached    bool                     // what the server has in its cache will do
	targets   bool                     // no more is kept than targets need
}

// part reports whether the list is not all that there is of the kind and namespace.
func (j job) part() bool { return j.labels != "" || j.field != "" }

// namesOnly reports whether only the metadata of the objects can matter: they are targets of a kind of Kubernetes without sections.
func (j job) namesOnly() bool {
	switch j.kind.Group {
	case "":
		return j.targets && j.kind.Kind != "Service"
	case "apps", "batch":
		return j.targets
	}
	return false
}

// rank orders the jobs: the lists that are long as a rule begin first.
func (j job) rank() int {
	switch {
	case strings.HasSuffix(j.kind.Kind, "Route"):
		return 0
	case j.kind.Group == gatewayGroup, j.kind.Group == "", j.kind.GroupKind == model.DefinitionKind():
		return 1
	}
	return 2
}

func (j job) String() string {
	if j.namespace == "" {
		return j.kind.Resource()
	}
	return j.kind.Resource() + " in namespace " + j.namespace
}

// bones is a target, whatever it is, less all that answers do not depend on: it tells of itself who it is, its labels, and what its sections are
// called.
func bones(whole *tree) any {
	if whole == nil {
		return nil
	}
	out := onlyKeys(whole, "apiVersion", "kind", "metadata")
	sections := &tree{}
	for _, field := range []string{"listeners", "rules", "ports"} {
		list, ok := asList(asMap(whole.at("spec")).at(field))
		if !ok {
			continue
		}
		named := &tree{list: true}
		for _, s := range list {
			named.kids = append(named.kids, kid{value: onlyKeys(asMap(s.value), "name", "port")})
		}
		sections.kids = append(sections.kids, kid{key: field, value: named})
	}
	if len(sections.kids) > 0 {
		out = out.with("spec", 0, sections)
	}
	return out
}

// onlyKeys is a map with some of its keys.
func onlyKeys(m *tree, keys ...string) *tree {
	out := &tree{}
	for _, key := range keys {
		if e := m.find(key); e != nil {
			out.kids = append(out.kids, *e)
		}
	}
	return out
}
