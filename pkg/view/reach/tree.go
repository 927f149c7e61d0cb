package reach

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Tree shows the same as Table, with a line for every section below its object.
func (r *PolicyReach) Tree(o view.TableOptions) []view.Branch {
	o.ByRule = false
	objects := r.groupObjects(o)
	root := view.Branch{Cells: []view.Cell{{Text: strings.Join(r.buildHeading(), " · ")}}}
	shown := objects[:o.CountShown(len(objects))]
	for i := range shown {
		x := &shown[i]
		state := x.stateCell()
		b := view.Branch{Cells: []view.Cell{{Text: x.target.WithoutSection().String()}, {Text: x.formatShare(o)}, state}}
		for s := range x.sections {
			b.Children = append(b.Children, x.sections[s].buildBranches(x, o)...)
		}
		root.Children = append(root.Children, b)
	}
	for _, line := range view.FormatMoreLine(len(objects)-len(shown), "target") {
		root.Children = append(root.Children, view.Branch{Cells: []view.Cell{{Text: line, Tone: view.Dim}}})
	}
	return []view.Branch{root}
}

// buildBranches returns the lines of one section: one, or one per group of paths that differ.
func (s *reachSection) buildBranches(x *reachObject, o view.TableOptions) []view.Branch {
	var out []view.Branch
	for _, item := range s.items {
		mark := view.Cell{Text: view.MarkLost + " " + item.formatState(), Tone: view.Bad}
		switch item.State {
		case "Effective":
			mark = view.Cell{Text: view.MarkInForce, Tone: view.Good}
		case "Partial":
			mark = view.Cell{Text: view.MarkInForce + " " + item.formatState(), Tone: view.Partly}
		}
		name := s.name
		if via := view.ViaText(item.Paths, x.target, o); via != "" && (len(s.items) > 1 || name == "") {
			name = strings.TrimSpace(name + " via " + via)
		}
		if name == "" {
			name = "-"
		}
		out = append(out, view.Branch{Cells: []view.Cell{{Text: name}, mark}})
	}
	return out
}
