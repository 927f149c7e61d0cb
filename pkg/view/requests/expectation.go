package requests

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// The outcomes that can be expected of a request besides a status.
const (
	ExpectAllowed = "allowed"
	ExpectDenied  = "denied"
	ExpectNoMatch = "no-match"
)

// Expect is what is expected of a request: one of a status, an outcome, and a policy in force.
type Expect struct {
	Text string // as it was written
	// of HTTP; 200: a rule takes the request, its backends are usable, and no policy is known to
	// deny it; else what the Gateway answers
	Status  int
	Outcome string     // one of ExpectAllowed, ExpectDenied, ExpectNoMatch
	Policy  *model.Ref // in force on the path of the request
	Missing string     // why there is no such policy; "" if there is

	Property *Property // that holds for the request
}

// Expectation is what became of something that was expected.
type Expectation struct {
	Expect   string `json:"expect"`   // as it was written
	Result   string `json:"result"`   // met, notMet, or depends: the input does not determine it
	Expected string `json:"expected"` // as Expect
	Met      bool   `json:"met"`      // false also where the input does not determine it
	Found    string `json:"found"`    // what was found

	Because []protect.Reason `json:"because,omitempty"` // of a property of requests: why

	note string // what is not judged
}

// The results of an expectation.
const (
	ExpectationMet     = "met"
	ExpectationNotMet  = "notMet"
	ExpectationDepends = "depends"
)

// formatLine says what was expected and what became of it.
func (e *Expectation) formatLine() string {
	switch e.Result {
	case ExpectationMet:
		return "expected " + e.Expected + ": met" + e.note
	case ExpectationDepends:
		return "expected " + e.Expected + ", which depends: " + e.Found
	}
	return "expected " + e.Expected + ", found: " + e.Found
}

// Unmet returns a line for each expectation that is not met.
func (a *RequestResult) Unmet() []string {
	var out []string
	for i := range a.Expectations {
		if e := &a.Expectations[i]; !e.Met {
			out = append(out, e.formatLine())
		}
	}
	return out
}

// Unmet returns a line for each expectation that is not met, over all requests.
func (l *RequestAnswerList) Unmet() []string {
	var out []string
	for i := range l.Items {
		a := &l.Items[i]
		for _, line := range a.Unmet() {
			at := ""
			if a.Gateway != "" {
				at = " at Gateway " + a.Gateway
			}
			out = append(out, a.Request.Text+at+": "+line)
		}
	}
	return out
}

// addExpectations compares the answer with what is expected, and notes the results.
func (a *RequestResult) addExpectations(all []Expect, doubts []doubt) {
	for _, e := range all {
		if e.Property != nil || a.gates != nil && e.asksGates() {
			a.Expectations = append(a.Expectations, a.checkAgainstGates(e, doubts))
			continue
		}
		out := Expectation{Expect: e.Text, Expected: e.Text, Met: a.meetsExpectation(e), Found: a.describeFinding(e)}
		out.Result = ExpectationNotMet
		if out.Met {
			out.Result = ExpectationMet
			out.note = a.notJudgedText(e)
			out.Found += out.note
		}
		if open := a.findDoubts(e, doubts); len(open) > 0 {
			out.Met, out.Result = false, ExpectationDepends
			out.Found += "; that is not certain: " + strings.Join(open[:min(len(open), 2)], "; ")
			if more := len(open) - 2; more > 0 {
				out.Found += "; and " + view.FormatCount(more, "other thing")
			}
		}
		a.Expectations = append(a.Expectations, out)
	}
}

// meetsExpectation reports whether the answer is as expected, whether or not it is certain.
func (a *RequestResult) meetsExpectation(e Expect) bool {
	outcome, denied := a.Outcome, a.isDenied()
	if a.Assumed != "" {
		outcome = a.Assumed
	}
	switch {
	case e.Missing != "":
		return false
	case e.Policy != nil:
		return slices.Contains(a.listPolicies(), *e.Policy)
	case e.Outcome == ExpectDenied:
		return denied || a.isDeniedLater()
	case e.Outcome == ExpectNoMatch:
		return outcome == "NoMatch"
	case e.Outcome == ExpectAllowed, e.Status == 200:
		return !denied && !a.isDeniedLater() && !a.deniesAll() && a.failingText == "" && (outcome == "Matched" || outcome == "Passthrough" ||
			outcome == "Allowed")
	}
	return (!denied || a.DeniedBy != "") && a.Status == e.Status
}

// isDenied reports whether a policy denies the request, or the connection.
func (a *RequestResult) isDenied() bool {
	return a.DeniedBy != "" || slices.ContainsFunc(a.Decisions, func(d Decision) bool { return d.Outcome == "Denied" })
}

// findDoubts returns why it is not certain whether an expectation is met.
func (a *RequestResult) findDoubts(e Expect, doubts []doubt) []string {
	if e.Missing != "" {
		return nil
	}
	var out []string
	for _, why := range a.Why {
		if rest, found := strings.CutPrefix(why, "it depends: "); found && a.Outcome == "Conditional" {
			out = append(out, rest)
		}
	}
	if a.IngressClass != "" && a.Outcome == string(request.NotEvaluated) {
		out = append(out, a.Why...)
	}
	for i := range a.Decisions {
		d := &a.Decisions[i]
		// What one policy denies is denied, whatever the others say; and what nothing takes is
		// taken by nobody.
		if d.Outcome == "NotEvaluated" && e.Policy == nil && e.Outcome != ExpectNoMatch &&
			!(e.Outcome == ExpectDenied && a.isDenied()) {
			out = append(out, d.KindName()+": "+d.FormatSentence())
		}
	}
	for _, d := range doubts {
		concerns := d.kind == nil || e.Policy != nil && e.Policy.GroupKind() == *d.kind
		told := func(known string) bool { return strings.Contains(known, d.text) || strings.Contains(d.text, known) }
		if concerns && !slices.ContainsFunc(out, told) {
			out = append(out, d.text)
		}
	}
	return out
}

