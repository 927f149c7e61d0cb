package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Every reason that package merge declares has its words here.
func TestEveryReasonHasWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../merge/types.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []merge.Reason
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Reason" {
				declared = append(declared, merge.Reason(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)))
			}
		}
		return true
	})
	if len(declared) == 0 || len(byReason) != len(declared) {
		t.Errorf("%d reasons are declared, and %d have words", len(declared), len(byReason))
	}
	for _, reason := range declared {
		if w := byReason[reason]; w.short == "" || w.outcome == "" || w.clauses == nil {
			t.Errorf("%s lacks words", reason)
		}
	}
}

// A sentence without a gap names nobody, whoever won.
func TestClauseWithoutAGap(t *testing.T) {
	ignored := byReason[merge.Ignored].clauses(&lossContext{loss: &merge.Loss{}})
	ignored[0].names = []string{"the settings below it"}
	if got := ignored[0].String(); got != "the setting is not read at this place" {
		t.Errorf("got %s", got)
	}
}

func TestShort(t *testing.T) {
	for reason, want := range map[merge.Reason]string{merge.MoreSpecificWins: "more specific default",
		merge.AtomicReplaced:        "replaced as a whole by Gateway",
		merge.LessSpecificOverrides: "override of Gateway", merge.ConditionFalse: "condition false"} {
		if got := ShortReason(reason, "gateway"); got != want {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
	if got := ShortReason(merge.LessSpecificOverrides, ""); got != "override" {
		t.Errorf("without a winner: %q", got)
	}
}

func TestOrder(t *testing.T) {
	for want, d := range map[string]merge.Decision{
		"is older": {Criterion: merge.CriterionAge},
		"is newer; among defaults the newest wins":                                           {Criterion: merge.CriterionAge, Last: true},
		"is newer; its overrides beat defaults":                                              {Criterion: merge.CriterionAge, Last: true, Overrides: true},
		"comes first (by annotation weight: 10 before 0)":                                    {Criterion: merge.CriterionAnnotation, KeyName: "weight", Winner: "10", Loser: "0"},
		"comes last (by priority: 50 after 10); among defaults the last one wins":            {Criterion: merge.CriterionField, KeyName: "priority", Winner: "50", Loser: "10", Last: true},
		"comes first (by name: no creation time)":                                            {Criterion: merge.CriterionName, Winner: "a", Loser: "b", Age: merge.AgeUnknown},
		"comes last (by name: created in the same second); among defaults the last one wins": {Criterion: merge.CriterionName, Last: true, Age: merge.AgeEqual},
		"comes first (by section: it is for a section)":                                      {Criterion: merge.CriterionSection, Winner: "section", Loser: "object"},
		"comes first (by position)":                                                          {Criterion: merge.CriterionPosition},
		"comes last (by the order of the filters); among defaults the last one wins":         {Criterion: merge.CriterionPosition, KeyName: "the order of the filters", Last: true},
		"comes first":           {Criterion: merge.CriterionOrder},
		"comes first (by tier)": {Criterion: merge.CriterionOrder, KeyName: "tier"},
		"overrides it":          {Criterion: merge.CriterionBlock, Winner: "overrides", Loser: "defaults"},
	} {
		if got := DescribeStanding(d); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// stack is a verdict of which only the layers and the one rule in force matter.
type stack struct {
	values RuleExplainer
	rule   merge.Rule
}

// layer adds a policy, "" for a value that no policy wrote, and gives its position.
func (s *stack) layer(name string, target model.Ref, level topology.Role) int {
	namespace, name, _ := strings.Cut(name, "/")
	p := &policy.Policy{Object: &model.Object{Ref: model.Ref{Group: "example.com", Kind: "AuthPolicy",
		Namespace: namespace, Name: name}}}
	if namespace == "" {
		p.Builtin = "API default"
	}
	s.values.Verdict.Layers = append(s.values.Verdict.Layers, resolve.Layer{Policy: p, Level: level})
	s.values.Targets, s.values.Roles = append(s.values.Targets, target), append(s.values.Roles,
		resolve.RoleContributing)
	return len(s.values.Targets) - 1
}

func TestRule(t *testing.T) {
	gateway := func(section string) model.Ref {
		return model.Ref{Group: "g", Kind: "Gateway", Namespace: "infra", Name: "external", Section: section}
	}
	route := model.Ref{Group: "g", Kind: "HTTPRoute", Namespace: "bakery", Name: "baker"}
	rule1, root := route, route
	rule1.Section, root.Name = "rule-1", "root"
	type at struct {
		name   string
		target model.Ref
		level  topology.Role
		block  merge.BlockKind
	}
	low := at{"bakery/baker-limits", rule1, topology.Rule, merge.Bare}
	mid := at{"bakery/baker-all", route, topology.Route, merge.Defaults}
	other := at{"bakery/other", route, topology.Route, merge.Defaults}
	midOverride := at{"bakery/baker-all", route, topology.Route, merge.Overrides}
	high := at{"infra/gw-auth", gateway(""), topology.Gateway, merge.Defaults}
	override := at{"infra/gw-cap", gateway(""), topology.Gateway, merge.Overrides}
	listener := at{"infra/https-only", gateway("https"), topology.Listener, merge.Overrides}
	parent := at{"infra/root", root, topology.Route, merge.Defaults}
	builtin := at{"", gateway(""), topology.Gateway, merge.Bare}
	type lost struct {
		at
		reason merge.Reason
	}
	for _, tc := range []struct {
		want    string
		sources []at
		lost    []lost
		below   []at // policies of the stack besides the source, on more specific levels
	}{
		{"set here (rule)", []at{low}, nil, nil},
		{"set here (route)", []at{mid}, nil, []at{low}},
		{"set here (route)", []at{midOverride}, nil, nil},
		{"set here (rule), replaces infra/gw-auth", []at{low}, []lost{{high, merge.MoreSpecificWins}}, nil},
		{"set here (rule), replaces bakery/baker-all, infra/gw-auth", []at{low}, []lost{{high, merge.MoreSpecificWins},
			{mid, merge.AtomicReplaced}}, nil},
		{"set here (route), beats bakery/other (same level)", []at{mid}, []lost{{other, merge.SameLevelOrder}}, nil},
		{"override of route, beats its own defaults", []at{midOverride}, []lost{{mid, merge.LessSpecificOverrides}},
			nil},
		{"default of Gateway", []at{high}, nil, nil},
		{"default of Gateway, not replaced", []at{high}, nil, []at{mid}},
		{"default of parent route", []at{parent}, nil, nil},
		{"override of Gateway", []at{override}, nil, []at{low}},
		{"override of listener", []at{listener}, nil, nil},
		{"override of Gateway, beats bakery/baker-all", []at{override}, []lost{{mid, merge.LessSpecificOverrides}},
			[]at{mid}},
		{"override of route, beats bakery/baker-limits", []at{midOverride}, []lost{{low, merge.AtomicOverridden}},
			[]at{low}},
		{"override of Gateway, beats bakery/baker-limits", []at{override}, []lost{{low, merge.LessSpecificOverrides},
			{mid, merge.MoreSpecificWins}}, nil},
		{"override of Gateway, beats bakery/baker-all and 2 more", []at{override},
			[]lost{{low, merge.LessSpecificOverrides}, {mid, merge.LessSpecificOverrides},
				{other, merge.LessSpecificOverrides}}, nil},
		{"merged from Gateway, route", []at{high, mid}, nil, nil},
		{"API default", []at{builtin}, nil, nil},
		{"API default, beats bakery/baker-all", []at{builtin}, []lost{{mid, merge.BuiltInWins}}, nil},
		{"set here (rule)", []at{low}, []lost{{override, merge.ConditionFalse}}, nil},
		{"-", nil, nil, nil},
	} {
		s := stack{values: RuleExplainer{Verdict: &resolve.Verdict{}}}
		layer := func(a at) merge.Source {
			return merge.Source{Layer: s.layer(a.name, a.target, a.level), Block: a.block}
		}
		for _, a := range tc.sources {
			s.rule.From = append(s.rule.From, layer(a))
		}
		for _, a := range tc.below {
			layer(a)
		}
		for _, l := range tc.lost {
			s.rule.Lost = append(s.rule.Lost, merge.Loss{From: layer(l.at), Reason: l.reason})
		}
		for i := len(tc.sources) + len(tc.below); i < len(s.values.Roles); i++ { // they are only losers
			s.values.Roles[i] = resolve.RoleIgnored
		}
		if got := s.values.ExplainRule(rule1, &s.rule); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
