package view

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// ClusterFailure stands for the answer of a cluster that gave none, where several clusters are asked.
type ClusterFailure struct {
	Envelope
}

// Failure is a cluster that did not answer, for the reason that the problem tells.
func Failure(p model.Problem) *ClusterFailure {
	out := &ClusterFailure{}
	out.Seal("ClusterFailure", []model.Problem{p})
	out.Complete = false
	return out
}

// Table is empty: there is nothing to show.
func (f *ClusterFailure) Table(TableOptions) Table { return Table{} }

// Names are none.
func (f *ClusterFailure) Names() []string { return nil }

// Tree is empty.
func (f *ClusterFailure) Tree(TableOptions) []Branch { return nil }
