package view

import "github.com/dopolicy/kubectl-dopolicy/pkg/metric"

// CountCompleteness says whether the answer is complete, and counts what makes it incomplete. The name is that
// of the question.
func (e *Envelope) CountCompleteness(answer string) []metric.Family {
	complete := metric.NewCounter("answer_complete", "Whether nothing is unknown that could change the answer (1) or"+
		" something is (0).", "answer")
	value := 0
	if e.Complete {
		value = 1
	}
	complete.Add(value, answer)
	reasons := metric.NewCounter("incomplete_reasons", "What makes answers incomplete, by the object that it is about.",
		"answer", metric.Namespace, metric.Kind, metric.ID)
	reasons.Add(0, answer, "", "", "") // so that a sum is never of nothing
	for _, p := range e.Problems {
		if !p.IsIncomplete() {
			continue
		}
		namespace, kind := "", ""
		if p.Ref != nil {
			namespace, kind = p.Ref.Namespace, p.Ref.GroupKind().String()
		}
		reasons.Add(1, answer, namespace, kind, string(p.Code))
	}
	return []metric.Family{complete.Family(), reasons.Family()}
}
