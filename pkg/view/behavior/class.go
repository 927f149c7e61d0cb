package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// classBehavior is what the requests of a class get on one side. Names of routes, rules and
// policies are not compared.
type classBehavior struct {
	key                  string // all that is compared
	keyWithoutDecisions  string // all of that but what policies decide about the request itself
	keyWithoutProtection string // all of that but the properties of the request
	ruleName             string // which rule takes them

	outcome, backends string
	filters           []any
	filterKey         string // the filters and the other fields of the rule, as they are compared
	settings          []settingInForce
	decisions         string
	reaches           bool     // a backend gets them
	protected, denied []string // the policy kinds that keep requests out, and those that deny these
	unread            []string // filters of kinds without a descriptor, which may keep requests out
	// of the kinds that deny these, those of which it is not known how they protect
	unexplainedDenials []string
	// the points behind the Gateway: those with policies that they pass, and why they pass by others
	passes   []string
	bypasses map[string]string
	// the policy kinds that decide about these, if neither the decision nor what they protect is
	// known
	unjudged   []string
	protection *protection.Protection // of requests that a backend gets
	delegated  bool                   // to routes that are not followed
	doubt      string                 // why it is not known what they get; "": it is
	// it is only not known which of several rules with the same matches comes first
	onlyOrderUnknown bool
}

// settingInForce is a setting in force on the path of a request.
type settingInForce struct {
	kind, at, name string
	value          any
	text           string
	order          int // in a list whose order means something
}

func (s *settingInForce) nameKey() string { return s.kind + "\x00" + s.at + "\x00" + s.name }

// behaviorEvaluator finds out what requests get on one side.
type behaviorEvaluator struct {
	collector        *collect.Collector
	writer           requests.Writer
	walker           *point.Walker
	matcher          *request.Matcher
	protector        *protection.Protector
	decisionProblems map[string]bool // problems that leave a decision open, and not what requests are protected by
	protectingKinds  []model.GroupKind
	cache            map[string]*classBehavior
	reported         map[string]bool
	problems         []model.Problem
}

func newBehaviorEvaluator(in view.Input, q *Query) *behaviorEvaluator {
	c := collect.NewForRequests(in.Resolution, q.Kinds)
	return &behaviorEvaluator{collector: c, writer: requests.Writer{Collector: c, Judges: in.Judges},
		walker:  requests.Walker(in.Resolution, in.Judges),
		matcher: in.Matcher, protectingKinds: q.Protects,
		protector: protection.NewProtector(in.Resolution, in.Matcher, in.Judges,
			nil), decisionProblems: map[string]bool{}, cache: map[string]*classBehavior{}, reported: map[string]bool{}}
}

func (s *behaviorEvaluator) allProblems() []model.Problem {
	return append(s.collector.CollectProblems(), s.problems...)
}

// evaluateClass returns what the requests of a class get; nil is a class of requests for which this
// side has no listener.
func (s *behaviorEvaluator) evaluateClass(c *space.Class) *classBehavior {
	if c == nil {
		out := &classBehavior{outcome: string(request.NoMatch)}
		out.keyWithoutDecisions = out.outcome
		out.keyWithoutProtection, out.key = out.keyWithoutDecisions, out.keyWithoutDecisions
		return out
	}
	a := c.Answer
	common := s.evaluatePath(a)
	out := *common
	out.doubt, out.onlyOrderUnknown = s.findDoubt(c)
	out.ruleName = ""
	if out.reaches {
		out.protection = &protection.Protection{}
	}
	if a.Rule != topology.None {
		out.ruleName = s.collector.Resolution.Node(a.Rule).Ref.String()
	}
	if a.Rule != topology.None && out.reaches {
		out.protection = s.protectionOfAnswer(a)
		s.applyDecisions(a, &out)
		s.applyPoints(a, &out)
		out.keyWithoutDecisions += out.protection.VerdictsKey()
		if out.doubt != "" {
			out.protection = s.uncertainProtection(c, out.protection)
		}
	}
	out.keyWithoutProtection = common.keyWithoutDecisions + "\x00" + out.decisions
	out.key = out.keyWithoutDecisions + "\x00" + out.decisions
	return &out
}

// evaluatePath returns what all requests get that take the same path.
func (s *behaviorEvaluator) evaluatePath(a *request.Answer) *classBehavior {
	key := fmt.Sprint(a.Gateway, a.Listener, a.Rule, a.Outcome, a.Assumed, a.Status, a.Prefix, len(a.Backends))
	if known := s.cache[key]; known != nil {
		return known
	}
	out := &classBehavior{}
	outcome := cmp.Or(a.Assumed, a.Outcome)
	if a.Outcome != request.Conditional {
		outcome = a.Outcome
	}
	out.outcome = string(outcome)
	if a.Status != 0 && outcome != request.Redirect {
		out.outcome += " " + strconv.Itoa(a.Status)
	}
	out.reaches = outcome == request.Matched || outcome == request.Passthrough || outcome == request.BackendError &&
		len(protect.AbsentBackends(s.collector.Resolution, a)) > 0
	if a.Rule != topology.None {
		s.readRule(a, out)
		for _, item := range s.writer.FindEffective(a) {
			s.addSettings(&item, out)
		}
	} else {
		s.collector.MarkVisited(requests.EntryNodes(a))
	}
	slices.SortStableFunc(out.settings, func(a, b settingInForce) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.at, b.at), cmp.Compare(a.order, b.order),
			strings.Compare(a.name, b.name))
	})
	slices.Sort(out.protected)
	out.protected = slices.Compact(out.protected)
	parts := []string{out.outcome, out.backends, out.filterKey}
	for i := range out.settings {
		f := &out.settings[i]
		parts = append(parts, f.nameKey(), f.text)
	}
	out.keyWithoutDecisions = strings.Join(parts, "\x00")
	s.cache[key] = out
	return out
}

