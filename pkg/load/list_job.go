package load

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// listJob is one list to be read: the objects of a kind, of one namespace if it is not "".
type listJob struct {
	kind          *model.ServedKind
	namespace     string
	name          string                   // of the one object that is read instead of a list; "": a list
	isKept        func(*model.Object) bool // nil: keep all
	labelSelector string                   // a selector; "": all
	fieldSelector string                   // the same, of fields
	fromCache     bool                     // the server may answer from its cache
	targetsOnly   bool                     // no more is kept than targets need
}

// isPartial reports whether the list is not all that there is of the kind and namespace.
func (j listJob) isPartial() bool { return j.labelSelector != "" || j.fieldSelector != "" }

// isMetadataOnly reports whether only the metadata of the objects can matter: they are targets of a
// kind of Kubernetes without sections.
func (j listJob) isMetadataOnly() bool {
	switch j.kind.Group {
	case "":
		return j.targetsOnly && j.kind.Kind != "Service"
	case "apps", "batch":
		return j.targetsOnly
	}
	return false
}

// readingOrder orders the jobs: the lists that are long as a rule begin first.
func (j listJob) readingOrder() int {
	switch {
	case strings.HasSuffix(j.kind.Kind, "Route"):
		return 0
	case j.kind.Group == gatewayGroup, j.kind.Group == "", j.kind.GroupKind == model.DefinitionKind():
		return 1
	}
	return 2
}

func (j listJob) String() string {
	if j.namespace == "" {
		return j.kind.Resource()
	}
	return j.kind.Resource() + " in namespace " + j.namespace
}

// reduceToTarget returns what answers need of a target: its type, its metadata, and what its
// sections are called.
func reduceToTarget(whole *tree) any {
	if whole == nil {
		return nil
	}
	out := selectKeys(whole, "apiVersion", "kind", "metadata")
	sections := &tree{}
	for _, field := range []string{"listeners", "rules", "ports"} {
		list, ok := asList(asMap(whole.valueAt("spec")).valueAt(field))
		if !ok {
			continue
		}
		named := &tree{isList: true}
		for _, s := range list {
			named.entries = append(named.entries, treeEntry{value: selectKeys(asMap(s.value), "name", "port")})
		}
		sections.entries = append(sections.entries, treeEntry{key: field, value: named})
	}
	if len(sections.entries) > 0 {
		out = out.withValue("spec", 0, sections)
	}
	return out
}

// selectKeys returns a map with some of its keys.
func selectKeys(m *tree, keys ...string) *tree {
	out := &tree{}
	for _, key := range keys {
		if e := m.findEntry(key); e != nil {
			out.entries = append(out.entries, *e)
		}
	}
	return out
}
