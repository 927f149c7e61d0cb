package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
)

// The changes of a property of the requests of a route rule.
const (
	ProtectionLost     = "Loses"
	protectionWeakened = "Weakens"
	ProtectionGained   = "Gains"

	protectionUnclear = "Unclear" // it was not known, and does not hold; in no answer
)

// ProtectionChange is a property that holds for the requests of a route rule on one side and not,
// or perhaps not, on the other one.
type ProtectionChange struct {
	Target   model.Ref     `json:"target"`   // the route rule, which is there on both sides
	Property gate.Property `json:"property"` // of its requests
	// Loses: it held and fails; Weakens: it held, and now it depends; Gains: it did not hold for
	// certain, and does
	Change string         `json:"change"`
	Before protect.Result `json:"before"` // what was true of it: the worst of all paths
	After  protect.Result `json:"after"`  // what is true of it
}

// ProtectionSummary counts route rules by property.
type ProtectionSummary struct {
	Loses   PropertyCounts `json:"loses"`   // the property held and fails
	Weakens PropertyCounts `json:"weakens"` // it held, and depends on what is not known
	Gains   PropertyCounts `json:"gains"`   // it failed or depended, and holds
}

// PropertyCounts are numbers of route rules by property; those that are none are left out.
type PropertyCounts struct {
	Authentication    int `json:"authentication,omitempty"`    // of route rules
	Authorization     int `json:"authorization,omitempty"`     // of route rules
	ClientCertificate int `json:"clientCertificate,omitempty"` // of route rules
	RateLimit         int `json:"rateLimit,omitempty"`         // of route rules
	IPList            int `json:"ipList,omitempty"`            // of route rules
	CORS              int `json:"cors,omitempty"`              // of route rules
	WAF               int `json:"waf,omitempty"`               // of route rules
	TLSIn             int `json:"tlsIn,omitempty"`             // of route rules
	HTTPSRedirect     int `json:"httpsRedirect,omitempty"`     // of route rules
	TLSBackend        int `json:"tlsBackend,omitempty"`        // of route rules
	RequestSize       int `json:"requestSize,omitempty"`       // of route rules
	Timeout           int `json:"timeout,omitempty"`           // of route rules
	Retry             int `json:"retry,omitempty"`             // of route rules
}

// CountOf returns the address of the number of one property.
func (c *PropertyCounts) CountOf(p gate.Property) *int {
	switch p {
	case gate.Authentication:
		return &c.Authentication
	case gate.Authorization:
		return &c.Authorization
	case gate.ClientCertificate:
		return &c.ClientCertificate
	case gate.RateLimit:
		return &c.RateLimit
	case gate.IPList:
		return &c.IPList
	case gate.CORS:
		return &c.CORS
	case gate.WAF:
		return &c.WAF
	case gate.TLSIn:
		return &c.TLSIn
	case gate.HTTPSRedirect:
		return &c.HTTPSRedirect
	case gate.TLSBackend:
		return &c.TLSBackend
	case gate.RequestSize:
		return &c.RequestSize
	case gate.Timeout:
		return &c.Timeout
	}
	return &c.Retry
}

// sideProtection is what protects the route rules of one side.
type sideProtection struct {
	byRule   map[model.Ref]*protection.Protection // the worst of all paths that are known, of rules that get traffic
	problems []model.Problem
}

// judgeRuleProtection finds out what protects the route rules of one side.
func judgeRuleProtection(in view.Input, q view.Query) sideProtection {
	q.Kinds = []model.GroupKind{}
	m, err := matrix.Build(in.Resolution, matrix.Query{Query: q, Matcher: in.Matcher, Judges: in.Judges})
	if err != nil {
		return sideProtection{problems: []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "what route rules are protected by is not compared: " + err.Error()}}}
	}
	out := sideProtection{byRule: make(map[model.Ref]*protection.Protection, len(m.Items))}
	for i := range m.Items {
		row := &m.Items[i]
		if isOnUncertainPath(row) {
			continue
		}
		known := out.byRule[row.Target]
		if known == nil {
			out.byRule[row.Target] = row.Protection
			continue
		}
		worst := &protection.Protection{}
		for _, p := range gate.Properties() {
			*worst.ResultOf(p) = protect.WorstOf(*known.ResultOf(p), *row.Protection.ResultOf(p))
		}
		out.byRule[row.Target] = worst
	}
	return out
}

// isOnUncertainPath reports whether a row is about paths that may not exist: a rule whose Gateway
// goes away loses nothing.
func isOnUncertainPath(r *matrix.MatrixRow) bool {
	a := &r.Protection.Authentication
	return a.Verdict == gate.Depends && len(a.Because) == 1 && a.Because[0].Code == gate.MissingObject &&
		a.Because[0].Object != nil && isRouteRule(*a.Because[0].Object)
}

