package view

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// ClusterFailure stands for the answer of a cluster that gave none, where several clusters are
// asked.
type ClusterFailure struct {
	Envelope
}

// NewClusterFailure returns the answer of a cluster that did not answer; the problem says why.
func NewClusterFailure(p model.Problem) *ClusterFailure {
	out := &ClusterFailure{}
	out.Finish("ClusterFailure", []model.Problem{p})
	out.Complete = false
	return out
}

// Table is empty: there is nothing to show.
func (f *ClusterFailure) Table(TableOptions) Table { return Table{} }

// FilterNames are none.
func (f *ClusterFailure) FilterNames() []string { return nil }

// Tree is empty.
func (f *ClusterFailure) Tree(TableOptions) []Branch { return nil }
