package requests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	resolveunread "github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// DecidingRule is a rule of a policy, or a policy as a whole, that decided something.
type DecidingRule struct {
	Policy model.Ref     `json:"policy"`           // that the rule stands in
	Rule   string        `json:"rule"`             // as it is printed among the rules in force
	Title  string        `json:"title,omitempty"`  // the name that its author gave it
	Action string        `json:"action"`           // what the rule says, in the policy's words
	Origin *model.Origin `json:"origin,omitempty"` // where the rule is
}

// PassedStage is a stage that did not decide.
type PassedStage struct {
	Stage string         `json:"stage"` // its name
	Why   string         `json:"why"`   // why it did not decide
	By    []DecidingRule `json:"by"`    // the rules that handed on
}

// Decision is what the policies of one kind decide about a query at one place.
type Decision struct {
	PolicyKind string         `json:"policyKind"`          // Kind.group
	Direction  string         `json:"direction,omitempty"` // ingress or egress, where both ends judge
	At         *model.Ref     `json:"at,omitempty"`        // the workload that judges
	Outcome    string         `json:"outcome"`             // Allowed, Denied, NotEvaluated
	Stage      string         `json:"stage,omitempty"`     // that decided
	By         []DecidingRule `json:"by"`                  // that decided; of what is not evaluated those that might
	Why        []string       `json:"why"`                 // what decided, a sentence each
	Passed     []PassedStage  `json:"passed"`              // the stages before, in order

	hasGates bool        // gates say more about requests than the decision does
	refusing []model.Ref // the policies that may refuse; nil: all that are in force
}

// ConnectionAnswer answers `request` about a connection between two ends. It has the shape of a
// RequestAnswer.
type ConnectionAnswer struct {
	view.Envelope
	RequestResult

	hasUnread bool // policies that may judge it as well are not evaluated
}

// ConnectionQuery is a connection that is asked about.
type ConnectionQuery struct {
	From, To point.End
	Protocol string // TCP, UDP or SCTP
	Port     int    // at its destination
}

// Connection is what the policies of all kinds that judge connections, or of those given, say about
// one at the points that it passes, and whether that is as expected.
func Connection(r *resolve.Resolution, q ConnectionQuery, kinds []model.GroupKind, judges view.Judges,
	expect ...Expect) *ConnectionAnswer {
	path := Walker(r, judges).WalkConnection(q.From, q.To, q.Protocol, q.Port)
	path.KeepKinds(kinds)
	out := &ConnectionAnswer{RequestResult: RequestResult{Request: connectionText(q), Outcome: string(request.Allowed),
		Why: []string{}, Backends: []RequestBackend{}, Verdict: string(path.Verdict), Path: newPathPoints(path.Points),
		points:   path.Points,
		Shadowed: []model.Ref{}, Effective: []view.EffectivePolicy{}, MayAnswer: []protect.Answer{}}}
	judged, problems := out.addDecisions(r, path.Points)
	var unread []*resolveunread.Input
	for i := range path.Points {
		unread = append(unread, path.Points[i].Unread...)
	}
	out.addAddressDecision(q)
	slices.SortFunc(unread, func(a, b *resolveunread.Input) int { return a.Object.Ref.Compare(b.Object.Ref) })
	unread = slices.Compact(unread)
	summary := resolveunread.Summarize(unread)
	out.hasUnread = len(unread) > 0
	for _, p := range summary {
		out.Why = append(out.Why, p.Message)
	}
	problems = append(problems, summary...)
	switch {
	case q.From.Object != nil && q.From.Object == q.To.Object && q.From.Object.Ref.Kind == "Pod":
		out.Why = append(out.Why, "a pod always reaches itself")
	case len(out.Why) == 0:
		out.Why = append(out.Why, "no policy that judges connections is in the input")
	}
	a := collect.NewForRequests(r, kinds)
	var ends []topology.NodeID
	for _, e := range []point.End{q.From, q.To} {
		if e.Node != topology.None {
			ends = append(ends, e.Node)
		}
	}
	a.MarkVisited(ends)
	for _, p := range a.CollectProblems() {
		if p.Ref == nil || !judged[p.Ref.GroupKind()] || p.Code != model.NotEvaluated { // else the decisions say it
			problems = append(problems, p)
		}
	}
	out.Finish("RequestAnswer", problems)
	out.addExpectations(expect, collectDoubts(out.Problems, out.Decisions, nil))
	return out
}

