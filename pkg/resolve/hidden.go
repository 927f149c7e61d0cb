package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findHidden reports what holds where a node comes into play and does not hold at the node, because
// something else is said of the node itself. It is reported once for each node and place, with the
// fields of the first group of callers that misses any.
func (k *scopeEngine) findHidden() []model.Problem {
	g := k.res.Graph
	var out []model.Problem
	for id := range k.ownParts {
		if !k.HasResultsAtNode(g.Node(id)) {
			continue
		}
		for _, use := range g.Uses(id) {
			if p := k.hiddenAt(id, use); p != nil {
				out = append(out, *p)
			}
		}
	}
	return model.SortProblems(out)
}

func (k *scopeEngine) hiddenAt(id topology.NodeID, use topology.NodeUse) *model.Problem {
	s := k
	for c := range s.callers {
		if !k.hasOwnPart(c, id) || !slices.ContainsFunc(s.callers[c].nodes, use.IsFor) {
			continue
		}
		own := s.callers[c].parts.intersection(s.sets[s.setAt[id]])
		set := map[string]bool{}
		for _, i := range own {
			for _, u := range s.parts[i].Policy.Blocks[0].Units {
				set[u.Path.String()] = true
			}
		}
		var fields []string
		for _, i := range s.callers[c].parts.intersection(s.sets[s.setAt[use.At]]) {
			for _, u := range s.parts[i].Policy.Blocks[0].Units {
				field := fmt.Sprintf("%s (%s)", u.Path, s.parts[i].Policy.Ref().FullName())
				if len(u.Path) > 0 && !set[u.Path.String()] && !slices.Contains(fields, field) {
					fields = append(fields, field)
				}
			}
		}
		if len(fields) == 0 {
			continue
		}
		first := s.callers[c].parts.intersection(s.ownParts[id])[0]
		p := model.Problem{Severity: model.Info, Code: model.SettingsHidden,
			Message: fmt.Sprintf("with settings of its own %s does not take over what holds at %s where it is used: %s",
				k.res.Node(id).Ref, k.res.Node(use.At).Ref, strings.Join(fields, ", "))}.At(
			s.parts[first].Policy.Object)
		return &p
	}
	return nil
}
