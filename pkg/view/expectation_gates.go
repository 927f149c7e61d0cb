package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gates takes what may answer a request before a backend does.
func (w *requestWriter) gates(a *request.Answer, out *RequestResult) {
	out.MayAnswer = []protect.Answer{}
	if a.Rule == topology.None || a.Service.Name != "" {
		return
	}
	if w.protection == nil {
		w.protection = w.judges.protection(w.survey.res)
	}
	out.gates = w.protection.On(a)
	out.unsettled = a.Unsettled
	out.opaque = w.protection.HasOpaqueFilter(a.Rule)
	out.MayAnswer = out.gates.MayAnswer()
}

// asksGates reports whether what is expected is an answer of the Gateway to a request that a rule takes.
func (e *Expect) asksGates() bool {
	return e.Missing == "" && e.Policy == nil && (e.Status != 0 && e.Status != 200 || e.Outcome == ExpectDenied)
}

// expectOfGates holds a status, a refusal or a property against what gates do with the request as it is written.
func (a *RequestResult) expectOfGates(e Expect, doubts []doubt) Expectation {
	out := Expectation{Expect: e.Text, Expected: e.Text}
	switch {
	case e.Property != nil && a.gates == nil:
		out.Result, out.Found = ExpectationDepends, "no rule takes the request"
	case e.Property != nil:
		a.expectProperty(e, &out)
	default:
		out.Result, out.Found = a.statusOfGates(e)
	}
	if open := a.openToGates(e, doubts, out.Result); len(open) > 0 {
		out.Result = ExpectationDepends
		out.Found += "; that is not certain: " + strings.Join(open[:min(len(open), 2)], "; ")
	}
	out.Met = out.Result == ExpectationMet
	return out
}

func (a *RequestResult) expectProperty(e Expect, out *Expectation) {
	r := a.gates.Of(e.Property.Property, e.Property.Methods...)
	out.Because = r.Because
	out.Result = map[gate.Verdict]string{gate.Holds: ExpectationMet, gate.Fails: ExpectationNotMet}[r.Verdict]
	if out.Result == "" {
		out.Result = ExpectationDepends
	}
	out.Found = protectionText(&r)
	if text := reasonsText(r.Because); text != "" {
		out.Found += ": " + text
	}
}

// statusOfGates tells whether a request gets a status from the Gateway, and what it gets.
func (a *RequestResult) statusOfGates(e Expect) (result, found string) {
	o := a.gates.Outcome()
	own := strconv.Itoa(a.Status)
	want := strconv.Itoa(e.Status)
	denied := slices.ContainsFunc(a.Decisions, func(d Decision) bool { return d.Outcome == "Denied" && !d.gated })
	if e.Outcome == ExpectDenied {
		switch {
		case a.denies() || o.Certain:
			return ExpectationMet, a.foundAtGates(o)
		case len(o.Statuses) > 0:
			return ExpectationDepends, a.foundAtGates(o)
		}
		return ExpectationNotMet, a.foundAtGates(o)
	}
	all := slices.Clone(o.Statuses)
	if o.Through && a.Status != 0 {
		all = append(all, own)
	}
	may := slices.Contains(all, want) || slices.Contains(all, protect.AnyStatus)
	only := !slices.ContainsFunc(all, func(s string) bool { return s != want })
	settled := o.Certain || o.Through && a.Status != 0 && len(o.Statuses) == 0
	switch {
	case denied:
		if a.Status == e.Status && a.Status != 0 {
			return ExpectationDepends, a.foundAtGates(o)
		}
		return ExpectationNotMet, a.foundAtGates(o)
	case may && only && settled:
		return ExpectationMet, a.foundAtGates(o)
	case may:
		return ExpectationDepends, a.foundAtGates(o)
	}
	return ExpectationNotMet, a.foundAtGates(o)
}

// foundAtGates says what the request gets.
func (a *RequestResult) foundAtGates(o protect.Outcome) string {
	text := a.finding(Expect{Outcome: ExpectAllowed})
	switch {
	case a.denies() && !o.Certain:
		return text
	case o.Certain && len(o.By) == 1:
		return fmt.Sprintf("%v from %s", o.By[0].Status, answerSource(&o.By[0]))
	case o.Certain:
		return "refused: " + answersText(o.By)
	case len(o.By) > 0:
		return text + ", unless a policy answers " + answersText(o.By)
	}
	return text + "; no policy answers in its place"
}

// openToGates is why it is not certain what the Gateway answers.
func (a *RequestResult) openToGates(e Expect, doubts []doubt, result string) []string {
	if result == ExpectationDepends {
		return nil
	}
	var out []string
	if a.Outcome == "Conditional" && (a.unsettled || a.opaque) {
		out = a.open(e, nil)
	}
	for i := range a.Decisions {
		if d := &a.Decisions[i]; d.Outcome == "NotEvaluated" && !d.gated && e.Property == nil && !(e.Outcome == ExpectDenied && result == ExpectationMet) {
			out = append(out, d.kind()+": "+d.sentence())
		}
	}
	for _, d := range doubts {
		if d.kind == nil && !slices.Contains(out, d.text) {
			out = append(out, d.text)
		}
	}
	return out
}

// deniesAll reports whether a gate lets nobody through.
func (a *RequestResult) deniesAll() bool {
	if a.gates == nil {
		return false
	}
	r := a.gates.Of(gate.Authorization)
	return r.Has(gate.DeniesAll)
}

// notJudged says what is not judged where a request is expected to get through: credentials.
func (a *RequestResult) notJudged(e Expect) string {
	if a.gates == nil || e.Status != 200 && e.Outcome != ExpectAllowed || len(a.MayAnswer) == 0 {
		return ""
	}
	return "; not judged: " + answersText(a.MayAnswer)
}

// answersText says which statuses gates may answer with, and which gates these are: 401 (jwt.providers, SecurityPolicy platform/gw-jwt), 429 (…).
func answersText(all []protect.Answer) string {
	var order []string
	by := map[string][]string{}
	for i := range all {
		status := fmt.Sprint(all[i].Status)
		if by[status] == nil {
			order = append(order, status)
		}
		if source := answerSource(&all[i]); !slices.Contains(by[status], source) {
			by[status] = append(by[status], source)
		}
	}
	out := make([]string, len(order))
	for i, status := range order {
		word := status
		if status == protect.AnyStatus {
			word = "any status"
		}
		out[i] = word + " (" + strings.Join(by[status], "; ") + ")"
	}
	return strings.Join(out, ", ")
}

func answerSource(a *protect.Answer) string {
	who := a.Object.Kind + " " + a.Object.FullName()
	if a.Field == "" {
		return who
	}
	return a.Field + ", " + who
}