// addDecisions adds what is decided at points. judged are the kinds of the policies that decide, and the
// problems say what is not known there.
func (a *ConnectionAnswer) addDecisions(r *resolve.Resolution, points []point.Point) (judged map[model.GroupKind]bool,
	problems []model.Problem) {
	judged = map[model.GroupKind]bool{}
	for i := range points {
		p := &points[i]
		problems = append(problems, p.Problems...)
		if p.Decision == nil {
			if p.Verdict == point.Bypassed {
				a.Why = append(a.Why, a.Path[i].FormatLine())
			}
			continue
		}
		judged[p.PolicyKind] = true
		for _, policy := range p.Policies {
			judged[policy.GroupKind()] = true
		}
		for _, gk := range r.Kind(p.PolicyKind).Members {
			judged[gk] = true
		}
		item := newDecision(p.PolicyKind, *p.Decision)
		a.Decisions = append(a.Decisions, item)
		a.Why = append(a.Why, item.FormatSentence())
		switch p.Decision.Outcome {
		case request.Denied:
			a.Outcome = string(request.Denied)
		case request.NotEvaluated:
			if a.Outcome != string(request.Denied) {
				a.Outcome = string(request.NotEvaluated)
			}
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: item.FormatSentence()})
		}
	}
	return judged, problems
}

// addAddressDecision says of an end that is no Pod that no policy holds there, where policies judge both
// ends.
func (a *ConnectionAnswer) addAddressDecision(q ConnectionQuery) {
	ends := []struct {
		direction string
		end       *point.End
	}{{"egress", &q.From}, {"ingress", &q.To}}
	for i, e := range ends {
		other := slices.IndexFunc(a.Decisions, func(d Decision) bool { return d.Direction == ends[1-i].direction })
		if e.end.Object != nil || other < 0 {
			continue
		}
		d := Decision{PolicyKind: a.Decisions[other].PolicyKind, Direction: e.direction, Outcome: string(request.Allowed),
			By: []DecidingRule{}, Passed: []PassedStage{}, Why: []string{e.end.String() + " is no pod of the input: no policy holds there"}}
		a.Decisions = slices.Insert(a.Decisions, other+i, d)
		a.Why = append(a.Why, d.FormatSentence())
	}
}

func connectionText(q ConnectionQuery) RequestText {
	out := RequestText{Protocol: q.Protocol, Port: q.Port}
	name := func(e point.End, ref **model.Ref, address *string) string {
		if e.Object == nil {
			*address = e.Address.String()
			return *address
		}
		at := e.Object.Ref
		*ref = &at
		return at.String()
	}
	out.Text = name(q.From, &out.FromPeer, &out.FromAddr) + " → " + name(q.To, &out.ToPeer, &out.Host) +
		fmt.Sprintf(" · %s %d", q.Protocol, q.Port)
	return out
}

func newDecision(kind model.GroupKind, d evaluate.Decision) Decision {
	out := Decision{PolicyKind: kind.String(), Direction: d.Name, Outcome: string(d.Outcome), Stage: d.Stage,
		By: newDecidingRules(d.By), Why: append([]string{}, d.Why...), Passed: []PassedStage{}, refusing: d.Refusing}
	if d.At.Name != "" {
		out.At = &d.At
	}
	for _, p := range d.Passed {
		out.Passed = append(out.Passed, PassedStage{p.Stage, p.Why, newDecidingRules(p.By)})
	}
	return out
}

func newDecidingRules(by []evaluate.Decider) []DecidingRule {
	out := make([]DecidingRule, len(by))
	for i, d := range by {
		out[i] = DecidingRule{Policy: d.Policy, Rule: d.Rule, Title: d.Title, Action: d.Action, Origin: &d.Origin}
	}
	return out
}

