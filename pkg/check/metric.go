package check

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Metrics counts the findings, and adds what other answers count.
func (r *Report) Metrics() []metric.Family {
	c := metric.NewCounter("findings", "Findings of the check that count, by the object that they are about.",
		metric.Namespace, "severity", metric.ID)
	for _, severity := range []model.Severity{model.Error, model.Warning, model.Info} {
		c.Add(0, "", string(severity), "") // so that a sum is never of nothing
	}
	for _, f := range r.Items {
		if f.Suppressed != nil {
			continue
		}
		namespace := ""
		if f.Ref != nil {
			namespace = f.Ref.Namespace
		}
		c.Add(1, namespace, string(f.Severity), f.ID)
	}
	return metric.Join(r.Beside, []metric.Family{c.Family(),
		metric.NewGauge("suppressed_findings", "Findings of the check that were asked not to count.", r.Summary.Suppressed),
		metric.NewGauge("checked_objects", "Objects that the check looked at.", r.Checked)}, r.CountCompleteness("check"))
}
