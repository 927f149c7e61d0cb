package load

import "go.yaml.in/yaml/v3"

// expandedSize is what a node amounts to once every alias is replaced by what it stands for.
type expandedSize struct {
	nodes    int // keys and values
	repeated int // those that are there because of aliases
	depth    int // maps and lists inside each other, from the node down
}

// sizer weighs documents before they are converted. It looks at each node that is written once, so a document that
// explodes when its aliases are expanded is refused in the time it takes to read it.
type sizer struct {
	limits Limits
	known  map[*yaml.Node]expandedSize // of the nodes with an anchor
	open   map[*yaml.Node]bool         // nodes with an anchor that are being weighed
}

func newSizer(limits Limits) *sizer {
	return &sizer{limits: limits, known: map[*yaml.Node]expandedSize{}, open: map[*yaml.Node]bool{}}
}

// measure is the weight of n inside the given number of maps and lists, or trouble if it is beyond a limit.
func (s *sizer) measure(n *yaml.Node, inside int) (expandedSize, *trouble) {
	switch n.Kind {
	case yaml.AliasNode:
		return s.alias(n, inside)
	case yaml.ScalarNode:
		return s.keep(n, expandedSize{nodes: 1})
	}
	if inside >= s.limits.Depth {
		return expandedSize{}, exceeded(n.Line, "not used: maps and lists are nested deeper than %d", s.limits.Depth)
	}
	if n.Anchor != "" {
		s.open[n] = true
		defer delete(s.open, n)
	}
	sum := expandedSize{nodes: 1, depth: 1}
	for _, kid := range n.Content {
		w, failed := s.measure(kid, inside+1)
		if failed != nil {
			return expandedSize{}, failed
		}
		sum.nodes += w.nodes
		sum.repeated += w.repeated
		sum.depth = max(sum.depth, w.depth+1)
		switch {
		case sum.nodes > s.limits.Nodes:
			return expandedSize{}, exceeded(kid.Line, "not used: the document holds more than %d keys and values", s.limits.Nodes)
		case sum.repeated > s.limits.Repeated:
			return expandedSize{}, exceeded(kid.Line, "not used: aliases repeat more than %d keys and values", s.limits.Repeated)
		}
	}
	return s.keep(n, sum)
}

func (s *sizer) alias(n *yaml.Node, inside int) (expandedSize, *trouble) {
	if s.open[n.Alias] {
		return expandedSize{}, invalid(n.Line, "not used: an anchor contains an alias to itself")
	}
	w, seen := s.known[n.Alias]
	if !seen {
		var failed *trouble
		if w, failed = s.measure(n.Alias, inside); failed != nil {
			return expandedSize{}, failed
		}
	}
	if inside+w.depth > s.limits.Depth {
		return expandedSize{}, exceeded(n.Line, "not used: maps and lists are nested deeper than %d", s.limits.Depth)
	}
	return expandedSize{nodes: w.nodes, repeated: w.nodes, depth: w.depth}, nil
}

func (s *sizer) keep(n *yaml.Node, w expandedSize) (expandedSize, *trouble) {
	if n.Anchor != "" {
		s.known[n] = w
	}
	return w, nil
}
