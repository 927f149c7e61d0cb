package status

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// ReportedCondition is a condition as the object reports it.
type ReportedCondition struct {
	Type               string `json:"type"`                         // as it is reported
	Status             string `json:"status"`                       // as it is reported
	Reason             string `json:"reason"`                       // as it is reported
	Message            string `json:"message"`                      // as it is reported
	ObservedGeneration int64  `json:"observedGeneration,omitempty"` // the generation of the object that it is about
}

// ReportedStatus is the conditions that one controller reports towards one ancestor; without an
// ancestor they are the object's own.
type ReportedStatus struct {
	// the ancestor or parent; null: conditions of the object itself
	AncestorRef    *AncestorRef        `json:"ancestorRef"`
	ControllerName string              `json:"controllerName,omitempty"` // who wrote the entry
	Conditions     []ReportedCondition `json:"conditions"`               // in the order of the object
}

// StatusReason is one side of a Difference.
type StatusReason struct {
	Status             string `json:"status"`                       // of the condition
	Reason             string `json:"reason,omitempty"`             // of the condition
	Message            string `json:"message,omitempty"`            // of the reported side
	ObservedGeneration int64  `json:"observedGeneration,omitempty"` // of the reported side
}

// Difference is one thing in which a reported status is not the predicted one.
type Difference struct {
	// Missing, Unexpected, Stale, Different, DanglingTarget, Overridden, Truncated; of remarks also
	// ReasonDifferent, Unpredictable
	Kind string `json:"kind"`
	// of the entry; absent if it is about conditions of the object itself
	AncestorRef    *AncestorRef `json:"ancestorRef,omitempty"`
	ControllerName string       `json:"controllerName,omitempty"` // of the entry
	Target         *model.Ref   `json:"target,omitempty"`         // of a DanglingTarget: what is not there
	// of the condition; absent if it is about the whole entry
	Type      string        `json:"type,omitempty"`
	Predicted *StatusReason `json:"predicted,omitempty"` // what should be reported; absent if nothing should
	Reported  *StatusReason `json:"reported,omitempty"`  // what is reported; absent if nothing is
	Message   string        `json:"message"`             // one sentence: what it is, and what to look at

	silent string // the controller that should report it, if it reports nothing of any object
}

// AuditSummary counts the objects of an audit by verdict.
type AuditSummary struct {
	Objects     int `json:"objects"`     // that were looked at
	Agree       int `json:"agree"`       // that report what is predicted
	Differ      int `json:"differ"`      // that report something else
	NotCompared int `json:"notCompared"` // of which nothing can be said
}

// compareWithReported compares the prediction of an item with what its object reports, and notes
// the result in the item.
func (s *ObjectStatus) compareWithReported(a *status.Auditor, p status.Prediction) {
	found := a.Audit(p)
	s.Verdict, s.Differences, s.Remarks = string(found.Result), convertDifferences(found.Differences),
		convertDifferences(found.Notes)
	for _, r := range found.Reports {
		out := ReportedStatus{ControllerName: r.Controller, AncestorRef: newAncestorRef(r.Ref, r.Port),
			Conditions: []ReportedCondition{}}
		for _, c := range r.Conditions {
			out.Conditions = append(out.Conditions, ReportedCondition{c.Type, c.Status, c.Reason, c.Message,
				c.ObservedGeneration})
		}
		s.Reported = append(s.Reported, out)
	}
}

func convertDifferences(list []status.Difference) []Difference {
	out := []Difference{}
	for _, d := range list {
		v := Difference{Kind: string(d.Kind), AncestorRef: newAncestorRef(d.Ref, d.Port), ControllerName: d.Controller,
			Target: d.Target, Type: d.Type, Message: d.Message, silent: d.Silent}
		if d.Predicted != nil {
			v.Predicted = &StatusReason{Status: d.Predicted.Status, Reason: d.Predicted.Reason}
		}
		if d.Reported != nil {
			v.Reported = &StatusReason{d.Reported.Status, d.Reported.Reason, d.Reported.Message,
				d.Reported.ObservedGeneration}
		}
		out = append(out, v)
	}
	return out
}

func newAncestorRef(ref *model.Ref, port int32) *AncestorRef {
	if ref == nil {
		return nil
	}
	return &AncestorRef{Ref: *ref, Port: port}
}

// countVerdicts fills the summary of an audit: the objects, counted by verdict.
func (l *StatusList) countVerdicts() {
	sum := &AuditSummary{Objects: len(l.Items)}
	for i := range l.Items {
		switch status.AuditResult(l.Items[i].Verdict) {
		case status.Agrees:
			sum.Agree++
		case status.Differs:
			sum.Differ++
		default:
			sum.NotCompared++
		}
	}
	l.Summary = sum
}
