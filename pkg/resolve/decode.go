package resolve

import (
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/decode"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Decoding is the policies of a snapshot, which are read without knowing the graph.
type Decoding struct {
	in       *model.Snapshot
	catalog  *descriptor.Catalog
	kinds    []*policy.Kind
	problems []model.Problem
	policies [][]*policy.Policy // by kind; nil of members, whose policies are with those of their leader
	done     chan struct{}      // closed once policies are read

	// in names and hostnames; looked for once, beside what comes before they are asked for
	variables func() *variableScan
}

// StartDecoding begins to read the policies of a snapshot, and returns in the meantime: the graph
// can be built at the same time.
func StartDecoding(in *model.Snapshot, c *descriptor.Catalog) *Decoding {
	d := &Decoding{in: in, catalog: c, done: make(chan struct{})}
	d.variables = sync.OnceValue(d.scanVariables)
	go func() {
		d.kinds, d.problems = c.Discover(in)
		conditions := &expression.Conditions{Redacted: in.HasNoValues()}
		d.policies = make([][]*policy.Policy, len(d.kinds))
		for i, k := range d.kinds {
			if !isMember(d.kinds, k) {
				d.policies[i] = decodeAll(d.kinds, k, in, conditions)
			}
		}
		go d.variables() // whoever waits for the policies need not wait for this
		close(d.done)
	}()
	return d
}

// decodeAll reads the policies of a kind and, each as its own kind has it, those of its members;
// sorted by reference.
func decodeAll(kinds []*policy.Kind, k *policy.Kind, in *model.Snapshot,
	conditions *expression.Conditions) []*policy.Policy {
	out := decodeKind(k, in.OfKind(k.GroupKind), conditions)
	for _, m := range kinds {
		if slices.Contains(k.Members, m.GroupKind) {
			out = append(out, decodeKind(m, in.OfKind(m.GroupKind), conditions)...)
		}
	}
	slices.SortFunc(out, func(a, b *policy.Policy) int { return a.Ref().Compare(b.Ref()) })
	for i, p := range out {
		p.Position = i
	}
	return out
}

// decodeKind reads the objects of a kind, as many at a time as there are processors.
func decodeKind(k *policy.Kind, objects []*model.Object, conditions *expression.Conditions) []*policy.Policy {
	out := make([]*policy.Policy, len(objects))
	if len(objects) == 0 {
		return out
	}
	reader := decode.NewReader(k, conditions)
	model.Parallel(len(objects), model.SmallBatch, func(i int) { out[i] = reader.ReadPolicy(objects[i]) })
	return out
}
