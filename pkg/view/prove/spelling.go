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
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// mostSpelledPaths is of how many paths other spellings are tried.
const mostSpelledPaths = 2000

// Spelling is another way to write a request that meets a policy, by which the same backend gets it
// without one: if that takes the two for the same, the policy can be got around.
type Spelling struct {
	Command string     `json:"command"` // that makes the request, as it is spelled
	Spells  string     `json:"spells"`  // the request that meets the policy
	By      string     `json:"by"`      // how the two differ, in words
	Of      *model.Ref `json:"of"`      // the rule that takes the request
	Route   *model.Ref `json:"route"`   // that takes the spelling
	Rule    int        `json:"rule"`    // counted from 0
	Backend model.Ref  `json:"backend"` // that gets both
	Depends string     `json:"depends"` // on what it depends whether that is so; "" if it is

	bypassed string // what it gets around
}

// spellingVariant is a way to spell requests.
type spellingVariant struct {
	by        string
	apply     func(*request.Request) bool // false: these cannot be spelled so
	belowPath bool                        // if the path has one element, it needs an element below it

	normalized bool // there are implementations that undo it before they look for a rule
}

func respellPath(path func(string) string) func(*request.Request) bool {
	return func(r *request.Request) bool {
		before := r.Path
		r.Path = path(r.Path)
		return r.Path != before
	}
}

// spellingVariants are the ways that are tried. What a backend makes of them, nobody knows: some
// take all of these for the same.
var spellingVariants = []spellingVariant{
	{by: "an element that two dots take back", normalized: true,
		apply: respellPath(func(p string) string { return "/x/.." + p })},
	{by: "two slashes", normalized: true, apply: respellPath(func(p string) string { return "/" + p })},
	{by: "an escaped character", normalized: true, apply: respellPath(func(p string) string {
		if len(p) < 2 || p[1] == '%' || p[1] == '/' {
			return p
		}
		return fmt.Sprintf("/%%%02x%s", p[1], p[2:])
	})},
	{by: "an escaped slash", normalized: true, belowPath: true, apply: respellPath(func(p string) string {
		at := strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')
		if at <= 0 {
			return p
		}
		return p[:at] + "%2F" + p[at+1:]
	})},
	{by: "a parameter of the path", apply: respellPath(func(p string) string {
		if strings.HasSuffix(p, "/") {
			return p
		}
		return p + ";v=1"
	})},
	{by: "upper case", apply: respellPath(strings.ToUpper)},
	{by: "a dot at the end of the host", apply: func(r *request.Request) bool {
		r.Host += "."
		return true
	}},
}

// FindSpellings looks for other spellings of the requests asked about for which the property does
// not hold, though it holds for the requests and the same backend gets both. It only tries
// spellings that are not asked about themselves, and only where hosts or paths are asked about.
// Each rule that takes some is a finding.
func (p *Proof) FindSpellings(r *resolve.Resolution, m *request.Matcher, q Query, judges view.Judges) error {
	p.Spellings = []Spelling{}
	if len(q.Scope.Paths) == 0 && len(q.Scope.Hosts) == 0 || len(q.Require)+len(q.Properties) == 0 && q.Holds == nil {
		return nil
	}
	s := newSpellingFinder(r, m, &q, judges)
	if s.protector != nil {
		q.Scope.ExtraTests = s.protector.FindPathTests
	}
	err := space.Walk(m, q.Scope, func(c *space.Class) bool {
		if requests.FindDoubt(c) != "" || c.Request.Protocol != request.HTTP || !s.isFulfilled(c) {
			return true
		}
		if !s.isNewPath(c) {
			return !s.isTruncated
		}
		s.err = s.trySpellings(c, spellingVariants)
		return s.err == nil
	})
	if err = cmp.Or(err, s.err); err != nil {
		return err
	}
	p.Spellings, p.MoreSpellings = append(p.Spellings, s.found...), s.isTruncated
	p.Problems = model.SortProblems(append(p.Problems, buildSpellingProblems(r, p.Spellings)...))
	// the answer itself lists the spellings
	p.LimitRelevance(func(problem model.Problem) bool { return problem.Code != model.SpellingBypass })
	return nil
}

