package policy

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// function reads the name of a function that a vendor registered. A name that nobody did is a mistake: it would leave the work undone
// without a word.
func (r *kindReader) function(into *string, known []string, what string) field {
	return func(n *yaml.Node) {
		r.text(into)(n)
		if *into != "" && !slices.Contains(known, *into) {
			r.fail(n, "there is no function %q %s", *into, what)
		}
	}
}

// paths reads the function that says which steps of a path the vendor recognises.
func (r *kindReader) paths(n *yaml.Node) {
	var name string
	r.object(n, map[string]field{"func": r.text(&name)})
	step, ok := r.funcs.Path[name]
	if !ok {
		r.fail(n, "there is no function %q to judge paths", name)
	}
	r.kind.Step = step
}

// advice reads the function that says what to do about a policy that the API does not take as it is.
func (r *kindReader) advice(n *yaml.Node) {
	var name string
	r.object(n, map[string]field{"func": r.text(&name)})
	advice, ok := r.funcs.Advice[name]
	if !ok {
		r.fail(n, "there is no function %q to give advice", name)
	}
	r.kind.Advice = advice
}

// checks reads the functions that find faults.
func (r *kindReader) checks(n *yaml.Node) {
	known := map[string]SiteCheck{}
	maps.Copy(known, r.funcs.Sites)
	for name, check := range r.funcs.Checks {
		known[name] = func(_ *Kind, _ *topology.Graph, in *model.Snapshot) Judgement {
			return func(p *Policy, _ []topology.NodeID) (string, []model.Problem) { return check(p, in) }
		}
	}
	r.kind.Checks = functions(r, n, known, "to check policies")
}

// lints reads the functions that report suspicious attachments.
func (r *kindReader) lints(n *yaml.Node) {
	r.kind.Lints = functions(r, n, r.funcs.Lints, "to look for findings")
}

// reads reads the kinds, beside targets, of which objects decide something about policies of the kind.
func (r *kindReader) reads(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var name string
		r.text(&name)(e)
		gk := model.ParseGroupKind(name)
		if gk.Kind == "" {
			r.fail(e, "%q is not a kind, written Kind.group", name)
		}
		r.kind.Reads = append(r.kind.Reads, gk)
	})
}

// members reads the kinds whose policies stand in the stacks of this one.
func (r *kindReader) members(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var name string
		r.text(&name)(e)
		gk := model.ParseGroupKind(name)
		if gk.Kind == "" || gk.Group == "" {
			r.fail(e, "%q is no policy kind, written Kind.group", name)
		}
		r.kind.Members = append(r.kind.Members, gk)
	})
}

// evaluate reads the function that judges requests by policies of the kind.
func (r *kindReader) evaluate(n *yaml.Node) {
	r.object(n, map[string]field{"func": r.function(&r.kind.Evaluate, r.funcs.Evaluators, "to judge requests")})
}

// functions reads a list of named functions.
func functions[F any](r *kindReader, n *yaml.Node, known map[string]F, what string) []F {
	var out []F
	r.list(n, func(e *yaml.Node) {
		var name string
		r.object(e, map[string]field{"func": r.text(&name)})
		f, ok := known[name]
		if !ok {
			r.fail(e, "there is no function %q %s", name, what)
		}
		out = append(out, f)
	})
	return out
}

// states reads where the vendor writes words in the place of conditions.
func (r *kindReader) states(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var f StateField
		r.object(e, map[string]field{"at": r.path(&f.At), "words": r.texts(&f.Words)})
		if f.At == nil {
			r.fail(e, "field \"at\" is missing")
			return
		}
		r.kind.Status.States = append(r.kind.Status.States, f)
	})
}

// status reads the kind's words for its conditions.
func (r *kindReader) status(n *yaml.Node) {
	s := &r.kind.Status
	marks := func(n *yaml.Node) {
		r.object(n, map[string]field{"func": r.function(&s.Marks, r.funcs.Markers, "to write marks")})
	}
	r.object(n, map[string]field{"func": r.function(&s.Func, r.funcs.Writers, "to write conditions"), "marks": marks,
		"states": r.states, "complete": r.texts(&s.Complete), "writes": r.writes, "ancestor": r.word(new(string), []string{"none"}, "gateway", "target", "parentRef"), "overflow": r.overflow, "accepted": nil, "affected": nil,
		"inForce": func(n *yaml.Node) {
			r.object(n, map[string]field{"type": r.text(&s.Type), "all": r.text(&s.All), "some": r.text(&s.Some), "none": r.text(&s.None), "noScope": r.text(&s.NoScope)})
		}})
}

// overflow reads what becomes of ancestors that a status has no room for.
func (r *kindReader) overflow(n *yaml.Node) {
	var word string
	r.word(&word, []string{"report", "refuse"}, "cut", "aggregate")(n)
	r.kind.Status.Refuses = word == "refuse"
}