// findProtectionChanges compares the rules that are on both sides. With kinds, a change counts if
// policies of one of them have a part in it.
func findProtectionChanges(before, after sideProtection, kinds []model.GroupKind) []ProtectionChange {
	out := []ProtectionChange{}
	for target, was := range before.byRule {
		is := after.byRule[target]
		if is == nil || is == was {
			continue
		}
		for _, p := range gate.Properties() {
			b, a := was.ResultOf(p), is.ResultOf(p)
			if change := ClassifyProtectionChange(p, b, a); change != "" && InvolvesKinds(kinds, b, a) {
				out = append(out, ProtectionChange{Target: target, Property: p, Change: change, Before: *b, After: *a})
			}
		}
	}
	sortProtectionChanges(out)
	return out
}

// findUnclearChanges returns the access properties of which it was not known whether they held, and
// which now do not hold: nothing is lost for certain.
func findUnclearChanges(before, after sideProtection, kinds []model.GroupKind) []ProtectionChange {
	var out []ProtectionChange
	for target, was := range before.byRule {
		is := after.byRule[target]
		if is == nil || is == was {
			continue
		}
		for _, p := range gate.Properties() {
			b, a := was.ResultOf(p), is.ResultOf(p)
			if p.IsAccess() && b.Verdict == gate.Depends && a.Verdict == gate.Fails && InvolvesKinds(kinds, b, a) {
				out = append(out, ProtectionChange{Target: target, Property: p, Change: protectionUnclear, Before: *b, After: *a})
			}
		}
	}
	sortProtectionChanges(out)
	return out
}

// sortProtectionChanges puts losses first, then sorts by property and target.
func sortProtectionChanges(changes []ProtectionChange) {
	slices.SortFunc(changes, func(x, y ProtectionChange) int {
		return cmp.Or(changeRank(x.Change)-changeRank(y.Change), propertyRank(x.Property)-propertyRank(y.Property),
			view.CompareTargets(x.Target, y.Target))
	})
}

func changeRank(change string) int {
	return slices.Index([]string{ProtectionLost, protectionWeakened, ProtectionGained}, change)
}

func propertyRank(p gate.Property) int { return slices.Index(gate.Properties(), p) }

// ClassifyProtectionChange says how a property changes; "" for nothing that counts. Of a rule that
// lets nobody through, only properties that keep requests out count.
func ClassifyProtectionChange(p gate.Property, was, is *protect.Result) string {
	if (was.HasReason(gate.DeniesAll) || is.HasReason(gate.DeniesAll)) && !p.IsAccess() {
		return ""
	}
	switch {
	case was.Verdict == gate.Holds && is.Verdict == gate.Fails:
		return ProtectionLost
	case was.Verdict == gate.Holds && is.Verdict == gate.Depends:
		return protectionWeakened
	case is.Verdict == gate.Holds && (was.Verdict == gate.Fails || was.Verdict == gate.Depends):
		return ProtectionGained
	}
	return ""
}

// InvolvesKinds reports whether results are due to a policy of some kinds; nil stands for any kind.
func InvolvesKinds(kinds []model.GroupKind, results ...*protect.Result) bool {
	if kinds == nil {
		return true
	}
	for _, r := range results {
		for _, u := range r.By {
			if slices.Contains(kinds, u.Object.GroupKind()) {
				return true
			}
		}
		for _, b := range r.Because {
			if b.Object != nil && slices.Contains(kinds, b.Object.GroupKind()) {
				return true
			}
		}
	}
	return false
}

// countProtection counts the rules.
func countProtection(changes []ProtectionChange) ProtectionSummary {
	var out ProtectionSummary
	for i := range changes {
		c := &changes[i]
		*out.countsFor(c.Change).CountOf(c.Property)++
	}
	return out
}

func (s *ProtectionSummary) countsFor(change string) *PropertyCounts {
	switch change {
	case ProtectionLost:
		return &s.Loses
	case protectionWeakened:
		return &s.Weakens
	}
	return &s.Gains
}

// FormatCounts says how many classes lose which properties.
func (c *PropertyCounts) FormatCounts() string {
	var parts []string
	for _, p := range gate.Properties() {
		n := *c.CountOf(p)
		switch {
		case n == 0:
		case len(parts) == 0:
			parts = append(parts, view.FormatCount(n, "loses|lose")+" "+string(p))
		default:
			parts = append(parts, view.FormatNumber(n)+" "+string(p))
		}
	}
	return strings.Join(parts, ", ")
}
