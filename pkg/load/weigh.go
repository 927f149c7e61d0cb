package load

import "go.yaml.in/yaml/v3"

// weight is what a node amounts to once every alias is replaced by what it stands for.
type weight struct {
	nodes    int // keys and values
	repeated int // those that are there because of aliases
	depth    int // maps and lists inside each other, from the node down
}

// scale weighs documents before they are converted. It looks at each node that is written once, so a document that
// explodes when its aliases are expanded is refused in the time it takes to read it.
type scale struct {
	limits Limits
	known  map[*yaml.Node]weight // of the nodes with an anchor
	open   map[*yaml.Node]bool   // nodes with an anchor that are being weighed
}

func newScale(limits Limits) *scale {
	return &scale{limits: limits, known: map[*yaml.Node]weight{}, open: map[*yaml.Node]bool{}}
}

// weigh is the weight of n inside the given number of maps and lists, or trouble if it is beyond a limit.
func (s *scale) weigh(n *yaml.Node, inside int) (weight, *trouble) {
	switch n.Kind {
	case yaml.AliasNode:
		return s.alias(n, inside)
	case yaml.ScalarNode:
		return s.keep(n, weight{nodes: 1})
	}
	if inside >= s.limits.Depth {
		return weight{}, exceeded(n.Line, "not used: maps and lists are nested deeper than %d", s.limits.Depth)
	}
	if n.Anchor != "" {
		s.open[n] = true
		defer delete(s.open, n)
	}
	sum := weight{nodes: 1, depth: 1}
	for _, kid := range n.Content {
		w, failed := s.weigh(kid, inside+1)
		if failed != nil {
			return weight{}, failed
		}
		sum.nodes += w.nodes
		sum.repeated += w.repeated
		sum.depth = max(sum.depth, w.depth+1)
		switch {
		case sum.nodes > s.limits.Nodes:
			return weight{}, exceeded(kid.Line, "not used: the document holds more than %d keys and values", s.limits.Nodes)
		case sum.repeated > s.limits.Repeated:
			return weight{}, exceeded(kid.Line, "not used: aliases repeat more than %d keys and values", s.limits.Repeated)
		}
	}
	return s.keep(n, sum)
}

func (s *scale) alias(n *yaml.Node, inside int) (weight, *trouble) {
	if s.open[n.Alias] {
		return weight{}, invalid(n.Line, "not used: an anchor contains an alias to itself")
	}
	w, seen := s.known[n.Alias]
	if !seen {
		var failed *trouble
		if w, failed = s.weigh(n.Alias, inside); failed != nil {
			return weight{}, failed
		}
	}
	if inside+w.depth > s.limits.Depth {
		return weight{}, exceeded(n.Line, "not used: maps and lists are nested deeper than %d", s.limits.Depth)
	}
	return weight{nodes: w.nodes, repeated: w.nodes, depth: w.depth}, nil
}

func (s *scale) keep(n *yaml.Node, w weight) (weight, *trouble) {
	if n.Anchor != "" {
		s.known[n] = w
	}
	return w, nil
}