// spellingFinder tries spellings of requests.
type spellingFinder struct {
	*prover
	seen           map[string]bool
	found          []Spelling
	asksProtection bool // it is asked whether something keeps requests out
	onlyCertain    bool // only what is certain counts
	isTruncated    bool // not all were tried
	err            error
}

func newSpellingFinder(r *resolve.Resolution, m *request.Matcher, q *Query, judges view.Judges) *spellingFinder {
	q.splitScope(m)
	return &spellingFinder{prover: newProver(r, m, q, judges), seen: map[string]bool{}}
}

// isNewPath reports whether spellings of a request are to be tried: none of its path were yet, and
// there are not too many paths.
func (s *spellingFinder) isNewPath(c *space.Class) bool {
	key := fmt.Sprint(c.Answer.Rule, c.Entry, c.Request.Host, c.Request.Path)
	if s.seen[key] {
		return false
	}
	if s.isTruncated = len(s.seen) == mostSpelledPaths; s.isTruncated {
		return false
	}
	s.seen[key] = true
	return true
}

// isFulfilled reports whether a backend gets the request and the property holds for it.
func (s *spellingFinder) isFulfilled(c *space.Class) bool {
	return s.judgeAnswer(c, c.Answer).truth == truthHolds
}

// trySpellings asks what becomes of spellings of a request.
func (s *spellingFinder) trySpellings(c *space.Class, variants []spellingVariant) error {
	for i := range variants {
		of, r, spelled, err := s.spellRequest(c, &variants[i])
		if err != nil {
			return err
		}
		if !spelled || s.isAskedAbout(&r) {
			continue
		}
		a, err := s.matcher.FindRule(r, request.Destination{Gateway: c.Entry.Gateway,
			Listener: s.q.Scope.Destination.Listener})
		if err != nil {
			return err
		}
		if e, around := s.findBypass(c, a); around {
			e.Spells, e.By = of, variants[i].by
			s.found = append(s.found, e)
		}
	}
	return nil
}

// isAskedAbout reports whether a spelling is asked about itself, so that it is judged with the
// others.
func (s *spellingFinder) isAskedAbout(r *request.Request) bool {
	hosts, paths := s.q.Scope.Hosts, s.q.Scope.Paths
	if len(hosts)+len(paths) == 0 {
		return false
	}
	on := func(host, path string) bool { return space.IsRequestOn(r, host, path) }
	return (len(hosts) == 0 || slices.ContainsFunc(hosts, func(h string) bool { return on(h, "/**") })) &&
		(len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return on(r.Host, p) }))
}

// spellRequest writes a request otherwise, and says which one: that of the class, or one to an
// element below its path.
func (s *spellingFinder) spellRequest(c *space.Class, v *spellingVariant) (of string, r request.Request,
	spelled bool, err error) {
	if r = c.Request; v.apply(&r) {
		return c.Request.Text, r, true, nil
	}
	if !v.belowPath || c.Answer.Prefix == "" {
		return "", r, false, nil
	}
	r = c.Request
	r.Path = strings.TrimSuffix(r.Path, "/") + "/x"
	a, err := s.matcher.FindRule(r, request.Destination{Gateway: c.Entry.Gateway,
		Listener: s.q.Scope.Destination.Listener})
	if err != nil || a.RuleUncertain || a.Rule != c.Answer.Rule {
		return "", r, false, err
	}
	return a.Request.Text, r, v.apply(&r), nil
}

