package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// addGates adds what may answer a request before a backend does.
func (w *Writer) addGates(a *request.Answer, out *RequestResult) {
	out.MayAnswer = []protect.Answer{}
	if a.Rule == topology.None || a.Service.Name != "" {
		return
	}
	out.gates = w.findGates(a)
	out.ruleUncertain = a.RuleUncertain
	out.hasUnknownFilter = w.protectionJudge.HasOpaqueFilter(a.Rule)
	out.MayAnswer = out.gates.PossibleAnswers()
}

// asksGates reports whether what is expected is an answer of the Gateway to a request that a rule
// takes.
func (e *Expect) asksGates() bool {
	return e.Missing == "" && e.Policy == nil && (e.Status != 0 && e.Status != 200 || e.Outcome == ExpectDenied)
}

// checkAgainstGates compares an expected status, refusal or property with what gates do to the
// request as it is written.
func (a *RequestResult) checkAgainstGates(e Expect, doubts []doubt) Expectation {
	out := Expectation{Expect: e.Text, Expected: e.Text}
	switch {
	case e.Property != nil && a.gates == nil:
		out.Result, out.Found = ExpectationDepends, "no rule takes the request"
	case e.Property != nil:
		a.checkProperty(e, &out)
	default:
		out.Result, out.Found = a.checkStatus(e)
	}
	if open := a.findGateDoubts(e, doubts, out.Result); len(open) > 0 {
		out.Result = ExpectationDepends
		out.Found += "; that is not certain: " + strings.Join(open[:min(len(open), 2)], "; ")
	}
	out.Met = out.Result == ExpectationMet
	return out
}

func (a *RequestResult) checkProperty(e Expect, out *Expectation) {
	r := a.gates.JudgeProperty(e.Property.Property, e.Property.Methods...)
	out.Because = r.Because
	out.Result = map[gate.Verdict]string{gate.Holds: ExpectationMet, gate.Fails: ExpectationNotMet}[r.Verdict]
	if out.Result == "" {
		out.Result = ExpectationDepends
	}
	out.Found = view.FormatProtection(&r)
	if text := view.JoinReasons(r.Because); text != "" {
		out.Found += ": " + text
	}
}

// checkStatus says whether a request gets the expected status from the Gateway, and what it gets.
func (a *RequestResult) checkStatus(e Expect) (result, found string) {
	o := a.gates.Outcome()
	own := strconv.Itoa(a.Status)
	want := strconv.Itoa(e.Status)
	denied := slices.ContainsFunc(a.Decisions, func(d Decision) bool { return d.Outcome == "Denied" && !d.hasGates }) ||
		a.isDeniedLater()
	if e.Outcome == ExpectDenied {
		switch {
		case a.isDenied() || o.Certain || a.isDeniedLater():
			return ExpectationMet, a.describeGateOutcome(o)
		case len(o.Statuses) > 0:
			return ExpectationDepends, a.describeGateOutcome(o)
		}
		return ExpectationNotMet, a.describeGateOutcome(o)
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
			return ExpectationDepends, a.describeGateOutcome(o)
		}
		return ExpectationNotMet, a.describeGateOutcome(o)
	case may && only && settled:
		return ExpectationMet, a.describeGateOutcome(o)
	case may:
		return ExpectationDepends, a.describeGateOutcome(o)
	}
	return ExpectationNotMet, a.describeGateOutcome(o)
}

// describeGateOutcome says what the request gets.
func (a *RequestResult) describeGateOutcome(o protect.Outcome) string {
	text := a.describeFinding(Expect{Outcome: ExpectAllowed})
	switch {
	case a.isDenied() && !o.Certain:
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

// findGateDoubts returns why it is not certain what the Gateway answers.
func (a *RequestResult) findGateDoubts(e Expect, doubts []doubt, result string) []string {
	if result == ExpectationDepends {
		return nil
	}
	var out []string
	if a.Outcome == "Conditional" && (a.ruleUncertain || a.hasUnknownFilter) {
		out = a.findDoubts(e, nil)
	}
	for i := range a.Decisions {
		if d := &a.Decisions[i]; d.Outcome == "NotEvaluated" && !d.hasGates && e.Property == nil &&
			!(e.Outcome == ExpectDenied && result == ExpectationMet) {
			out = append(out, d.KindName()+": "+d.FormatSentence())
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
	r := a.gates.JudgeProperty(gate.Authorization)
	return r.HasReason(gate.DeniesAll)
}

// notJudgedText says what is not judged where a request is expected to get through: credentials.
func (a *RequestResult) notJudgedText(e Expect) string {
	if a.gates == nil || e.Status != 200 && e.Outcome != ExpectAllowed || len(a.MayAnswer) == 0 {
		return ""
	}
	return "; not judged: " + answersText(a.MayAnswer)
}

// answersText says which statuses gates may answer with, and which gates these are: 401
// (jwt.providers, SecurityPolicy platform/gw-jwt), 429 (…).
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
	who := a.Object.String()
	if a.Field == "" {
		return who
	}
	return a.Field + ", " + who
}
