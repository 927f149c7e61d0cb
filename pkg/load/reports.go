package load

import (
	"context"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Reports are objects that tell of what may not be read.
type Reports struct {
	Kinds    []model.GroupKind
	Selector string // by labels
	All      bool   // of all namespaces, not only of those of LiveOptions.Home
}

// reports reads them where something could not be read: in all namespaces if that is wanted and allowed, else in those that the question is about,
// or from which something was read. Reports that may not be read are not missed.
func (r *liveReader) reports(ctx context.Context) error {
	if r.o.Reports == nil || len(r.gaps()) == 0 {
		return nil
	}
	var jobs []job
	namespaces := slices.DeleteFunc(slices.Clone(r.o.Home), func(ns string) bool { return ns == "" })
	if r.o.Reports.All {
		namespaces = r.namespaces()
	}
	for i := range r.served {
		k := &r.served[i]
		if !k.Namespaced || !slices.Contains(r.o.Reports.Kinds, k.GroupKind) || r.asked[k.GroupKind] {
			continue
		}
		if r.o.Reports.All {
			everywhere, refused := job{kind: k, labels: r.o.Reports.Selector}, false
			if err := r.all(ctx, []job{everywhere}, func(job) { refused = true }); err != nil {
				return err
			}
			if !refused {
				continue
			}
		}
		for _, ns := range namespaces {
			jobs = append(jobs, job{kind: k, namespace: ns, labels: r.o.Reports.Selector})
		}
	}
	return r.all(ctx, jobs, func(job) {})
}
