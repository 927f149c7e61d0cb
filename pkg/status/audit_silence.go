package status

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// silence finds the controllers that report nothing at all: what they should report is missing
// everywhere for one reason.
type silence struct {
	kinds   map[model.GroupKind]*resolve.Kind
	vendors map[string]string // by vendor of policy kinds, the controller that writes the marks of these kinds
	heard   map[string]bool   // the controllers that report something
}

func newSilence(kinds map[model.GroupKind]*resolve.Kind, predictions []Prediction) *silence {
	out := &silence{kinds: kinds, vendors: map[string]string{}, heard: map[string]bool{}}
	for i := range predictions {
		for _, e := range predictions[i].Ancestors {
			for _, c := range e.Conditions {
				if k := out.kindOfMark(c.Type); k != nil && e.Controller != "" {
					out.vendors[k.Vendor] = e.Controller
				}
			}
		}
	}
	return out
}

// kindOfMark returns the policy kind whose policies have a mark of that type set, nil if it is none.
func (s *silence) kindOfMark(mark string) *resolve.Kind {
	if !isMark(mark) {
		return nil
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(mark, "Affected"), "/")
	for gk, k := range s.kinds {
		if gk.Kind == name && strings.HasPrefix(mark, gk.Group+"/") {
			return k
		}
	}
	return nil
}

// writerOfKind names the controller of a policy kind: by its name, or by that of the implementation.
func (s *silence) writerOfKind(k *resolve.Kind) string {
	switch {
	case s.vendors[k.Vendor] != "":
		return s.vendors[k.Vendor]
	case len(k.Controllers) == 1:
		return k.Controllers[0]
	case k.Vendor != "":
		return k.Vendor
	}
	return "of " + k.GroupKind.String()
}

// writerOf names the controller that should report an entry of an object; "": it is not known.
func (s *silence) writerOf(r *resolve.Resolution, object model.Ref, controller string) string {
	if controller != "" {
		return controller
	}
	if k := s.kinds[object.GroupKind()]; k != nil {
		return s.writerOfKind(k)
	}
	return controllerOf(r, object.WithoutSection())
}

// noteReports notes who reports something about an object.
func (s *silence) noteReports(r *resolve.Resolution, object model.Ref, reports []Report) {
	for i := range reports {
		for j := range reports[i].Conditions {
			switch c := &reports[i].Conditions[j]; {
			case c.isPending():
			case s.kindOfMark(c.Type) != nil:
				s.heard[s.writerOfKind(s.kindOfMark(c.Type))] = true
			default:
				s.heard[s.writerOf(r, object, reports[i].Controller)] = true
			}
		}
	}
}

// nameIfSilent returns the name of a controller that reports nothing, else "".
func (s *silence) nameIfSilent(writer string) string {
	if s.heard[writer] {
		return ""
	}
	return writer
}
