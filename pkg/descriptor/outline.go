package descriptor

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// The outline of a descriptor says what the kind is called, what its policies may target and where they may hold. The rest says what a policy
// means, and is read only where there are policies: every command waits for what is read, and an input has policies of few kinds.

// IsReadLater reports whether a field of a PolicyKind document is no part of the outline.
func IsReadLater(field string) bool {
	switch field {
	case "admission", "checks", "defaults", "builtins", "content", "rules", "strategy", "compare", "resolve", "normalize", "summaries",
		"facets", "notEvaluated", "lints", "advice", "invalid", "tolerant", "fold", "sameTarget", "rejects":
		return true
	}
	return false
}

// neededKinds returns the kinds of an input that are read whole, and as the input decides: those of
// which it has policies, alone or together with others, or lacks some that the cluster has, and
// those that have results without any.
func (c *Catalog) neededKinds(in *model.Snapshot) map[model.GroupKind]bool {
	needed := map[model.GroupKind]bool{}
	for gk, k := range c.kinds {
		together := append([]model.GroupKind{gk}, k.Members...)
		if k.Virtual || k.HasResultsWithoutPolicies() || slices.ContainsFunc(together, func(gk model.GroupKind) bool { return len(in.OfKind(gk)) > 0 || in.Cluster.HasUnread(gk) }) {
			for _, gk := range together {
				needed[gk] = true
			}
		}
	}
	return needed
}

// readWhole reads a kind whole, once for all inputs that one catalogue is asked about.
func (c *Catalog) readWhole(k *policy.Kind) *policy.Kind {
	if known, ok := c.wholeKinds.Load(k.GroupKind); ok {
		return known.(*policy.Kind)
	}
	if whole, err := c.builder.readKind(k.GroupKind, c.chosenSettings); err == nil { // tests read all of them
		k = whole
	}
	c.wholeKinds.Store(k.GroupKind, k)
	return k
}

// rawKind is a PolicyKind document before variants and extension are applied.
type rawKind struct {
	form.Document
	node         *yaml.Node // the outline of the document, or all of it
	file, vendor string
	user         bool
}

// withFields returns the document with all its fields, or its outline.
func (k rawKind) withFields(whole bool) (rawKind, error) {
	if !whole {
		return k, nil
	}
	n, err := k.ReadAll()
	k.node = n
	return k, err
}

// outlineOf leaves out of a descriptor what is read later, as variants and dialects may set it.
func outlineOf(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = nil
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !IsReadLater(n.Content[i].Value) {
			out.Content = append(out.Content, n.Content[i], n.Content[i+1])
		}
	}
	return &out
}
