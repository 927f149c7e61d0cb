package view

// Empty reports whether the answer holds neither settings nor targets without any.
func (l *EffectivePolicyList) Empty() bool {
	return len(l.Items)+len(l.Routes)+len(l.rulesWithoutPolicy)+len(l.pathsWithoutPolicy)+len(l.unattachedReasons)+len(l.gateways)+l.unlistedLosses == 0
}

// Empty reports whether there is nothing in the answer.
func (l *Explanation) Empty() bool { return len(l.Items) == 0 }

// Empty reports whether there is nothing in the answer.
func (l *OverriddenRuleList) Empty() bool { return len(l.Items) == 0 }

// Empty reports whether nothing is drawn.
func (t *Topology) Empty() bool { return len(t.Nodes) == 0 }

// Empty reports whether there is no status. An audit that found no difference is not empty.
func (l *StatusList) Empty() bool { return len(l.Items) == 0 && l.Summary == nil }
