package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// reaction is what requests get on one side. Names of routes, rules and policies are not part of what is compared.
type reaction struct {
	print string // all that is compared
	plain string // the same without what policies decide about the request itself
	alike string // the same without what holds for the request
	names string // which rule takes them

	outcome, backends string
	filters           []any
	filtered          string // the filters and the other fields of the rule, as they are compared
	settings          []settingInForce
	decisions         string
	reaches           bool        // a backend gets them
	protected, denied []string    // the policy kinds that keep requests out, and those that deny these
	unread            []string    // filters of kinds that nobody describes, and that may keep requests out
	shut              []string    // of those that deny these the ones of which it is not known how they protect
	unjudged          []string    // the policy kinds that decide about these, of which neither the decision nor what they protect is known
	protection        *Protection // of requests that a backend gets
	handed            bool        // to routes that are not followed
	doubt             string      // why it is not known what they get; "": it is
	tie               bool        // what is not known is only which of several rules that say the same comes first
}

// settingInForce is a setting on the way of a request.
type settingInForce struct {
	kind, at, name string
	value          any
	text           string
	order          int // in a list whose order means something
}

func (s *settingInForce) key() string { return s.kind + "\x00" + s.at + "\x00" + s.name }

// reacting tells what requests get on one side.
type reacting struct {
	requestWriter
	matcher   *request.Matcher
	protector *protector
	judged    map[string]bool // problems that leave a decision open, and not what requests are protected by
	protects  []model.GroupKind
	known     map[string]*reaction
	said      map[string]bool
	problems  []model.Problem
}

func newReacting(in DiffInput, q *BehaviorQuery) *reacting {
	return &reacting{requestWriter: requestWriter{survey: newCollector(in.Resolution, q.Kinds), judges: in.Judges}, matcher: in.Matcher, protects: q.Protects,
		protector: newProtector(in.Resolution, in.Matcher, in.Judges), judged: map[string]bool{}, known: map[string]*reaction{}, said: map[string]bool{}}
}

func (s *reacting) allProblems() []model.Problem { return append(s.survey.problems(), s.problems...) }

// of is what the requests of a class get; nil is a class of requests for which this side has no listener.
func (s *reacting) of(c *space.Class) *reaction {
	if c == nil {
		out := &reaction{outcome: string(request.NoMatch)}
		out.plain = out.outcome
		out.alike, out.print = out.plain, out.plain
		return out
	}
	a := c.Answer
	common := s.common(a)
	out := *common
	out.doubt, out.tie = s.doubt(c)
	out.names = ""
	if out.reaches {
		out.protection = &Protection{}
	}
	if a.Rule != topology.None {
		out.names = s.survey.res.Node(a.Rule).Ref.String()
	}
	if a.Rule != topology.None && out.reaches {
		out.protection = s.protectionOf(a)
		s.decide(a, &out)
		out.plain += out.protection.verdicts()
		if out.doubt != "" {
			out.protection = s.perhapsProtected(c, out.protection)
		}
	}
	out.alike = common.plain + "\x00" + out.decisions
	out.print = out.plain + "\x00" + out.decisions
	return &out
}

// common is what all requests get that go the same way.
func (s *reacting) common(a *request.Answer) *reaction {
	key := fmt.Sprint(a.Gateway, a.Listener, a.Rule, a.Outcome, a.Assumed, a.Status, a.Prefix, len(a.Backends))
	if known := s.known[key]; known != nil {
		return known
	}
	out := &reaction{}
	outcome := cmp.Or(a.Assumed, a.Outcome)
	if a.Outcome != request.Conditional {
		outcome = a.Outcome
	}
	out.outcome = string(outcome)
	if a.Status != 0 && outcome != request.Redirect {
		out.outcome += " " + strconv.Itoa(a.Status)
	}
	out.reaches = outcome == request.Matched || outcome == request.Passthrough || outcome == request.BackendError && len(protect.AbsentBackends(s.survey.res, a)) > 0
	if a.Rule != topology.None {
		s.rule(a, out)
		for _, item := range s.effective(a) {
			s.inForce(&item, out)
		}
	} else {
		s.survey.look(stepsOf(a))
	}
	slices.SortStableFunc(out.settings, func(a, b settingInForce) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.at, b.at), cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
	})
	slices.Sort(out.protected)
	out.protected = slices.Compact(out.protected)
	parts := []string{out.outcome, out.backends, out.filtered}
	for i := range out.settings {
		f := &out.settings[i]
		parts = append(parts, f.key(), f.text)
	}
	out.plain = strings.Join(parts, "\x00")
	s.known[key] = out
	return out
}

