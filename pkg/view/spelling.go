package view

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
)

// mostSpelled is of how many paths other spellings are tried.
const mostSpelled = 2000

// Spelling is another way to write a request that meets a policy, by which the same backend gets it without one: if that takes the two for the same,
// the policy can be got around.
type Spelling struct {
	Command string     `json:"command"` // that makes the request, as it is spelled
	Spells  string     `json:"spells"`  // the request that meets the policy
	By      string     `json:"by"`      // how the two differ, in words
	Of      *model.Ref `json:"of"`      // the rule that takes the request
	Route   *model.Ref `json:"route"`   // that takes the spelling
	Rule    int        `json:"rule"`    // counted from 0
	Backend model.Ref  `json:"backend"` // that gets both
	Depends string     `json:"depends"` // on what it depends whether that is so; "" if it is

	past string // what it gets around
}

// variant is a way to spell requests.
type variant struct {
	by    string
	spell func(*request.Request) bool // false: these cannot be spelled so
	below bool                        // it takes an element below the path where the path has one alone

	undone bool // there are implementations that undo it before they look for a rule
}

func respelled(path func(string) string) func(*request.Request) bool {
	return func(r *request.Request) bool {
		before := r.Path
		r.Path = path(r.Path)
		return r.Path != before
	}
}

// variants are the ways that are tried. What a backend makes of them, nobody knows: some take all of these for the same.
var variants = []variant{
	{by: "an element that two dots take back", undone: true, spell: respelled(func(p string) string { return "/x/.." + p })},
	{by: "two slashes", undone: true, spell: respelled(func(p string) string { return "/" + p })},
	{by: "an escaped character", undone: true, spell: respelled(func(p string) string {
		if len(p) < 2 || p[1] == '%' || p[1] == '/' {
			return p
		}
		return fmt.Sprintf("/%%%02x%s", p[1], p[2:])
	})},
	{by: "an escaped slash", undone: true, below: true, spell: respelled(func(p string) string {
		at := strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')
		if at <= 0 {
			return p
		}
		return p[:at] + "%2F" + p[at+1:]
	})},
	{by: "a parameter of the path", spell: respelled(func(p string) string {
		if strings.HasSuffix(p, "/") {
			return p
		}
		return p + ";v=1"
	})},
	{by: "upper case", spell: respelled(strings.ToUpper)},
	{by: "a dot at the end of the host", spell: func(r *request.Request) bool {
		r.Host += "."
		return true
	}},
}

// Respell looks for other spellings of the requests that are asked about for which the property does not hold, though it holds for the requests, and
// the same backend gets both. Only spellings that are not asked about themselves are looked for, and only where hosts or paths are. Each rule that
// takes some is a finding.
func (p *Proof) Respell(r *resolve.Resolution, m *request.Matcher, q ProofQuery, judges Judges) error {
	p.Spellings = []Spelling{}
	if len(q.Scope.Paths) == 0 && len(q.Scope.Hosts) == 0 || len(q.Require)+len(q.Properties) == 0 && q.Holds == nil {
		return nil
	}
	s := newSpeller(r, m, &q, judges)
	if s.protector != nil {
		q.Scope.Apart = s.protector.apart
	}
	err := space.Walk(m, q.Scope, func(c *space.Class) bool {
		if doubtAbout(c) != "" || c.Request.Protocol != request.HTTP || !s.protected(c) {
			return true
		}
		if !s.first(c) {
			return !s.more
		}
		s.err = s.try(c, variants)
		return s.err == nil
	})
	if err = cmp.Or(err, s.err); err != nil {
		return err
	}
	p.Spellings, p.MoreSpellings = append(p.Spellings, s.found...), s.more
	p.Problems = model.SortProblems(append(p.Problems, bypasses(r, p.Spellings)...))
	touches := p.touches
	p.touches = func(problem model.Problem) bool { return problem.Code != model.SpellingBypass && touches(problem) } // the answer tells them
	return nil
}

// speller tries spellings of requests.
type speller struct {
	*prover
	seen     map[string]bool
	found    []Spelling
	guarding bool // it is asked whether something keeps requests out
	sure     bool // only what is certain counts
	more     bool // not all were tried
	err      error
}

func newSpeller(r *resolve.Resolution, m *request.Matcher, q *ProofQuery, judges Judges) *speller {
	q.prepare(m)
	return &speller{prover: newProver(r, m, q, judges), seen: map[string]bool{}}
}

// first reports whether spellings of a request are to be tried: no other of its path was, and there are not too many.
func (s *speller) first(c *space.Class) bool {
	key := fmt.Sprint(c.Answer.Rule, c.Entry, c.Request.Host, c.Request.Path)
	if s.seen[key] {
		return false
	}
	if s.more = len(s.seen) == mostSpelled; s.more {
		return false
	}
	s.seen[key] = true
	return true
}

// protected reports whether a backend gets the request, and it holds for it.
func (s *speller) protected(c *space.Class) bool {
	return s.answer(c, c.Answer).truth == fulfils
}

