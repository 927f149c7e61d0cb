package cluster

import (
	"context"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ReportQuery says which objects tell of what may not be read.
type ReportQuery struct {
	Kinds         []model.GroupKind
	Selector      string // by labels
	AllNamespaces bool   // of all namespaces, not only of those of the options
}

// readReports reads reports where something could not be read: in all namespaces if that is wanted
// and allowed, else in those that the question is about, or from which something was read. Reports
// that may not be read are not missed.
func (r *reader) readReports(ctx context.Context) error {
	if r.options.Reports == nil || len(r.unreadObjects()) == 0 {
		return nil
	}
	var jobs []listJob
	namespaces := slices.DeleteFunc(slices.Clone(r.options.Namespaces), func(ns string) bool { return ns == "" })
	if r.options.Reports.AllNamespaces {
		namespaces = r.namespacesToTry()
	}
	for i := range r.served {
		k := &r.served[i]
		if !k.Namespaced || !slices.Contains(r.options.Reports.Kinds, k.GroupKind) || r.listed[k.GroupKind] {
			continue
		}
		if r.options.Reports.AllNamespaces {
			everywhere, refused := listJob{kind: k, labelSelector: r.options.Reports.Selector}, false
			if err := r.readLists(ctx, []listJob{everywhere}, func(listJob) { refused = true }); err != nil {
				return err
			}
			if !refused {
				continue
			}
		}
		for _, ns := range namespaces {
			jobs = append(jobs, listJob{kind: k, namespace: ns, labelSelector: r.options.Reports.Selector})
		}
	}
	return r.readLists(ctx, jobs, func(listJob) {})
}
