package overridden

import "github.com/dopolicy/kubectl-dopolicy/pkg/metric"

// CountSettings counts the settings that are overridden, each at every target, by the namespace and the
// kind of the policy that wanted it.
func (l *OverriddenRuleList) CountSettings() []metric.Family {
	c := metric.NewCounter("overridden_settings", "Settings of policies that are overridden, each counted at every target"+
		" where it is.", metric.Namespace, metric.Kind)
	c.Add(0, "", "") // so that a sum is never of nothing
	for i := range l.Items {
		item := &l.Items[i]
		namespace := ""
		if item.Source.Policy != nil {
			namespace = item.Source.Policy.Namespace
		}
		c.Add(1, namespace, item.PolicyKind)
	}
	return metric.Join([]metric.Family{c.Family()}, l.CountCompleteness("overridden"))
}
