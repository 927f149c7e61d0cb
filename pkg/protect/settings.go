package protect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Settings is what the policies of one kind have in force at one place. Of a kind whose results are
// lists there are several, one for each entry.
type Settings struct {
	Kind    *resolve.Kind
	Node    topology.NodeID
	Verdict *resolve.Verdict
	Rule    *merge.Rule // of a list: the entry; else nil

	res    *resolve.Resolution
	doc    any
	number int // by which a Judge tells them apart

	owner      model.Ref // of settings that are not in force: whose they are
	winner     model.Ref // of settings that lost: who won
	sameTarget bool      // of settings that lost: the winner stands at the same place
	fault      *Reason   // of settings of a policy in error: what that means for requests

	// conditional is true of settings that are in force if what they name exists; else requests get
	// an error.
	conditional bool

	sources map[string]model.Ref // who wrote what Source was asked for
}

// FoundValue is a value among settings.
type FoundValue struct {
	Path  []string // with keys, and positions in lists, in the place of wildcards
	Value any
}

// Resolution returns the input with its policies.
func (s *Settings) Resolution() *resolve.Resolution { return s.res }

// newSettings lists the settings that a verdict has in force, as many as its results are read as.
func (j *Judge) newSettings(k *resolve.Kind, id topology.NodeID, stack resolve.StackID) []*Settings {
	v := k.Verdict(stack)
	if faulty := j.faultySettings(k, id, v); len(faulty) > 0 || v.Void != "" || len(v.Result.Rules) == 0 {
		if k.Protects.InError == 0 || slices.ContainsFunc(faulty, func(s *Settings) bool {
			return s.fault == nil ||
				s.fault.Code == gate.DeniesAll
		}) {
			return faulty
		}
		without := k.VerdictWithoutErrors(stack)
		if without == nil {
			return faulty
		}
		perhaps := j.settingsOf(k, id, without)
		for _, s := range perhaps {
			s.conditional = true
		}
		return perhaps
	}
	return j.settingsOf(k, id, v)
}

// settingsOf lists the settings of a verdict that has any in force.
func (j *Judge) settingsOf(k *resolve.Kind, id topology.NodeID, v *resolve.Verdict) []*Settings {
	r := j.res
	if !v.Result.Ordered {
		return []*Settings{{Kind: k, Node: id, Verdict: v, res: r, doc: merge.Unpack(v.Result.Document())}}
	}
	out := make([]*Settings, 0, len(v.Result.Rules))
	for i := range v.Result.Rules {
		rule := &v.Result.Rules[i]
		doc := merge.Unpack(rule.Value)
		for _, s := range slices.Backward(rule.Path) {
			doc = map[string]any{s.Name: doc}
		}
		out = append(out, &Settings{Kind: k, Node: id, Verdict: v, Rule: rule, res: r, doc: doc})
	}
	return out
}

// Snapshot returns the input.
func (s *Settings) Snapshot() *model.Snapshot { return s.res.Snapshot }