// doubt is a reason why an answer is not certain.
type doubt struct {
	text string
	kind *model.GroupKind // of policies, where only what these set is open; nil: anything is
}

// listPolicies returns the policies in force on the path, and those that decided.
func (a *RequestResult) listPolicies() []model.Ref {
	var out []model.Ref
	add := func(ref *model.Ref) {
		if ref != nil && !slices.Contains(out, *ref) {
			out = append(out, *ref)
		}
	}
	for i := range a.Effective {
		for _, rule := range a.Effective[i].Rules {
			for _, s := range rule.Sources {
				add(s.Policy)
			}
		}
	}
	for i := range a.Decisions {
		for j := range a.Decisions[i].By {
			add(&a.Decisions[i].By[j].Policy)
		}
	}
	for i := range a.Path {
		if a.Path[i].Verdict == string(point.Bypassed) {
			continue
		}
		for j := range a.Path[i].Policies {
			add(&a.Path[i].Policies[j])
		}
	}
	return out
}

// describeFinding says what was found in place of what is expected.
func (a *RequestResult) describeFinding(e Expect) string {
	if e.Missing != "" {
		return e.Missing
	}
	if e.Policy != nil {
		return a.describeInForce(e.Policy.GroupKind())
	}
	assumed := *a
	if a.Assumed != "" {
		assumed.Outcome = a.Assumed
	}
	text := assumed.formatOutcome()
	switch {
	case assumed.Outcome == "Matched" && a.Route != nil:
		text = a.Route.String() + " takes it"
	case a.Route != nil:
		text = a.Route.String() + ": " + text
	}
	if e.Status == 404 && assumed.Outcome == "NoMatch" && a.Status == 0 {
		text += ", and no Gateway answers with a status (no-match can be expected)"
	}
	if a.Status != 0 && !strings.Contains(text, strconv.Itoa(a.Status)) {
		text += " (" + strconv.Itoa(a.Status) + ")"
	}
	switch {
	case a.failingText != "":
		text += ", but " + a.failingText
	case assumed.Outcome == "NoMatch" && len(a.Why) > 0:
		text += ": " + a.Why[0]
	}
	for i := range a.Decisions {
		if d := &a.Decisions[i]; d.Outcome == "Denied" {
			text += "; " + d.KindName() + ": " + d.FormatSentence()
		}
	}
	if p := a.findPoint(point.Denied); p != nil && a.isDeniedLater() && !a.isDenied() {
		text += "; " + p.FormatLine()
	}
	return text
}

// describeInForce names the policies of a kind that are in force, else those of any kind.
func (a *RequestResult) describeInForce(gk model.GroupKind) string {
	var same, all []string
	for _, ref := range a.listPolicies() {
		all = append(all, ref.String())
		if ref.GroupKind() == gk {
			same = append(same, ref.String())
		}
	}
	switch {
	case len(same) > 0:
		return strings.Join(same, ", ")
	case len(all) > 0:
		return "no " + gk.Kind + "; in force are " + strings.Join(all[:min(len(all), 5)], ", ")
	case a.Outcome == "NoMatch" || a.Assumed == "NoMatch":
		return "no policy is in force: no rule takes the request"
	}
	return "no policy is in force"
}

// KindName returns the kind of the policies that decided, without its group. Where several kinds
// share one order, it is their own kind.
func (d *Decision) KindName() string {
	kind, _, _ := strings.Cut(d.PolicyKind, ".")
	for i := range d.By {
		if own := d.By[i].Policy.Kind; i == 0 || own == kind {
			kind = own
		} else {
			return kind + " and " + own
		}
	}
	return kind
}

// collectDoubts returns the problems that leave an answer incomplete, without those that decisions
// tell. guessed reports whether a kind has no descriptor, so that only what its policies set is
// open; nil: no kind has none.
func collectDoubts(problems []model.Problem, decisions []Decision, guessed func(model.GroupKind) bool) []doubt {
	var out []doubt
	for _, p := range problems {
		decided := func(d Decision) bool {
			return d.Outcome == "NotEvaluated" && (p.Message == d.FormatSentence() ||
				p.Message == d.KindName()+": "+d.FormatSentence())
		}
		if !p.IsIncomplete() || slices.ContainsFunc(decisions, decided) {
			continue
		}
		d := doubt{text: p.Message}
		if p.Severity == model.Error && p.Origin != nil {
			d.text = p.Origin.String() + ": " + p.Message
		}
		if p.Ref != nil && p.Code == model.NotEvaluated && guessed != nil && guessed(p.Ref.GroupKind()) {
			gk := p.Ref.GroupKind()
			d.kind = &gk
		}
		out = append(out, d)
	}
	return out
}

// expectationLines returns a line for each expectation, those first that are not met.
func (a *RequestResult) expectationLines() []string {
	out := a.Unmet()
	for i := range a.Expectations {
		if e := &a.Expectations[i]; e.Met {
			out = append(out, e.formatLine())
		}
	}
	return out
}