// findBypass returns a spelling for which the property does not hold, if a backend gets it that
// also gets the requests of a class for which it holds.
func (s *spellingFinder) findBypass(c *space.Class, a *request.Answer) (Spelling, bool) {
	if a.Rule == topology.None || a.Rule == c.Answer.Rule || s.onlyCertain && (a.RuleUncertain ||
		a.Outcome != request.Matched) {
		return Spelling{}, false
	}
	shared := slices.IndexFunc(a.Backends, func(b topology.BackendRef) bool {
		return slices.ContainsFunc(c.Answer.Backends, func(o topology.BackendRef) bool { return o.Ref == b.Ref })
	})
	if shared < 0 || !s.isFailing(c, a) {
		return Spelling{}, false
	}
	n, own := s.collector.Resolution.Node(a.Rule), s.collector.Resolution.Node(c.Answer.Rule).Ref
	ref := n.Ref
	out := Spelling{Command: requests.FormatCommand(&a.Request), Of: &own, Route: &ref, Rule: n.Index,
		Backend: a.Backends[shared].Ref, bypassed: s.formatBypassed(c.Answer)}
	if a.Outcome == request.Conditional {
		out.Depends = requests.FindCondition(a)
	}
	return out, true
}

// formatBypassed says what the spelling gets around: what the original request fulfils.
func (s *spellingFinder) formatBypassed(a *request.Answer) string {
	switch {
	case len(s.q.Require) > 0:
		return formatKinds(s.q.Require)
	case !s.asksProtection:
		return "what has to hold"
	}
	var kinds []model.GroupKind
	for _, w := range s.buildBackendPaths(a) {
		for _, f := range w.InForce {
			if len(f.Policy.Rules) > 0 && !f.Kind.IsGeneric() && protection.HasProtectiveSetting(f) &&
				!slices.Contains(kinds, f.Kind.GroupKind) {
				kinds = append(kinds, f.Kind.GroupKind)
			}
		}
	}
	if len(kinds) == 0 {
		return "what denies it"
	}
	return formatKinds(kinds)
}

// isFailing reports whether the property does not hold for a request, whoever takes it. Where that
// depends on something unknown, the unknown is taken to change nothing.
func (s *spellingFinder) isFailing(c *space.Class, a *request.Answer) bool {
	assumed := *a
	if assumed.RuleUncertain = false; assumed.Assumed != "" {
		assumed.Outcome = assumed.Assumed
	}
	routes := s.q.Routes
	s.q.Routes = nil
	held := s.judgeAnswer(c, &assumed)
	s.q.Routes = routes
	return held.truth == truthFails
}

// buildSpellingBlocks shows the spellings for people.
func (p *Proof) buildSpellingBlocks(o view.TableOptions) (blocks []view.Block, footer []string) {
	if len(p.Spellings) > 0 {
		heading := "a spelling reaches the same backend without a policy, if that takes both for the same"
		if len(p.Require) == 0 {
			heading = "a spelling for which it does not hold reaches the same backend, if that takes both for the same"
		}
		b := view.Block{Heading: []string{heading},
			Columns: []view.Column{{Name: "SPELLING", Rank: 2, MinWidth: 24}, {Name: "OF", Rank: 3, MinWidth: 16},
				{Name: "TAKEN BY", Rank: 4, MinWidth: 12}, {Name: "DEPENDS", Rank: 5,
					Optional: true, Wrap: true}}}
		shown := p.Spellings[:o.CountShown(len(p.Spellings))]
		for i := range shown {
			e := &shown[i]
			b.Rows = append(b.Rows, []view.Cell{{Text: e.Command, Tone: view.Bad}, {Text: e.Spells},
				{Text: e.Route.String()}, {Text: e.Depends}})
		}
		blocks = append(blocks, b)
		footer = view.FormatMoreLine(len(p.Spellings)-len(shown), "spelling")
	}
	if p.MoreSpellings {
		footer = append(footer, "other spellings were tried of the first "+view.FormatNumber(mostSpelledPaths)+
			" paths only")
	}
	return blocks, footer
}