// faultySettings are those of policies in error that keep others out where they stand: nothing is
// in force there, and requests get an error, or what is missing decides.
func (j *Judge) faultySettings(k *resolve.Kind, id topology.NodeID, v *resolve.Verdict) []*Settings {
	if len(v.Result.Rules) > 0 && v.Void == "" {
		return nil
	}
	var out []*Settings
	for i := range v.Layers {
		p := v.Layers[i].Policy
		if isOneOfSeveral(v, i) {
			ref := p.Object.Ref
			why := Reason{gate.NotRead, &ref, "",
				"cannot tell which of several policies on one target is in force: " + formatSubject(ref, "") +
					" is one of them"}
			out = append(out, &Settings{Kind: k, Node: id, Verdict: v, res: j.res, owner: ref,
				doc: p.Object.Body.At(k.Content.At...).Value(), fault: &why})
			continue
		}
		if p.Builtin != "" || p.Fault == "" && v.Layers[i].Fault == "" {
			continue
		}
		ref := p.Object.Ref
		s := &Settings{Kind: k, Node: id, Verdict: v, res: j.res, owner: ref,
			doc: p.Object.Body.At(k.Content.At...).Value()}
		why := p.Fault
		if why == "" {
			why = v.Layers[i].Fault
		}
		switch {
		case j.isUncertain(p.Problems, ref):
			s.fault = &Reason{gate.MissingObject, &ref, "", formatSubject(ref, "") + " is in error: " + why}
		case k.Protects.InError != 0:
			s.fault = &Reason{gate.DeniesAll, &ref, "", formatSubject(ref, "") + " is in error: " + why}
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

// isOneOfSeveral reports whether a layer may be the one that is in force, which nobody knows.
func isOneOfSeveral(v *resolve.Verdict, layer int) bool {
	return slices.ContainsFunc(v.Result.Lost, func(l merge.Loss) bool {
		return l.From.Layer == layer &&
			l.Reason == merge.NotEvaluated
	})
}

// isUncertain reports whether the problems of a policy leave open what it does.
func (j *Judge) isUncertain(own []model.Problem, ref model.Ref) bool {
	if j.uncertainPolicies == nil {
		j.uncertainPolicies = map[model.Ref]bool{}
		for _, p := range j.res.Problems {
			if p.Ref != nil && p.IsIncomplete() {
				j.uncertainPolicies[*p.Ref] = true
			}
		}
	}
	return j.uncertainPolicies[ref] || slices.ContainsFunc(own, func(p model.Problem) bool { return p.IsIncomplete() })
}

// Value is the setting at a path; nil: it is not set.
func (s *Settings) Value(path ...string) any { return valueAt(s.doc, path) }

// Text is the setting at a path as text, "" if it is not set.
func (s *Settings) Text(path ...string) string { return textOf(s.Value(path...)) }

// List is the setting at a path if it is a list.
func (s *Settings) List(path ...string) []any {
	list, _ := s.Value(path...).([]any)
	return list
}

// FindValues lists the values at a path in which "*" is any key or position, in order.
func (s *Settings) FindValues(path []string) []FoundValue { return findValues(s.doc, nil, path) }

func findValues(v any, at, path []string) []FoundValue {
	if len(path) == 0 {
		if v == nil {
			return nil
		}
		return []FoundValue{{slices.Clone(at), v}}
	}
	switch t := v.(type) {
	case map[string]any:
		if path[0] != "*" {
			return findValues(t[path[0]], append(at, path[0]), path[1:])
		}
		var out []FoundValue
		for _, name := range sortedKeys(t) {
			out = append(out, findValues(t[name], append(at, name), path[1:])...)
		}
		return out
	case []any:
		var out []FoundValue
		for i, entry := range t {
			if name := strconv.Itoa(i); path[0] == "*" || path[0] == name {
				out = append(out, findValues(entry, append(at, name), path[1:])...)
			}
		}
		return out
	}
	return nil
}

func sortedKeys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func valueAt(v any, path []string) any {
	for _, name := range path {
		switch t := v.(type) {
		case map[string]any:
			v = t[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// textOf is a scalar as text; of anything else it is "".
func textOf(v any) string {
	switch v.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	return fmt.Sprint(v)
}

// Source is the object that wrote the setting at a path: of several the most specific; zero where
// no settings are in force.
func (s *Settings) Source(path ...string) model.Ref {
	switch {
	case s.owner != model.Ref{}:
		return s.owner
	case s.Rule != nil:
		return s.findWriter(s.Rule)
	}
	if s.Verdict == nil { // of gates on every path
		return model.Ref{}
	}
	key := strings.Join(path, "\x00")
	if known, found := s.sources[key]; found {
		return known
	}
	if s.sources == nil {
		s.sources = map[string]model.Ref{}
	}
	s.sources[key] = s.findSource(path)
	return s.sources[key]
}

// findSource is Source where one of the rules of the verdict has to be found.
func (s *Settings) findSource(path []string) model.Ref {
	best, common := (*merge.Rule)(nil), -1
	for i := range s.Verdict.Result.Rules {
		rule := &s.Verdict.Result.Rules[i]
		n, fits := commonPath(rule.Path, path)
		if fits && n > common {
			best, common = rule, n
		}
	}
	if best == nil && len(s.Verdict.Result.Rules) > 0 {
		best = &s.Verdict.Result.Rules[0]
	}
	if best == nil {
		return model.Ref{}
	}
	return s.findWriter(best)
}

// findWriter returns the policy that wrote a setting: of several the most specific.
func (s *Settings) findWriter(rule *merge.Rule) model.Ref {
	switch layers := s.Verdict.Layers; {
	case len(rule.From) > 0:
		return layers[rule.From[len(rule.From)-1].Layer].Policy.Object.Ref
	case len(layers) > 0:
		return layers[0].Policy.Object.Ref
	}
	return model.Ref{}
}

// commonPath is how many segments two paths share, and whether one leads to the other.
func commonPath(rule merge.Path, path []string) (int, bool) {
	n := 0
	for i, segment := range rule {
		if i >= len(path) {
			return n, true
		}
		if segment.Form == merge.Key && segment.Name != path[i] {
			return n, false
		}
		n++
	}
	return n, true
}

// fieldName is a path as answers print it: positions in lists are left out.
func fieldName(path []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(path), func(name string) bool {
		_, err := strconv.Atoi(name)
		return err == nil
	}), ".")
}
