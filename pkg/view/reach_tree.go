package view

import "strings"

// Tree shows the same as Table, with a line for every section below its object.
func (r *PolicyReach) Tree(o TableOptions) []Branch {
	o.ByRule = false
	objects := r.groupObjects(o)
	root := Branch{Cells: []Cell{{Text: strings.Join(r.buildHeading(), " · ")}}}
	shown := objects[:o.countShown(len(objects))]
	for i := range shown {
		x := &shown[i]
		state := x.stateCell()
		b := Branch{Cells: []Cell{{Text: objectName(x.target)}, {Text: x.formatShare(o)}, state}}
		for s := range x.sections {
			b.Children = append(b.Children, x.sections[s].buildBranches(x, o)...)
		}
		root.Children = append(root.Children, b)
	}
	for _, line := range formatMoreLine(len(objects)-len(shown), "target") {
		root.Children = append(root.Children, Branch{Cells: []Cell{{Text: line, Tone: Dim}}})
	}
	return []Branch{root}
}

// buildBranches returns the lines of one section: one, or one per group of paths that differ.
func (s *reachSection) buildBranches(x *reachObject, o TableOptions) []Branch {
	var out []Branch
	for _, item := range s.items {
		mark := Cell{Text: markLost + " " + item.formatState(), Tone: Bad}
		switch item.State {
		case "Effective":
			mark = Cell{Text: markInForce, Tone: Good}
		case "Partial":
			mark = Cell{Text: markInForce + " " + item.formatState(), Tone: Partly}
		}
		name := s.name
		if via := viaText(item.Paths, x.target, o); via != "" && (len(s.items) > 1 || name == "") {
			name = strings.TrimSpace(name + " via " + via)
		}
		if name == "" {
			name = "-"
		}
		out = append(out, Branch{Cells: []Cell{{Text: name}, mark}})
	}
	return out
}
