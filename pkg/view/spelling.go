package view

import (
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
	Route   *model.Ref `json:"route"`   // that takes the spelling
	Rule    int        `json:"rule"`    // counted from 0
	Backend model.Ref  `json:"backend"` // that gets both
	Depends string     `json:"depends"` // on what it depends whether that is so; "" if it is
}

// variant is a way to spell requests.
type variant struct {
	by    string
	spell func(*request.Request) bool // false: these cannot be spelled so
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
	{"an element that two dots take back", respelled(func(p string) string { return "/x/.." + p })},
	{"two slashes", respelled(func(p string) string { return "/" + p })},
	{"an escaped character", respelled(func(p string) string {
		if len(p) < 2 || p[1] == '%' || p[1] == '/' {
			return p
		}
		return fmt.Sprintf("/%%%02x%s", p[1], p[2:])
	})},
	{"an escaped slash", respelled(func(p string) string {
		at := strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')
		if at <= 0 {
			return p
		}
		return p[:at] + "%2F" + p[at+1:]
	})},
	{"a parameter of the path", respelled(func(p string) string {
		if strings.HasSuffix(p, "/") {
			return p
		}
		return p + ";v=1"
	})},
	{"upper case", respelled(strings.ToUpper)},
	{"a dot at the end of the host", func(r *request.Request) bool {
		r.Host += "."
		return true
	}},
}

// Spellings looks for other spellings of the requests that are asked about by which they get around a policy of the given kinds; more: not all were
// tried. Only spellings that are not asked about themselves are looked for.
func Spellings(r *resolve.Resolution, m *request.Matcher, q ProofQuery, evaluators request.Evaluators) (found []Spelling, more bool, err error) {
	found = []Spelling{}
	if len(q.Scope.Paths) == 0 && len(q.Scope.Hosts) == 0 || len(q.Require) == 0 {
		return found, false, nil
	}
	s := speller{requestWriter: requestWriter{survey: newCollector(r, q.Require), evaluators: evaluators}, m: m, q: &q, known: map[string]bool{}, seen: map[string]bool{}}
	err = space.Walk(m, q.Scope, func(c *space.Class) bool {
		if c.Unknown != "" || c.Answer.Unsettled || c.Request.Protocol != request.HTTP || !s.met(c.Answer) {
			return true
		}
		key := fmt.Sprint(c.Answer.Rule, c.Entry, c.Request.Host, c.Request.Path)
		if s.seen[key] {
			return true
		}
		if more = len(s.seen) == mostSpelled; more {
			return false
		}
		s.seen[key] = true
		s.err = s.try(c)
		return s.err == nil
	})
	if err == nil {
		err = s.err
	}
	return append(found, s.found...), more, err
}

type speller struct {
	requestWriter
	m     *request.Matcher
	q     *ProofQuery
	known map[string]bool // by where a request goes: whether a policy is in force there
	seen  map[string]bool
	found []Spelling
	err   error
}

// met reports whether a request that a backend gets meets a policy, or is denied by one.
func (s *speller) met(a *request.Answer) bool {
	outcome := a.Outcome
	if a.Assumed != "" {
		outcome = a.Assumed
	}
	if outcome != request.Matched || a.Rule == topology.None || s.q.Routes != nil && !s.q.Routes(s.survey.res.Node(a.Route).Object) {
		return false
	}
	key := fmt.Sprint(a.Gateway, a.Listener, a.Rule)
	in, asked := s.known[key]
	if !asked {
		in = slices.ContainsFunc(s.effective(a), func(e EffectivePolicy) bool { return len(e.Rules) > 0 })
		s.known[key] = in
	}
	return in || slices.ContainsFunc(s.judge(a), func(d Decision) bool { return d.Outcome == string(request.Denied) })
}

// try asks what becomes of every spelling of a request.
func (s *speller) try(c *space.Class) error {
	for _, v := range variants {
		r := c.Request
		if !v.spell(&r) {
			continue
		}
		a, err := s.m.Take(r, request.Where{Gateway: c.Entry.Gateway, Listener: s.q.Scope.Where.Listener})
		if err != nil {
			return err
		}
		if a.Rule == topology.None || a.Rule == c.Answer.Rule && !a.Unsettled {
			continue
		}
		shared := slices.IndexFunc(a.Backends, func(b topology.BackendRef) bool {
			return slices.ContainsFunc(c.Answer.Backends, func(o topology.BackendRef) bool { return o.Ref == b.Ref })
		})
		whole := *s.q
		s.q.Routes = nil // whoever takes the spelling
		met := s.met(a)
		*s.q = whole
		reached := a.Outcome == request.Matched || a.Assumed == request.Matched
		if shared < 0 || met || !reached {
			continue
		}
		n := s.survey.res.Node(a.Rule)
		ref := n.Ref
		out := Spelling{Command: command(&a.Request), Spells: c.Request.Text, By: v.by, Route: &ref, Rule: n.Index, Backend: a.Backends[shared].Ref}
		if a.Outcome == request.Conditional {
			out.Depends = depends(a)
		}
		s.found = append(s.found, out)
	}
	return nil
}

// spellingBlocks are the spellings for people.
func (p *Proof) spellingBlocks(o TableOptions) (blocks []Block, footer []string) {
	if len(p.Spellings) > 0 {
		b := Block{Heading: []string{"a spelling reaches the same backend without a policy, if that takes both for the same"},
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
