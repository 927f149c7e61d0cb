package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// mostClasses is into how many classes the requests to one path of one host are split at most.
const mostClasses = 4096

// mostInstructions is how many instructions an expression may have that is followed.
const mostInstructions = 100_000

// Walk calls see with the classes of all requests that are asked about, one after the other in an
// order that the input determines, until see returns false. Every such request is in exactly one
// class of each entry that it can come to.
func Walk(m *request.Matcher, s Scope, see func(*Class) bool) error {
	w := walker{competition: request.Competition{Matcher: m}, scope: &s, see: see, stepsLeft: s.Steps}
	for _, e := range w.competition.Entries(s.Destination) {
		h := newHostNames(w.competition.Hostnames(e), s.Hosts, s.ExtraHosts)
		for _, name := range h.sortNames() {
			if !isHostAsked(name, s.Hosts) {
				continue
			}
			for _, protocol := range []request.Protocol{request.HTTP, request.GRPC} {
				if w.splitHost(e, h, name, protocol); w.done {
					return w.err
				}
			}
		}
	}
	return nil
}

type walker struct {
	competition         request.Competition
	scope               *Scope
	see                 func(*Class) bool
	done                bool
	err                 error
	readableExpressions map[string]bool // by expression: whether it can be read
	stepsLeft           int             // of the steps of the scope
	reused              *Class          // that was handed on, if the next one takes its place
}

// competitor is a match that competes for a class, with those of its tests of which it is not known
// yet whether they hold.
type competitor struct {
	*request.Competitor
	tests     []request.Test
	uncertain bool   // whether it takes a class is not known
	doubt     string // why it is not known what it takes
	pathStart string // how the paths begin that an expression takes whose test was dropped
}

// draft is a class that is not fully split.
type draft struct {
	class       Class
	competitors []competitor // the best first
	classesLeft *int         // how many classes may still come of the path
}

// splitHost splits the requests of a protocol to the hosts of a name.
func (w *walker) splitHost(e request.Entry, h hostNames, name string, protocol request.Protocol) {
	host := h.exampleHost(name)
	all := w.competition.Competitors(e, request.Destination{Gateway: e.Gateway,
		Listener: w.scope.Destination.Listener}, host, protocol)
	if protocol == request.GRPC && len(all) == 0 {
		return // they are HTTP requests to the rules
	}
	d := draft{class: Class{Entry: e, Request: e.NewRequest(host, protocol), protocol: protocol, hostNames: h,
		hostName: name}, classesLeft: new(int)}
	*d.classesLeft = mostClasses
	for i := range all {
		if r, takes := w.newCompetitor(&all[i], name, host); takes {
			d.competitors = append(d.competitors, r)
		}
	}
	for _, header := range w.scope.Headers {
		if d = w.fixHeader(d, header); d.competitors == nil && len(all) > 0 {
			d.competitors = []competitor{}
		}
	}
	if protocol == request.GRPC {
		if len(w.scope.Methods) == 0 || slices.Contains(w.scope.Methods, "POST") {
			w.splitCalls(d)
		}
		return
	}
	w.splitPaths(d)
}

// newCompetitor returns what a match asks of the requests to a host; false if it takes none of
// them.
func (w *walker) newCompetitor(c *request.Competitor, name, host string) (competitor, bool) {
	r := competitor{Competitor: c, uncertain: c.AttachmentUnknown}
	for _, t := range c.Tests {
		of := t.Aspect == request.AspectHeader && t.Name == "host"
		exact := name != "" && !isWildcard(name)
		switch {
		case t.Form == request.Expression && !w.isReadable(t.Value):
			r.uncertain = true // whether it holds is not known, but it needs the header or the parameter
			if !of && (t.Aspect == request.AspectHeader || t.Aspect == request.AspectQuery) {
				t.Value = anyValue
				r.tests = append(r.tests, t)
			}
		case of && t.Form == request.Exact && exact && t.Value == host:
		case of && t.Form == request.Exact:
			return r, false
		case of:
			r.uncertain, r.doubt = true, "an expression on the header Host decides which hosts a rule takes"
		default:
			r.tests = append(r.tests, t)
		}
	}
	return r, true
}