// try asks what becomes of spellings of a request.
func (s *speller) try(c *space.Class, variants []variant) error {
	for i := range variants {
		of, r, spelled, err := s.spell(c, &variants[i])
		if err != nil {
			return err
		}
		if !spelled || s.asksFor(&r) {
			continue
		}
		a, err := s.matcher.Take(r, request.Where{Gateway: c.Entry.Gateway, Listener: s.q.Scope.Where.Listener})
		if err != nil {
			return err
		}
		if e, around := s.around(c, a); around {
			e.Spells, e.By = of, variants[i].by
			s.found = append(s.found, e)
		}
	}
	return nil
}

// asksFor reports whether a spelling is asked about itself: it is judged with the others.
func (s *speller) asksFor(r *request.Request) bool {
	hosts, paths := s.q.Scope.Hosts, s.q.Scope.Paths
	if len(hosts)+len(paths) == 0 {
		return false
	}
	on := func(host, path string) bool { return space.On(r, host, path) }
	return (len(hosts) == 0 || slices.ContainsFunc(hosts, func(h string) bool { return on(h, "/**") })) &&
		(len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return on(r.Host, p) }))
}

// spell writes a request otherwise, and says which one: that of the class, or one to an element below its path.
func (s *speller) spell(c *space.Class, v *variant) (of string, r request.Request, spelled bool, err error) {
	if r = c.Request; v.spell(&r) {
		return c.Request.Text, r, true, nil
	}
	if !v.below || c.Answer.Prefix == "" {
		return "", r, false, nil
	}
	r = c.Request
	r.Path = strings.TrimSuffix(r.Path, "/") + "/x"
	a, err := s.matcher.Take(r, request.Where{Gateway: c.Entry.Gateway, Listener: s.q.Scope.Where.Listener})
	if err != nil || a.Unsettled || a.Rule != c.Answer.Rule {
		return "", r, false, err
	}
	return a.Request.Text, r, v.spell(&r), nil
}

// around is a spelling for which it does not hold, where a backend gets it that also gets the requests of a class for which it holds.
func (s *speller) around(c *space.Class, a *request.Answer) (Spelling, bool) {
	if a.Rule == topology.None || a.Rule == c.Answer.Rule || s.sure && (a.Unsettled || a.Outcome != request.Matched) {
		return Spelling{}, false
	}
	shared := slices.IndexFunc(a.Backends, func(b topology.BackendRef) bool {
		return slices.ContainsFunc(c.Answer.Backends, func(o topology.BackendRef) bool { return o.Ref == b.Ref })
	})
	if shared < 0 || !s.fails(c, a) {
		return Spelling{}, false
	}
	n, own := s.survey.res.Node(a.Rule), s.survey.res.Node(c.Answer.Rule).Ref
	ref := n.Ref
	out := Spelling{Command: command(&a.Request), Of: &own, Route: &ref, Rule: n.Index, Backend: a.Backends[shared].Ref, past: s.held(c.Answer)}
	if a.Outcome == request.Conditional {
		out.Depends = depends(a)
	}
	return out, true
}

// held is what a request fulfils that gets no further without.
func (s *speller) held(a *request.Answer) string {
	switch {
	case len(s.q.Require) > 0:
		return kindsText(s.q.Require)
	case !s.guarding:
		return "what has to hold"
	}
	var kinds []model.GroupKind
	for _, w := range s.ways(a) {
		for _, f := range w.InForce {
			if len(f.Policy.Rules) > 0 && !f.Kind.Generic() && keepsOut(f) && !slices.Contains(kinds, f.Kind.GroupKind) {
				kinds = append(kinds, f.Kind.GroupKind)
			}
		}
	}
	if len(kinds) == 0 {
		return "what denies it"
	}
	return kindsText(kinds)
}

// fails reports whether it does not hold for a request, whoever takes it; where that depends on what is not known, if it changes nothing.
func (s *speller) fails(c *space.Class, a *request.Answer) bool {
	assumed := *a
	if assumed.Unsettled = false; assumed.Assumed != "" {
		assumed.Outcome = assumed.Assumed
	}
	routes := s.q.Routes
	s.q.Routes = nil
	held := s.answer(c, &assumed)
	s.q.Routes = routes
	return held.truth == fails
}

// spellingBlocks are the spellings for people.
func (p *Proof) spellingBlocks(o TableOptions) (blocks []Block, footer []string) {
	if len(p.Spellings) > 0 {
		heading := "a spelling reaches the same backend without a policy, if that takes both for the same"
		if len(p.Require) == 0 {
			heading = "a spelling for which it does not hold reaches the same backend, if that takes both for the same"
		}
		b := Block{Heading: []string{heading},
			Columns: []Column{{Name: "SPELLING", Rank: 2, Least: 24}, {Name: "OF", Rank: 3, Least: 16}, {Name: "TAKEN BY", Rank: 4, Least: 12, KeepEnd: true}, {Name: "DEPENDS", Rank: 5, Optional: true, Wrap: true}}}
		shown := p.Spellings[:o.limit(len(p.Spellings))]
		for i := range shown {
			e := &shown[i]
			b.Rows = append(b.Rows, []Cell{{Text: e.Command, Tone: Bad}, {Text: e.Spells}, {Text: targetName(*e.Route)}, {Text: e.Depends}})
		}
		blocks = append(blocks, b)
		footer = moreLine(len(p.Spellings)-len(shown), "spelling")
	}
	if p.MoreSpellings {
		footer = append(footer, "other spellings were tried of the first "+grouped(mostSpelled)+" paths only")
	}
	return blocks, footer
}
