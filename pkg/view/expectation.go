package view

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// The outcomes that can be expected of a request besides a status.
const (
	ExpectAllowed = "allowed"
	ExpectDenied  = "denied"
	ExpectNoMatch = "no-match"
)

// Expect is what is expected of a request: one of a status, an outcome, and a policy in force.
type Expect struct {
	Text    string     // as it was written
	Status  int        // of HTTP; 200: a rule takes the request, its backends are usable, and no policy is known to deny it; else what the Gateway answers
	Outcome string     // one of ExpectAllowed, ExpectDenied, ExpectNoMatch
	Policy  *model.Ref // in force on the way of the request
	Missing string     // why there is no such policy; "" if there is

	Property *RequestProperty // that holds for the request
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

// line is the expectation for people.
func (e *Expectation) line() string {
	switch e.Result {
	case ExpectationMet:
		return "expected " + e.Expected + ": met" + e.note
	case ExpectationDepends:
		return "expected " + e.Expected + ", which depends: " + e.Found
	}
	return "expected " + e.Expected + ", found: " + e.Found
}

// Unmet are the expectations that are not met, a line for each.
func (a *RequestResult) Unmet() []string {
	var out []string
	for i := range a.Expectations {
		if e := &a.Expectations[i]; !e.Met {
			out = append(out, e.line())
		}
	}
	return out
}

// Unmet are the expectations that are not met, over all requests, a line for each.
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

// expect holds the answer against what is expected.
func (a *RequestResult) expect(all []Expect, doubts []doubt) {
	for _, e := range all {
		if e.Property != nil || a.gates != nil && e.asksGates() {
			a.Expectations = append(a.Expectations, a.expectOfGates(e, doubts))
			continue
		}
		out := Expectation{Expect: e.Text, Expected: e.Text, Met: a.meets(e), Found: a.finding(e)}
		out.Result = ExpectationNotMet
		if out.Met {
			out.Result = ExpectationMet
			out.note = a.notJudged(e)
			out.Found += out.note
		}
		if open := a.open(e, doubts); len(open) > 0 {
			out.Met, out.Result = false, ExpectationDepends
			out.Found += "; that is not certain: " + strings.Join(open[:min(len(open), 2)], "; ")
			if more := len(open) - 2; more > 0 {
				out.Found += "; and " + Counted(more, "other thing")
			}
		}
		a.Expectations = append(a.Expectations, out)
	}
}

// meets compares, whether or not the answer is certain.
func (a *RequestResult) meets(e Expect) bool {
	outcome, denied := a.Outcome, a.denies()
	if a.Assumed != "" {
		outcome = a.Assumed
	}
	switch {
	case e.Missing != "":
		return false
	case e.Policy != nil:
		return slices.Contains(a.policies(), *e.Policy)
	case e.Outcome == ExpectDenied:
		return denied
	case e.Outcome == ExpectNoMatch:
		return outcome == "NoMatch"
	case e.Outcome == ExpectAllowed, e.Status == 200:
		return !denied && !a.deniesAll() && a.failing == "" && (outcome == "Matched" || outcome == "Passthrough" || outcome == "Allowed")
	}
	return !denied && a.Status == e.Status
}

// denies reports whether a policy denies the request, or the connection.
func (a *RequestResult) denies() bool {
	return slices.ContainsFunc(a.Decisions, func(d Decision) bool { return d.Outcome == "Denied" })
}

// open is why it is not certain what becomes of what is expected.
func (a *RequestResult) open(e Expect, doubts []doubt) []string {
	if e.Missing != "" {
		return nil
	}
	var out []string
	for _, why := range a.Why {
		if rest, found := strings.CutPrefix(why, "it depends: "); found && a.Outcome == "Conditional" {
			out = append(out, rest)
		}
	}
	for i := range a.Decisions {
		d := &a.Decisions[i]
		// What one policy denies is denied, whatever the others say; and what nothing takes is taken by nobody.
		if d.Outcome == "NotEvaluated" && e.Policy == nil && e.Outcome != ExpectNoMatch && !(e.Outcome == ExpectDenied && a.denies()) {
			out = append(out, d.kind()+": "+d.sentence())
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

// doubt is what leaves an answer open.
type doubt struct {
	text string
	kind *model.GroupKind // of policies, where only what these set is open; nil: anything is
}

// policies are those in force on the way, and those that decided.
func (a *RequestResult) policies() []model.Ref {
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
	return out
}

// finding is what was found in the place of what is expected.
func (a *RequestResult) finding(e Expect) string {
	if e.Missing != "" {
		return e.Missing
	}
	if e.Policy != nil {
		return a.inForce(e.Policy.GroupKind())
	}
	assumed := *a
	if a.Assumed != "" {
		assumed.Outcome = a.Assumed
	}
	text := assumed.verdict()
	switch {
	case assumed.Outcome == "Matched" && a.Route != nil:
		text = targetName(*a.Route) + " takes it"
	case a.Route != nil:
		text = targetName(*a.Route) + ": " + text
	}
	if e.Status == 404 && assumed.Outcome == "NoMatch" && a.Status == 0 {
		text += ", and no Gateway answers with a status (no-match can be expected)"
	}
	if a.Status != 0 && !strings.Contains(text, strconv.Itoa(a.Status)) {
		text += " (" + strconv.Itoa(a.Status) + ")"
	}
	switch {
	case a.failing != "":
		text += ", but " + a.failing
	case assumed.Outcome == "NoMatch" && len(a.Why) > 0:
		text += ": " + a.Why[0]
	}
	for i := range a.Decisions {
		if d := &a.Decisions[i]; d.Outcome == "Denied" {
			text += "; " + d.kind() + ": " + d.sentence()
		}
	}
	return text
}

// inForce names the policies of a kind that are in force, else those of any.
func (a *RequestResult) inForce(gk model.GroupKind) string {
	var same, all []string
	for _, ref := range a.policies() {
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

// kind is the kind of the policies that decided, without its group. Where several kinds share one order, it is their own.
func (d *Decision) kind() string {
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

// doubtsOf are the problems that leave an answer incomplete, without those that decisions tell. guessed tells which kinds are policies without a
// descriptor, of which only what they set is open; nil: of none.
func doubtsOf(problems []model.Problem, decisions []Decision, guessed func(model.GroupKind) bool) []doubt {
	var out []doubt
	for _, p := range problems {
		decided := func(d Decision) bool {
			return d.Outcome == "NotEvaluated" && (p.Message == d.sentence() || p.Message == d.kind()+": "+d.sentence())
		}
		if !p.Incomplete() || slices.ContainsFunc(decisions, decided) {
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

// expectationLines are the expectations for people, those that are not met first.
func (a *RequestResult) expectationLines() []string {
	out := a.Unmet()
	for i := range a.Expectations {
		if e := &a.Expectations[i]; e.Met {
			out = append(out, e.line())
		}
	}
	return out
}