// FormatSentence says what was decided, and by what.
func (d *Decision) FormatSentence() string {
	s := map[string]string{"Allowed": "allowed", "Denied": "denied", "NotEvaluated": "unknown"}[d.Outcome]
	if d.Direction != "" {
		s = d.Direction + " " + s
	}
	const most = 4
	var by []string
	for _, r := range d.By[:min(len(d.By), most)] {
		by = append(by, r.formatRule()+" of "+r.Policy.String())
	}
	if more := len(d.By) - most; more > 0 {
		by = append(by, fmt.Sprintf("%d more", more))
	}
	if d.Outcome != "NotEvaluated" && by != nil {
		s += " by " + strings.Join(by, ", ")
	}
	if len(d.Why) > 0 {
		s += ": " + strings.Join(d.Why, "; ")
	}
	return s
}

// formatRule returns the rule with the name that its author gave it.
func (r *DecidingRule) formatRule() string {
	if r.Title != "" {
		return r.Rule + " (" + r.Title + ")"
	}
	return r.Rule
}

// Table has a line for every stage, in the order in which they are asked.
func (a *ConnectionAnswer) Table(view.TableOptions) view.Table {
	verdict := map[string]string{"Allowed": "allowed", "Denied": "denied",
		"NotEvaluated": "unknown: the input does not determine it"}[a.Outcome]
	if a.hasUnread && a.Outcome != string(request.NotEvaluated) {
		verdict = "unknown: " + verdict + " by the evaluated policies, but others may decide otherwise"
	}
	b := view.Block{Heading: append([]string{a.Request.Text, verdict}, a.expectationLines()...),
		Columns: []view.Column{{Name: "DIRECTION"}, {Name: "AT", Rank: 6, MinWidth: 12},
			{Name: "STAGE", Rank: 5, MinWidth: 8}, {Name: "RESULT"}, {Name: "RULE", Rank: 7,
				MinWidth: 8}, {Name: "POLICY", Rank: 4, MinWidth: 14},
			{Name: "FILE", Wide: true}, {Name: "WHY", Rank: 9, MinWidth: 24, Wrap: true}}}
	for i := range a.Decisions {
		b.Rows = append(b.Rows, a.Decisions[i].buildRows()...)
	}
	t := view.Table{Blocks: []view.Block{b}}
	if len(a.Decisions) == 0 {
		t.Blocks[0].Columns = nil
		for _, why := range a.Why {
			t.Blocks[0].Heading = append(t.Blocks[0].Heading, "why: "+why)
		}
	}
	t.Footer = append(t.Footer, a.IncompleteLines()...)
	return t
}

// buildRows returns the rows of the stages that did not decide, then those of what decided.
func (d *Decision) buildRows() [][]view.Cell {
	at := "-"
	if d.At != nil {
		at = d.At.WithoutSection().String()
	}
	var out [][]view.Cell
	add := func(stage string, result view.Cell, by []DecidingRule, why string) {
		rules := by
		if len(rules) == 0 {
			rules = []DecidingRule{{}}
		}
		for i := range rules {
			row := []view.Cell{{Text: d.Direction}, {Text: at}, {Text: stage}, result,
				{Text: view.OrDash(rules[i].formatRule())}, {Text: "-"}, {Text: "-"}, {Text: view.OrDash(why)}}
			if rules[i].Policy.Name != "" {
				row[5], row[6] = view.Cell{Text: rules[i].Policy.String()}, view.Cell{
					Text: rules[i].Origin.String()}
			}
			out = append(out, row)
		}
	}
	for _, p := range d.Passed {
		add(p.Stage, view.Cell{Text: "passed", Tone: view.Dim}, p.By, p.Why)
	}
	result := view.Cell{Text: "allowed", Tone: view.Good}
	switch d.Outcome {
	case "Denied":
		result = view.Cell{Text: "denied", Tone: view.Bad}
	case "NotEvaluated":
		result = view.Cell{Text: "unknown", Tone: view.Partly}
	}
	add(view.OrDash(d.Stage), result, d.By, strings.Join(d.Why, "; "))
	return out
}

// FilterNames are the policies that decided.
func (a *ConnectionAnswer) FilterNames() []string {
	var by []DecidingRule
	for _, d := range a.Decisions {
		by = append(by, d.By...)
	}
	return view.UniqueObjectNames(by, func(r *DecidingRule) *model.Ref { return &r.Policy })
}
