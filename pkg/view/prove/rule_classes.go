package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Bounds of what is said about the requests that rules take. A report is not to cost much more than
// what is in force, whatever the input; beyond a bound the answer says so.
const (
	MostRulesClassed = 5000 // rules, in all
	mostClassesShown = 8    // of one rule
	classesPerRule   = 10   // that are looked at, on average
	leastClasses     = 1000 // that are looked at, even if there are few rules
	classSteps       = 1_000_000
)

// RuleClassList says which requests rules take, as classes that no rule tells apart.
type RuleClassList struct {
	Items     []RuleClasses `json:"items"`     // of the rules that take some, or may, by their names
	Undecided []Undecided   `json:"undecided"` // classes of which it is not known which rules may take them
	LeftOut   []string      `json:"leftOut"`   // what rules may take as well and is not looked at, a sentence each
}

// RuleClasses are the classes of requests that one rule takes. Where anything in the input may judge
// requests behind their Gateway, one request of them is followed through its points.
type RuleClasses struct {
	Rule    model.Ref   `json:"rule"`              // a rule of a route
	Classes []RuleClass `json:"classes"`           // the first of them
	More    int         `json:"more,omitempty"`    // how many there are besides
	Example string      `json:"example,omitempty"` // the request that is followed, in one line
	Verdict string      `json:"verdict,omitempty"` // what becomes of it: allowed, denied, depends
	// the points that it passes, or passes by, as those of a RequestAnswer
	Path []requests.PathPoint `json:"path,omitempty"`
}

// RuleClass is a class of requests that a rule takes.
type RuleClass struct {
	Class    string     `json:"class"`              // which requests, in words
	Listener *model.Ref `json:"listener,omitempty"` // that they come to
	Command  string     `json:"command"`            // that makes one of them: curl, or grpcurl
	Unknown  string     `json:"unknown,omitempty"`  // why it is not known that the rule takes them; "" if it is
}

// ClassesOfRules finds the requests that rules take. Rules of namespaces for which in is false are
// left out. No request is followed where policies have no values: what they say is not known.
func ClassesOfRules(r *resolve.Resolution, m *request.Matcher, judges view.Judges,
	in func(namespace string) bool) (*RuleClassList, error) {
	t := ruleClassCollector{res: r, inNamespace: in, byNode: map[topology.NodeID]*RuleClasses{},
		byRule: map[model.Ref]*RuleClasses{}, undecided: map[string]*Undecided{},
		writer:  requests.Writer{Collector: collect.NewForRequests(r, nil), Judges: judges},
		follows: !r.Snapshot.HasNoValues() && requests.Walker(r, judges).HasLayers(), followed: map[*RuleClasses]bool{}}
	out := &RuleClassList{Items: []RuleClasses{}, Undecided: []Undecided{}}
	rules := len(request.Competition{Matcher: m}.Rules(space.AnyDestination()))
	if rules > MostRulesClassed {
		out.LeftOut = []string{
			fmt.Sprintf(
				"all requests: there are %d rules, and requests are told apart for up to %d; prove tells them apart for any number", rules, MostRulesClassed)}
		return out, nil
	}
	out.LeftOut = ListUnexamined(r, m, space.AnyDestination())
	t.left = leastClasses + classesPerRule*rules
	if err := space.Walk(m, space.Scope{Destination: space.AnyDestination(), Steps: classSteps},
		t.addClass); err != nil {
		return nil, err
	}
	if t.left < 0 {
		out.LeftOut = append(out.LeftOut,
			fmt.Sprintf("requests beyond the first %d classes: rules may take more than is said here", t.seen))
	}
	for _, of := range t.byRule {
		out.Items = append(out.Items, *of)
	}
	slices.SortFunc(out.Items, func(a, b RuleClasses) int { return a.Rule.Compare(b.Rule) })
	for _, u := range t.undecided {
		out.Undecided = append(out.Undecided, *u)
	}
	slices.SortFunc(out.Undecided, func(a, b Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
	return out, nil
}

// ruleClassCollector collects the classes that rules take. A rule of a route that others delegate
// to has a node for each of them, and is one rule.
type ruleClassCollector struct {
	res         *resolve.Resolution
	inNamespace func(namespace string) bool
	byNode      map[topology.NodeID]*RuleClasses
	byRule      map[model.Ref]*RuleClasses
	undecided   map[string]*Undecided
	seen, left  int

	writer   requests.Writer
	follows  bool                  // requests are followed behind their Gateways
	followed map[*RuleClasses]bool // of these one was
}

// addClass notes a class for the rules that take it, or may. It is false once more classes came
// than are looked at.
func (t *ruleClassCollector) addClass(c *space.Class) bool {
	if t.left -= 1 + len(c.Possible); t.left < 0 {
		return false
	}
	t.seen++
	why := requests.FindDoubt(c)
	if why == "" {
		t.addToRule(c, c.Answer, "")
		return true
	}
	may := c.Possible
	if may == nil {
		u := t.undecided[why]
		if u == nil {
			u = &Undecided{Why: why, Example: c.Request.Text}
			t.undecided[why] = u
		}
		u.Classes++
		may = []*request.Answer{c.Answer}
	}
	noted := map[topology.NodeID]bool{}
	for _, a := range may {
		if !noted[a.Rule] {
			noted[a.Rule] = true
			t.addToRule(c, a, why)
		}
	}
	return true
}

func (t *ruleClassCollector) addToRule(c *space.Class, a *request.Answer, unknown string) {
	if a.Rule == topology.None {
		return
	}
	of := t.findClasses(a.Rule)
	if of != nil && unknown == "" {
		t.follow(of, a)
	}
	switch {
	case of == nil:
	case len(of.Classes) == mostClassesShown:
		of.More++
	default:
		one := RuleClass{Class: c.Text(), Command: requests.FormatCommand(&c.Request), Unknown: unknown}
		if a.Listener != topology.None {
			one.Listener = &t.res.Node(a.Listener).Ref
		}
		of.Classes = append(of.Classes, one)
	}
}

// follow follows a request through its points, if it is the first of its rule that a backend gets.
func (t *ruleClassCollector) follow(of *RuleClasses, a *request.Answer) {
	if !t.follows || t.followed[of] || !requests.IsSentToBackend(a) {
		return
	}
	t.followed[of] = true
	if of.Verdict, of.Path = t.writer.FindPath(a); of.Path != nil {
		of.Example = a.Request.Text
	}
}

// findClasses returns what is noted of a rule; nil if it is not asked about.
func (t *ruleClassCollector) findClasses(id topology.NodeID) *RuleClasses {
	of, known := t.byNode[id]
	if known {
		return of
	}
	ref := t.res.Node(id).Ref
	if t.inNamespace == nil || t.inNamespace(ref.Namespace) {
		if of = t.byRule[ref]; of == nil {
			of = &RuleClasses{Rule: ref}
			t.byRule[ref] = of
		}
	}
	t.byNode[id] = of
	return of
}
