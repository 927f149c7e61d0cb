package audit

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// newItem returns the item of a comparison.
func (s *proxyAuditor) newItem(n *topology.Node, path view.Path, field *Field, o *comparison, routes []string) Item {
	item := Item{Verdict: o.verdict, Target: &n.Ref, Paths: []view.Path{path}, PolicyKind: field.Kind.String(),
		Setting: field.Setting, XDS: newXDS(o.route), Compared: field.How}
	item.XDS.Routes = routes
	item.Policies, _ = o.expectation.settingSources(field.Setting)
	if len(item.Policies) == 0 && o.verdict != Unexplained {
		item.Policies = o.expectation.policies
	}
	if field.How == ByValue {
		item.Predicted, item.Found = hideCredentials(o.want), hideCredentials(o.found)
	}
	if field.How == NotCompared {
		item.Compared = ""
	}
	switch o.verdict {
	case Missing:
		item.Message = "predicted, and the proxy does not do it: " + field.Location
	case Different:
		item.Message = "the proxy does it otherwise: " + field.Location
	case Unexplained:
		item.Message = "the proxy does it, and no policy says so: " + field.Location
	default:
		item.Message = o.reason
	}
	return item
}

// mergeItem adds an item to that of the same target, kind and setting, if there is one.
func (s *proxyAuditor) mergeItem(item Item, about string) {
	key := itemKey{*item.Target, item.PolicyKind, about}
	if s.itemIndex == nil {
		s.itemIndex = map[itemKey]int{}
	}
	at, known := s.itemIndex[key]
	if !known {
		s.itemIndex[key] = len(s.items)
		s.addItem(item)
		return
	}
	before := &s.items[at]
	if item.Verdict.IsDifference() && s.patchedBy != "" {
		item.Verdict, item.Message = NotJudged, s.patchedBy
	}
	switch {
	case item.Verdict == before.Verdict:
		before.Paths = append(before.Paths, item.Paths...)
		if before.XDS != nil && item.XDS != nil {
			before.XDS.Routes = append(before.XDS.Routes, item.XDS.Routes...)
		}
		for _, p := range item.Policies {
			if !slices.Contains(before.Policies, p) {
				before.Policies = append(slices.Clip(before.Policies), p)
			}
		}
	case verdictRank(item.Verdict) < verdictRank(before.Verdict):
		if item.Policies == nil {
			item.Policies = []model.Ref{}
		}
		*before = item
	}
}

type itemKey struct {
	target        model.Ref
	kind, setting string
}
