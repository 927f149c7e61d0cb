package view

// Empty reports whether there is nothing in the answer: neither settings nor targets without any.
func (l *EffectivePolicyList) Empty() bool {
	return len(l.Items)+len(l.Routes)+len(l.bare)+len(l.bareWays)+len(l.unattached)+len(l.gateways)+l.unlisted == 0
}

// Empty reports whether there is nothing in the answer.
func (l *Explanation) Empty() bool { return len(l.Items) == 0 }

// Empty reports whether there is nothing in the answer.
func (l *OverriddenRuleList) Empty() bool { return len(l.Items) == 0 }

// Empty reports whether nothing is drawn.
func (t *Topology) Empty() bool { return len(t.Nodes) == 0 }

// Empty reports whether there is no status; that an audit found no difference is an answer.
func (l *StatusList) Empty() bool { return len(l.Items) == 0 && l.Summary == nil }
