package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Query is what a question is about.
type Query struct {
	Targets []topology.NodeID // objects or sections; nil: every one
	// targets above route rules that were asked for by name: the rules below them are asked for as
	// well
	Through  []topology.NodeID
	Kinds    []model.GroupKind // nil: every policy kind
	ShowNone bool              // also targets on which nothing is in force

	// Namespace is the one that was asked about: problems of it matter even where nothing was
	// found. "": none in particular.
	Namespace string

	// Proxies are those of the Ingress objects of the input, and Ingresses the objects that were
	// asked about; nil: all where Targets is nil.
	Proxies   []*ingress.Proxy
	Ingresses []model.Ref

	// Judges are asked what places that are no route rules are protected by; without gate functions
	// nobody is.
	Judges Judges

	// values are also said in a few words, as tables say them: in the fields Summary
	Summaries bool

	// the answer is compared with that of another input, so that the comparison reports what this
	// one does not have
	IsComparison bool
}
