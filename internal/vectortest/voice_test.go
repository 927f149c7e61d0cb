package vectortest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	reports "github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestOneVoice asks every command about every loss of every vector and of the demos: they must give
// the same reason, the same words and the same sentence, and where a finding or a status says what
// put one policy before another, that must be what decided.
func TestOneVoice(t *testing.T) {
	losses := 0
	eachInput(t, func(t *testing.T, o load.Options, settings []string) { losses += voices(t, o, settings) })
	if losses < 800 {
		t.Errorf("only %d losses were compared", losses)
	}
}

// said is what an answer says about a loss.
type said struct{ reason, why, message, decided string }

func saidOf(l *view.Loss) said {
	return said{l.Reason, l.Why, l.Message, decidedOf(l.LostTo)}
}

func decidedOf(to []view.Source) string {
	var out []string
	for _, s := range to {
		if s.DecidedBy != nil {
			out = append(out, fmt.Sprint(*s.DecidedBy))
		}
	}
	return strings.Join(out, "; ")
}

// lossKey tells losses of one input apart.
func lossKey(kind string, target model.Ref, paths []view.Path, rule string, s view.Source) string {
	keys := make([]string, len(paths))
	for i, p := range paths {
		keys[i] = p.Key()
	}
	return fmt.Sprint(kind, target, keys, rule, s.Policy, s.Target, s.Block, s.Part)
}

func voices(t *testing.T, o load.Options, settings []string) int {
	t.Helper()
	in, catalog := loaded(t, o, settings)
	r := resolve.Run(in, build.Graph(in, catalog.Settings(), catalog.Links()...), catalog)
	list := overridden.List(r, view.Query{}, nil, "")
	want := map[string][]said{}
	for i := range list.Items {
		item := &list.Items[i]
		key := lossKey(item.PolicyKind, item.Target, item.Paths, item.Rule, item.Source)
		want[key] = append(want[key], said{item.Reason, item.Why, item.Message, decidedOf(item.LostTo)})
	}
	compareLosses := func(command string, item *view.EffectivePolicy) {
		see := func(rule string, l *view.Loss) {
			key := lossKey(item.PolicyKind, item.Target, item.Paths, rule, l.Source)
			if !slices.Contains(want[key], saidOf(l)) {
				t.Errorf("%s says of %s on %s: %+v\noverridden says: %+v", command, rule, item.Target,
					saidOf(l), want[key])
			}
		}
		for i := range item.Rules {
			if item.Rules[i].Why == "" {
				t.Errorf("%s does not say why %s is in force on %s", command, item.Rules[i].Name, item.Target)
			}
			for j := range item.Rules[i].Lost {
				see(item.Rules[i].Name, &item.Rules[i].Lost[j])
			}
		}
		for i := range item.Lost {
			see(item.Lost[i].Rule, &item.Lost[i].Loss)
		}
	}
	page, err := reports.Gather(r, reports.Query{Status: plugin.StatusFunctions(plugins.All())}, reports.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Effective.Items {
		compareLosses("report", &page.Effective.Items[i])
	}
	effective := effective.List(r, view.Query{})
	for i := range effective.Items {
		compareLosses("effective", &effective.Items[i])
	}
	explained := explain.Explain(r, view.Query{}, "")
	for i := range explained.Items {
		compareLosses("explain", &explained.Items[i].EffectivePolicy)
		compareNotes(t, &explained.Items[i])
	}
	compareReach(t, r, list)
	compareOrders(t, list, page)
	return len(list.Items)
}

// compareNotes holds the notes of steps against the losses that they tell of. Where nothing is in
// force, steps tell what would be.
func compareNotes(t *testing.T, item *explain.ExplainedPolicy) {
	t.Helper()
	messages := map[string][]string{} // by rule and policy
	see := func(rule string, l *view.Loss) {
		if l.Policy != nil && l.Reason != string(merge.Invalid) {
			key := rule + " of " + l.Policy.FullName()
			messages[key] = append(messages[key], l.Message)
		}
	}
	for i := range item.Rules {
		for j := range item.Rules[i].Lost {
			see(item.Rules[i].Name, &item.Rules[i].Lost[j])
		}
	}
	for i := range item.Lost {
		see(item.Lost[i].Rule, &item.Lost[i].Loss)
	}
	notes := map[string][]string{}
	for _, step := range item.Steps {
		for _, note := range step.Notes {
			if about, message, ok := strings.Cut(note, " is lost: "); ok {
				notes[about] = append(notes[about], message)
			}
		}
	}
	for about, told := range notes {
		if known := messages[about]; known != nil &&
			!slices.ContainsFunc(told, func(m string) bool { return slices.Contains(known, m) }) {
			t.Errorf("the steps on %s say of %s: %q, the loss says: %q", item.Target, about, told, known)
		}
	}
}

// compareReach holds what reach says of every policy against its losses.
func compareReach(t *testing.T, r *resolve.Resolution, list *overridden.OverriddenRuleList) {
	t.Helper()
	for _, k := range r.Kinds {
		for _, p := range k.Policies {
			reach := reach.Find(r, k, p, "")
			for _, item := range reach.Items {
				for i := range list.Items {
					l := &list.Items[i]
					same := l.PolicyKind == k.Name() && l.Source.Policy != nil && *l.Source.Policy == p.Ref() &&
						l.Target == item.Target && l.Source.Part == "" &&
						lossKey("", l.Target, l.Paths, "", view.Source{}) == lossKey("", item.Target, item.Paths, "",
							view.Source{})
					if same && !strings.Contains(item.Reason, l.Message) {
						t.Errorf("reach of %s says on %s: %q, overridden says of %s: %q", p.Ref(), item.Target,
							item.Reason, l.Rule, l.Message)
					}
				}
			}
		}
	}
}

// order finds what a sentence says about the place of a policy among others.
var order = regexp.MustCompile(`(is older|is newer|comes first|comes last)( \([^)]*\))?`)

// compareOrders holds what findings and statuses say about the order of two policies against what
// decided.
func compareOrders(t *testing.T, list *overridden.OverriddenRuleList, page *reports.Report) {
	t.Helper()
	type pair struct{ loser, winner string }
	decided := map[pair][]string{}
	for i := range list.Items {
		l := &list.Items[i]
		if l.Source.Policy == nil || len(l.LostTo) != 1 || l.LostTo[0].Policy == nil {
			continue
		}
		at := pair{l.Source.Policy.String(), l.LostTo[0].Policy.FullName()}
		decided[at] = append(decided[at], order.FindAllString(l.Message, -1)...)
	}
	compare := func(what string, of model.Ref, message string) {
		for at, words := range decided {
			_, rest, ok := strings.Cut(message, at.winner)
			if at.loser != of.String() || !ok || len(words) == 0 || strings.Contains(message, "among defaults now") {
				continue
			}
			clause, _, _ := strings.Cut(rest, ";")
			if told := order.FindString(clause); told != "" && !slices.Contains(words, told) {
				t.Errorf("%s of %s says that %s %s; overridden says %q", what, of, at.winner, told, words)
			}
		}
	}
	for _, f := range page.Findings.Items {
		if f.Ref != nil {
			compare("the finding "+string(f.ID), *f.Ref, f.Message)
		}
	}
	for _, s := range page.Status.Items {
		for _, a := range s.Ancestors {
			for _, c := range a.Conditions {
				compare("the status", s.Object, c.Message)
			}
		}
	}
}