func (w *walker) isReadable(expr string) bool {
	known, asked := w.readableExpressions[expr]
	if !asked {
		size := model.PatternSize(expr)
		known = 0 < size && size <= mostInstructions && !model.IsRedacted(expr)
		if w.readableExpressions == nil {
			w.readableExpressions = map[string]bool{}
		}
		w.readableExpressions[expr] = known
	}
	return known
}

// fixHeader narrows a draft to the requests with one header as it is asked for.
func (w *walker) fixHeader(d draft, header Header) draft {
	k := partKey{request.AspectHeader, header.Name}
	tests := testsOfPart(d.competitors, k)
	t := newTextSplitter(headerAlphabet, append(tests, request.Test{Value: header.Value}))
	p := part{partKey: k, splitter: t, absent: header.Absent, set: textSet{t.keyOf(header.Value), header.Value}}
	return d.withPart(p)
}

// withPart returns what is left of a draft for one set of texts of a part.
func (d draft) withPart(p part) draft {
	out := d
	out.competitors = make([]competitor, 0, len(d.competitors))
	out.class.parts = append(slices.Clone(d.class.parts), p)
	p.applyToClass(&out.class)
	for _, r := range d.competitors {
		at := slices.IndexFunc(r.tests, func(t request.Test) bool { return partKeyOf(&t) == p.partKey })
		switch {
		case at < 0 || p.matchesAll:
		case p.absent || !p.splitter.isTestMet(&r.tests[at], &p.set):
			continue
		default:
			r.tests = slices.Delete(slices.Clone(r.tests), at, at+1)
		}
		out.competitors = append(out.competitors, r)
	}
	return out
}

// applyToClass sets the part in the request of a class, without changing what it shares with
// others.
func (p *part) applyToClass(c *Class) {
	c.Request.Headers, c.Request.Query = slices.Clone(c.Request.Headers), slices.Clone(c.Request.Query)
	p.applyTo(&c.Request)
}

func partKeyOf(t *request.Test) partKey { return partKey{t.Aspect, t.Name} }

// testsOfPart returns the tests of one part.
func testsOfPart(rivals []competitor, k partKey) []request.Test {
	var out []request.Test
	for i := range rivals {
		for _, t := range rivals[i].tests {
			if partKeyOf(&t) == k {
				out = append(out, t)
			}
		}
	}
	return out
}

// emitClass asks what becomes of a class, and hands it on.
func (w *walker) emitClass(d draft) {
	c := w.reused
	if c == nil {
		c = &Class{}
	}
	if w.scope.ReuseClass {
		w.reused = c
	}
	*c = d.class
	for i := range d.competitors {
		if d.competitors[i].doubt != "" && c.Unknown == "" {
			c.Unknown = d.competitors[i].doubt
		}
	}
	if c.protocol == request.GRPC {
		c.Request.Path = "/" + c.Request.Service + "/" + c.Request.Call
	}
	c.Answer, w.err = w.competition.FindRule(c.Request, request.Destination{Gateway: c.Entry.Gateway,
		Listener: w.scope.Destination.Listener})
	if w.err == nil {
		c.Request = c.Answer.Request
	}
	if w.err == nil && c.Unknown != "" {
		w.findPossible(c, d.competitors)
	} else if w.err == nil {
		c.Possible = c.Answer.Possible
	}
	*d.classesLeft--
	if w.err != nil || !w.see(c) {
		w.done = true
	}
}

// findPossible finds what may become of a class that is not told apart: by each competitor that may
// take some of it, and by none.
func (w *walker) findPossible(c *Class, rivals []competitor) {
	if c.Answer.RewrittenByListener {
		c.Possible = c.Answer.Possible
		return
	}
	if !c.Answer.IsAmongCandidates() ||
		slices.ContainsFunc(rivals, func(r competitor) bool {
			return r.AttachmentUnknown ||
				w.competition.IsDelegating(r.Competitor)
		}) {
		return
	}
	for i := range rivals {
		c.Possible = append(c.Possible, w.competition.AssumeMatch(c.Answer, rivals[i].Competitor))
	}
	c.Possible = append(c.Possible, w.competition.AssumeMatch(c.Answer, nil))
}
