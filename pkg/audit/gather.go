package audit

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// item tells an outcome.
func (s *single) item(n *topology.Node, path view.Path, field *Field, o *outcome, routes []string) Item {
	item := Item{Verdict: o.verdict, Target: &n.Ref, Paths: []view.Path{path}, PolicyKind: field.Kind.String(), Setting: field.Setting, XDS: xdsOf(o.place), Compared: field.How}
	item.XDS.Routes = routes
	item.Policies, _ = o.from.sources(field.Setting)
	if len(item.Policies) == 0 && o.verdict != Unexplained {
		item.Policies = o.from.policies
	}
	if field.How == ByValue {
		item.Predicted, item.Found = shown(o.want), shown(o.found)
	}
	if field.How == NotCompared {
		item.Compared = ""
	}
	switch o.verdict {
	case Missing:
		item.Message = "predicted, and the proxy does not do it: " + field.Place
	case Different:
		item.Message = "the proxy does it otherwise: " + field.Place
	case Unexplained:
		item.Message = "the proxy does it, and no policy says so: " + field.Place
	default:
		item.Message = o.why
	}
	return item
}

// gather adds an item to that of the same target, kind and setting, if there is one.
func (s *single) gather(item Item, about string) {
	key := itemKey{*item.Target, item.PolicyKind, about}
	if s.gathered == nil {
		s.gathered = map[itemKey]int{}
	}
	at, known := s.gathered[key]
	if !known {
		s.gathered[key] = len(s.items)
		s.add(item)
		return
	}
	before := &s.items[at]
	if item.Verdict.Differs() && s.patched != "" {
		item.Verdict, item.Message = Unjudged, s.patched
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
	case rank(item.Verdict) < rank(before.Verdict):
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
