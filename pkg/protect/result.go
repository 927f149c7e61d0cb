package protect

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Use is a gate that counts.
type Use struct {
	Object model.Ref `json:"object"`           // that sets it
	Field  string    `json:"field,omitempty"`  // as `effective` names it, else its path in the spec
	Method string    `json:"method,omitempty"` // of authentication
}

// Result says whether a property holds for a class of requests.
type Result struct {
	Verdict  gate.Verdict `json:"verdict"`            // holds, fails, depends, notApplicable
	Methods  []string     `json:"methods,omitempty"`  // by which requests authenticate, sorted
	By       []Use        `json:"by,omitempty"`       // the gates that count
	Because  []Reason     `json:"because,omitempty"`  // why
	Counters []Counter    `json:"counters,omitempty"` // of a rate limit
	Replaced []Override   `json:"-"`                  // gates that lost on the way
}

// Override is a gate that lost to another policy.
type Override struct {
	Lost       Use
	Winner     model.Ref
	SameTarget bool // the two stand at the same place
}

// HasReason reports whether a result has a reason.
func (r *Result) HasReason(code gate.Code) bool {
	return slices.ContainsFunc(r.Because, func(b Reason) bool { return b.Code == code })
}

// JudgeProperty says whether a property holds: of authentication, if methods are given, with one of
// them in any case.
func (g *Gates) JudgeProperty(p gate.Property, methods ...string) Result {
	key := string(p) + "=" + strings.Join(methods, "|")
	out, known := g.results[key]
	if !known {
		out = g.computeResult(p, methods)
		g.results[key] = out
	}
	return out
}

func (g *Gates) computeResult(p gate.Property, methods []string) Result {
	switch {
	case p == gate.HTTPSRedirect && g.TLS:
		return Result{Verdict: gate.NotApplicable}
	case g.Redirects && p != gate.HTTPSRedirect:
		return Result{Verdict: gate.NotApplicable}
	case p == gate.TLSIn && g.Gateway != topology.None && g.Listener == topology.None:
		return Result{Verdict: gate.Depends,
			Because: []Reason{{Code: gate.MissingObject, Message: "the listeners of the Gateway are not in the input"}}}
	}
	all := [][]Gate{g.Before}
	if len(g.Backends) > 0 {
		all = nil
		for _, at := range g.Backends {
			all = append(all, slices.Concat(g.Before, at))
		}
	}
	var out Result
	for i, gates := range all {
		one := g.combineGates(p, methods, gates)
		if i == 0 {
			out = one
			continue
		}
		out = combineResults(out, one)
	}
	if len(g.unreadReasons) > 0 && (out.Verdict == gate.Holds || out.Verdict == gate.Fails) && p != gate.TLSIn &&
		p != gate.HTTPSRedirect {
		return Result{Verdict: gate.Depends, By: out.By, Methods: out.Methods, Because: g.unreadReasons}
	}
	if out.Verdict != gate.Holds {
		out.Replaced = g.findReplaced(p)
		if out.Verdict == gate.Fails && len(out.Replaced) > 0 && out.HasReason(gate.NoGate) {
			lost := out.Replaced[0].Lost
			out.Because = []Reason{{gate.Replaced, &lost.Object, lost.Field, formatSubject(lost.Object, lost.Field) +
				" is overridden by " + formatSubject(out.Replaced[0].Winner, "")}}
		}
	}
	return out
}

// combineResults returns what holds where requests may take either path.
func combineResults(a, b Result) Result {
	worse, other := a, b
	if rankVerdict(b.Verdict) > rankVerdict(a.Verdict) {
		worse, other = b, a
	}
	if worse.Verdict != other.Verdict || worse.isAlike(&other) {
		return worse
	}
	out := newResultBuilder(worse.Verdict)
	out.addResult(&worse)
	out.addResult(&other)
	out.Replaced = worse.Replaced
	return out.Result
}

// isAlike reports whether two results say the same because they are one.
func (r *Result) isAlike(o *Result) bool {
	return isSameSlice(r.By, o.By) && isSameSlice(r.Because, o.Because) && isSameSlice(r.Methods, o.Methods) &&
		isSameSlice(r.Counters, o.Counters)
}