// readRule adds what the rule itself says: its filters, its timeouts and all other fields but
// matches and backends, and then the backends.
func (s *behaviorEvaluator) readRule(a *request.Answer, out *classBehavior) {
	n := s.collector.Resolution.Node(a.Rule)
	body := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
	var rest []string
	for name, field := range body.Fields {
		switch name {
		case "name", "matches", "backendRefs":
		case "filters":
			for _, f := range field.Items {
				rest = append(rest, s.readFilter(n.Object, f, a.Prefix, out))
			}
		default:
			out.filters = append(out.filters, map[string]any{name: field.Value()})
			rest = append(rest, name+string(model.AppendJSON(nil, field)))
		}
	}
	for _, b := range body.Field("backendRefs").Items {
		if filters := b.Field("filters"); filters.Len() > 0 {
			text := "filters of " + b.Text("name")
			for _, f := range filters.Items {
				text += s.readFilter(n.Object, f, a.Prefix, out)
			}
			rest = append(rest, text)
		}
	}
	out.filterKey = strings.Join(rest, "\n")
	if out.outcome != string(request.Redirect) {
		out.backends = backendShares(s.collector.Resolution.Graph.BackendRefs(a.Rule), out)
	}
}

// readFilter adds a filter, and returns it as it is compared. An object that it refers to is
// compared by its spec, if the input has it.
func (s *behaviorEvaluator) readFilter(route *model.Object, f model.Body, prefix string, out *classBehavior) string {
	out.filters = append(out.filters, f.Value())
	text := string(model.AppendJSON(nil, f))
	if f.Text("type") == "ExtensionRef" {
		ref := model.Ref{Group: f.Text("extensionRef", "group"), Kind: f.Text("extensionRef", "kind"),
			Namespace: route.Ref.Namespace, Name: f.Text("extensionRef", "name")}
		if o := s.collector.Resolution.Snapshot.Get(ref); o != nil {
			text = ref.Kind + string(model.AppendJSON(nil, o.Body.Field("spec")))
		}
		if k := s.collector.Resolution.Kind(ref.GroupKind()); k == nil || k.IsGeneric() {
			out.unread = append(out.unread, text)
		}
	}
	if strings.Contains(text, "ReplacePrefixMatch") {
		text += " of " + strings.TrimSuffix(prefix, "/")
	}
	return text
}

// backendShares lists the backends with the share of the requests that each gets.
func backendShares(all []topology.BackendRef, out *classBehavior) string {
	shares, total := map[string]int{}, 0
	for _, b := range all {
		name := b.Ref.WithoutSection().String() + ":" + strconv.Itoa(int(b.Port))
		if b.Port == 0 {
			name = b.Ref.String()
		}
		switch {
		case strings.HasSuffix(b.Ref.Kind, "Route"):
			out.delegated = true
		case b.Reason != "":
			name = "fails"
		}
		if b.Weight > 0 {
			shares[name] += b.Weight
			total += b.Weight
		}
	}
	divisor := total
	for _, w := range shares {
		divisor = commonDivisor(divisor, w)
	}
	list := make([]string, 0, len(shares))
	for name, w := range shares {
		list = append(list, name+" "+strconv.Itoa(w/divisor))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func commonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// keyOfRival returns what a class would get if another rule took it, as it is compared. It is not
// known for rules that delegate to other routes.
func (s *behaviorEvaluator) keyOfRival(a *request.Answer, rule topology.NodeID) (print string, known bool) {
	other, known := s.answerIfTakenBy(a, rule)
	if !known {
		return "", false
	}
	out := s.evaluatePath(other)
	print = out.keyWithoutDecisions
	if out.reaches {
		print += s.protectionOfAnswer(other).VerdictsKey()
	}
	return print, rule == a.Rule || !out.delegated
}

// answerIfTakenBy returns the answer as it would be if another rule took the request.
func (s *behaviorEvaluator) answerIfTakenBy(a *request.Answer, rule topology.NodeID) (_ *request.Answer, known bool) {
	if rule == a.Rule {
		return a, true
	}
	g := s.collector.Resolution.Graph
	parents := g.Parents(topology.All, rule)
	if len(parents) == 0 {
		return nil, false
	}
	other := *a
	other.Rule, other.Route, other.Backends, other.Prefix = rule, parents[0], nil, "of "+g.Node(rule).Ref.String()
	for _, b := range g.BackendRefs(rule) {
		if b.Reason == "" && b.Weight > 0 {
			other.Backends = append(other.Backends, b)
		}
	}
	return &other, true
}

// findDoubt says why it is not known what the requests of a class get; onlyOrder: because it is not
// known which of several rules with the same matches comes first.
func (s *behaviorEvaluator) findDoubt(c *space.Class) (why string, tie bool) {
	for _, problem := range c.Answer.Problems {
		if problem.IsIncomplete() && c.Answer.RuleUncertain && !s.reported[problem.Message] {
			s.reported[problem.Message] = true
			s.problems = append(s.problems, problem)
		}
	}
	switch {
	case c.Unknown != "":
		return c.Unknown, false
	case c.Answer.RuleUncertain:
		return requests.FindCondition(c.Answer), false
	}
	for _, problem := range c.Answer.Problems {
		if problem.Code == model.OrderUncertain {
			return problem.Message, true
		}
	}
	return "", false
}