// rule takes what the rule itself says: filters, timeouts and whatever else it has beside matches and backends, and these.
func (s *reacting) rule(a *request.Answer, out *reaction) {
	n := s.survey.res.Node(a.Rule)
	body := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
	var rest []string
	for name, field := range body.Fields {
		switch name {
		case "name", "matches", "backendRefs":
		case "filters":
			for _, f := range field.Items {
				rest = append(rest, s.filter(n.Object, f, a.Prefix, out))
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
				text += s.filter(n.Object, f, a.Prefix, out)
			}
			rest = append(rest, text)
		}
	}
	out.filtered = strings.Join(rest, "\n")
	if out.outcome != string(request.Redirect) {
		out.backends = backendShares(s.survey.res.Graph.Backends(a.Rule), out)
	}
}

// filter is a filter as it is compared: what it names is compared by what it says, if the input has it.
func (s *reacting) filter(route *model.Object, f model.Body, prefix string, out *reaction) string {
	out.filters = append(out.filters, f.Value())
	text := string(model.AppendJSON(nil, f))
	if f.Text("type") == "ExtensionRef" {
		ref := model.Ref{Group: f.Text("extensionRef", "group"), Kind: f.Text("extensionRef", "kind"), Namespace: route.Ref.Namespace, Name: f.Text("extensionRef", "name")}
		if o := s.survey.res.Snapshot.Get(ref); o != nil {
			text = ref.Kind + string(model.AppendJSON(nil, o.Body.Field("spec")))
		}
		if k := s.survey.res.Kind(ref.GroupKind()); k == nil || k.Generic() {
			out.unread = append(out.unread, text)
		}
	}
	if strings.Contains(text, "ReplacePrefixMatch") {
		text += " of " + strings.TrimSuffix(prefix, "/")
	}
	return text
}

// backendShares are the backends with the shares of the requests that they get.
func backendShares(all []topology.BackendRef, out *reaction) string {
	shares, total := map[string]int{}, 0
	for _, b := range all {
		name := b.Ref.WithoutSection().String() + ":" + strconv.Itoa(int(b.Port))
		if b.Port == 0 {
			name = b.Ref.String()
		}
		switch {
		case strings.HasSuffix(b.Ref.Kind, "Route"):
			out.handed = true
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

// rival is what a class would get if another rule took it. It is not known what routes do that others hand over to.
func (s *reacting) rival(a *request.Answer, rule topology.NodeID) (print string, known bool) {
	other, known := s.takenBy(a, rule)
	if !known {
		return "", false
	}
	out := s.common(other)
	print = out.plain
	if out.reaches {
		print += s.protectionOf(other).verdicts()
	}
	return print, rule == a.Rule || !out.handed
}

// takenBy is an answer as it would be if another rule took the request.
func (s *reacting) takenBy(a *request.Answer, rule topology.NodeID) (_ *request.Answer, known bool) {
	if rule == a.Rule {
		return a, true
	}
	g := s.survey.res.Graph
	parents := g.Parents(topology.All, rule)
	if len(parents) == 0 {
		return nil, false
	}
	other := *a
	other.Rule, other.Route, other.Backends, other.Prefix = rule, parents[0], nil, "of "+g.Node(rule).Ref.String()
	for _, b := range g.Backends(rule) {
		if b.Reason == "" && b.Weight > 0 {
			other.Backends = append(other.Backends, b)
		}
	}
	return &other, true
}

// doubt is why it is not known what the requests of a class get; tie: only which of several rules comes first that say the same.
func (s *reacting) doubt(c *space.Class) (why string, tie bool) {
	for _, problem := range c.Answer.Problems {
		if problem.Incomplete() && c.Answer.Unsettled && !s.said[problem.Message] {
			s.said[problem.Message] = true
			s.problems = append(s.problems, problem)
		}
	}
	switch {
	case c.Unknown != "":
		return c.Unknown, false
	case c.Answer.Unsettled:
		return depends(c.Answer), false
	}
	for _, problem := range c.Answer.Problems {
		if problem.Code == model.OrderUncertain {
			return problem.Message, true
		}
	}
	return "", false
}