func isSameSlice[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func rankVerdict(v gate.Verdict) int {
	return slices.Index([]gate.Verdict{gate.NotApplicable, gate.Holds, gate.Depends, gate.Fails}, v)
}

// combineGates returns what gates say that all run. Each stands alone, or is one of a group of
// alternatives.
func (g *Gates) combineGates(p gate.Property, methods []string, gates []Gate) Result {
	var order []string
	groups := map[string][]*Gate{}
	denied := newResultBuilder(gate.Holds)
	for i := range gates {
		one := &gates[i]
		if one.HasReason(gate.DeniesAll) {
			denied.addUse(newUse(one, p))
			for _, r := range one.Reasons {
				if r.Code == gate.DeniesAll {
					denied.addReason(r)
				}
			}
		}
		if !one.isAbout(p) {
			continue
		}
		name := one.Group
		if name == "" {
			name = one.Object.String() + " " + one.Field + " " + one.settingPath + " " + string(one.Property)
		}
		if groups[name] == nil {
			order = append(order, name)
		}
		groups[name] = append(groups[name], one)
	}
	if len(denied.By) > 0 {
		return denied.Result
	}
	out := newResultBuilder(gate.Fails)
	for _, name := range order {
		one := g.judgeGroup(p, methods, groups[name])
		if rankVerdict(one.Verdict) < rankVerdict(out.Verdict) {
			out = newResultBuilder(one.Verdict)
		}
		if one.Verdict == out.Verdict {
			out.addResult(&one)
		}
	}
	if out.Verdict == gate.Fails && len(out.Because) == 0 {
		out.addReason(Reason{Code: gate.NoGate, Message: noGateText(p)})
	}
	return out.Result
}

// isAbout reports whether a gate says anything about a property: a verified client certificate is a
// credential.
func (g *Gate) isAbout(p gate.Property) bool {
	return g.Property == p || p == gate.Authentication && g.Property == gate.ClientCertificate &&
		!g.HasReason(gate.NotRead)
}

// judgeGroup returns what alternatives say.
func (g *Gates) judgeGroup(p gate.Property, methods []string, gates []*Gate) Result {
	out := newResultBuilder(gate.Holds)
	var reasons [][]Reason
	for _, one := range gates {
		all := g.collectReasons(p, methods, one)
		reasons = append(reasons, all)
		if v := verdictOf(all); rankVerdict(v) > rankVerdict(out.Verdict) {
			out.Verdict = v
		}
	}
	for i, one := range gates {
		if v := verdictOf(reasons[i]); v == out.Verdict {
			u := newUse(one, p)
			out.addUse(u)
			for _, r := range reasons[i] {
				out.addReason(r)
			}
			if v == gate.Holds && u.Method != "" {
				out.addMethod(u.Method)
			}
		}
		for _, c := range one.Counters {
			out.addCounter(c)
		}
	}
	return out.Result
}

// collectReasons returns why a gate does not hold for a property: its own reasons, and that of
// another method than those asked for.
func (g *Gates) collectReasons(p gate.Property, methods []string, one *Gate) []Reason {
	out := one.Reasons
	if p == gate.Authentication && g.judge != nil && g.judge.assume.External {
		out = slices.DeleteFunc(slices.Clone(out), func(r Reason) bool { return r.Code == gate.ExternalDecision })
	}
	u := newUse(one, p)
	if len(methods) > 0 && u.Method != "" && verdictOf(out) != gate.Fails && !slices.Contains(methods, u.Method) {
		other := Reason{gate.OtherMethod, &u.Object, u.Field, formatSubject(u.Object, u.Field) +
			" authenticates by " + u.Method}
		return append(slices.Clone(out), other)
	}
	return out
}

func newUse(g *Gate, p gate.Property) Use {
	out := Use{Object: g.Object, Field: g.Field, Method: g.Method}
	if p == gate.Authentication && g.Property == gate.ClientCertificate {
		out.Method = "clientCertificate"
	}
	return out
}

// WorstOf returns what holds for two classes of requests together. A class of which nobody gets
// through says nothing beside another one.
func WorstOf(a, b Result) Result {
	switch {
	case a.Verdict == "" || a.Verdict == gate.NotApplicable:
		return b
	case b.Verdict == "" || b.Verdict == gate.NotApplicable:
		return a
	case a.HasReason(gate.DeniesAll) && !b.HasReason(gate.DeniesAll):
		return b
	case b.HasReason(gate.DeniesAll) && !a.HasReason(gate.DeniesAll):
		return a
	}
	return combineResults(a, b)
}

// DoubtFailure returns a result of which it is not known whether it is right: what fails only may
// fail.
func (r Result) DoubtFailure(why string) Result {
	if r.Verdict == gate.Fails {
		r.Verdict = gate.Depends
		r.Because = append(r.Because[:len(r.Because):len(r.Because)], Reason{Code: gate.Condition, Message: why})
	}
	return r
}

// DoubtSuccess returns a result of which it is not known whether it is right for all requests: what
// holds only may hold.
func (r Result) DoubtSuccess(why string) Result {
	if r.Verdict == gate.Holds {
		r.Verdict = gate.Depends
		r.Because = append(r.Because[:len(r.Because):len(r.Because)], Reason{Code: gate.Condition, Message: why})
	}
	return r
}

// AppendKey appends a text that tells results apart.
func (r *Result) AppendKey(key []byte) []byte {
	key = append(append(key, r.Verdict...), '[')
	for _, u := range r.By {
		key = append(append(append(append(append(key, u.Object.Kind...), ' '), u.Object.Namespace...), '/'),
			u.Object.Name...)
		key = append(append(append(append(append(key, '.'), u.Field...), '='), u.Method...), ',')
	}
	for _, b := range r.Because {
		key = append(append(append(append(key, b.Code...), ' '), b.Message...), ',')
	}
	for _, c := range r.Counters {
		key = append(append(key, c.formatKey()...), ',')
	}
	return append(key, ']')
}

// noGateText says that no setting establishes a property.
func noGateText(p gate.Property) string {
	switch p {
	case gate.Authentication:
		return "nothing demands a credential"
	case gate.Authorization:
		return "nothing decides who is allowed"
	case gate.ClientCertificate:
		return "nothing demands a client certificate"
	case gate.RateLimit:
		return "nothing limits the rate"
	case gate.IPList:
		return "nothing looks at the address"
	case gate.CORS:
		return "nothing looks at the origin"
	case gate.WAF:
		return "no firewall rules are applied"
	case gate.TLSIn:
		return "the listener speaks plain HTTP"
	case gate.HTTPSRedirect:
		return "nothing redirects it to https"
	case gate.TLSBackend:
		return "nothing asks for TLS to the backend"
	case gate.RequestSize:
		return "nothing limits its size"
	case gate.Timeout:
		return "nothing limits its time"
	}
	return "nothing retries it"
}
