package gitops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// preferDeployed puts aside what no source deploys of the objects that one deploys, and the
// definitions of their kinds that none deploys: they may be of another time, or another cluster.
func (r *renderer) preferDeployed() {
	d, in := &r.destinations, &r.index
	if len(in.free) == 0 || len(d.deployed) == 0 {
		return
	}
	objects, kinds := map[string]bool{}, map[string]bool{}
	for _, s := range d.deployed {
		for i := s.from; i < s.to; i++ {
			for _, id := range in.objectIDs(in.documents[i]) {
				objects[id] = true
				kinds[id[:strings.LastIndex(id, " ")]] = true
			}
		}
	}
	var definitions []string
	for _, i := range in.free {
		if d.aside[i] {
			continue
		}
		var kept []document.Raw
		pieces := splitAgain(in.documents[i])
		for _, p := range pieces {
			switch {
			case hasOnly(objects, in.objectIDs(p)):
			case slices.ContainsFunc(in.definedKinds(p), func(kind string) bool { return kinds[kind] }):
				definitions = append(definitions, p.File.Name)
			default:
				kept = append(kept, p)
			}
		}
		if len(kept) < len(pieces) {
			d.aside[i] = true
			in.documents = append(in.documents, kept...)
		}
	}
	if len(definitions) == 0 {
		return
	}
	what := "a CustomResourceDefinition is"
	if n := len(definitions); n > 1 {
		what = fmt.Sprintf("%d CustomResourceDefinitions are", n)
	}
	slices.Sort(definitions)
	r.reader.Problems = append(r.reader.Problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: what + " not used, as nothing that deploys such objects deploys " + pronounFor(definitions) + ": " +
			shortenNames(slices.Compact(definitions)),
		Hint: "to validate with them, name them: --crds PATH"})
}

// hasOnly reports whether there are ids, and all of them are in a set: a list of which some are not
// is not left out.
func hasOnly(set map[string]bool, ids []string) bool {
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !set[id] })
}

// definedKinds returns the kinds that CustomResourceDefinitions in a document define, as objectIDs
// begins with them.
func (r *manifestIndex) definedKinds(p document.Raw) []string {
	if !strings.Contains(string(p.Text), "CustomResourceDefinition") {
		return nil
	}
	objects, _ := document.ListObjects(p.Text, r.limits)
	var out []string
	for _, o := range objects {
		if model.Text(o.Value, "kind") == "CustomResourceDefinition" {
			out = append(out, model.Text(o.Value, "spec", "group")+" "+model.Text(o.Value, "spec", "names", "kind"))
		}
	}
	return out
}
