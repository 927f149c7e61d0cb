package document

import "go.yaml.in/yaml/v3"

// expandedSize is what a node amounts to once every alias is replaced by what it stands for.
type expandedSize struct {
	nodes    int // keys and values
	repeated int // those that are there because of aliases
	depth    int // maps and lists inside each other, from the node down
}

// sizeChecker measures documents before they are converted. It looks at each node that is written
// once, so a document that explodes when its aliases are expanded is refused in the time it takes
// to read it.
type sizeChecker struct {
	limits      Limits
	anchorSizes map[*yaml.Node]expandedSize // of the nodes with an anchor
	openAnchors map[*yaml.Node]bool         // nodes with an anchor that are being measured
}

func newSizeChecker(limits Limits) *sizeChecker {
	return &sizeChecker{limits: limits, anchorSizes: map[*yaml.Node]expandedSize{}, openAnchors: map[*yaml.Node]bool{}}
}

// measureNode returns the size of n inside the given number of maps and lists, or a problem if it
// is beyond a limit.
func (s *sizeChecker) measureNode(n *yaml.Node, inside int) (expandedSize, *Problem) {
	switch n.Kind {
	case yaml.AliasNode:
		return s.measureAlias(n, inside)
	case yaml.ScalarNode:
		return s.rememberSize(n, expandedSize{nodes: 1})
	}
	if inside >= s.limits.Depth {
		return expandedSize{}, limitExceeded(n.Line, "not used: maps and lists are nested deeper than %d",
			s.limits.Depth)
	}
	if n.Anchor != "" {
		s.openAnchors[n] = true
		defer delete(s.openAnchors, n)
	}
	sum := expandedSize{nodes: 1, depth: 1}
	for _, kid := range n.Content {
		w, failed := s.measureNode(kid, inside+1)
		if failed != nil {
			return expandedSize{}, failed
		}
		sum.nodes += w.nodes
		sum.repeated += w.repeated
		sum.depth = max(sum.depth, w.depth+1)
		switch {
		case sum.nodes > s.limits.Nodes:
			return expandedSize{}, limitExceeded(kid.Line, "not used: the document holds more than %d keys and values",
				s.limits.Nodes)
		case sum.repeated > s.limits.Repeated:
			return expandedSize{}, limitExceeded(kid.Line, "not used: aliases repeat more than %d keys and values",
				s.limits.Repeated)
		}
	}
	return s.rememberSize(n, sum)
}

func (s *sizeChecker) measureAlias(n *yaml.Node, inside int) (expandedSize, *Problem) {
	if s.openAnchors[n.Alias] {
		return expandedSize{}, invalidYAML(n.Line, "not used: an anchor contains an alias to itself")
	}
	w, seen := s.anchorSizes[n.Alias]
	if !seen {
		var failed *Problem
		if w, failed = s.measureNode(n.Alias, inside); failed != nil {
			return expandedSize{}, failed
		}
	}
	if inside+w.depth > s.limits.Depth {
		return expandedSize{}, limitExceeded(n.Line, "not used: maps and lists are nested deeper than %d",
			s.limits.Depth)
	}
	return expandedSize{nodes: w.nodes, repeated: w.nodes, depth: w.depth}, nil
}

func (s *sizeChecker) rememberSize(n *yaml.Node, w expandedSize) (expandedSize, *Problem) {
	if n.Anchor != "" {
		s.anchorSizes[n] = w
	}
	return w, nil
}
