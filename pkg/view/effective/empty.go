package effective

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Empty reports whether the answer holds neither settings nor targets without any.
func (l *EffectivePolicyList) Empty() bool {
	return len(l.Items)+len(l.Routes)+len(l.rulesWithoutPolicy)+len(l.pathsWithoutPolicy)+len(l.unattachedReasons)+
		len(l.gateways)+l.unlistedLosses == 0
}

// RulesWithoutPolicy are the route rules that were asked for and on which no policy is in force.
func (l *EffectivePolicyList) RulesWithoutPolicy() []model.Ref { return l.rulesWithoutPolicy }

// FilterNames are the targets of the answer, as kubectl names objects (kind.group/name), each once.
func (l *EffectivePolicyList) FilterNames() []string {
	return view.UniqueObjectNames(l.Items, func(i *view.EffectivePolicy) *model.Ref { return &i.Target })
}
