package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// said writes a decoded policy: its blocks with strategies and units, then the codes of its
// problems.
func said(p *policy.Policy) string {
	var out []string
	for _, b := range p.Blocks {
		line := b.Kind.String() + " " + p.StrategyName(b.Kind)
		if b.When != nil {
			line += " when"
		}
		for _, u := range b.Units {
			line += fmt.Sprintf(" %s=%v", u.Path, u.Value)
		}
		out = append(out, line)
	}
	if len(p.Unset) > 0 {
		out = append(out, "unset "+strings.Join(p.Unset, ","))
	}
	for _, problem := range p.Problems {
		out = append(out, string(problem.Code))
	}
	return strings.Join(out, "; ")
}

func TestDecode(t *testing.T) {
	limits, generic := described(t, paint.Limits()...), usual(t)
	generic.Content.Unset, generic.Content.Condition = []string{"unset", "remove"}, "when"
	for _, c := range []struct {
		name, spec, want string
		kind             *policy.Kind
	}{
		{"bare", "{" + paint.ToGateway + ", limits: {a: {n: 1}}}", "bare atomic limits.a=map[n:1]", limits},
		{"blocks", "{" + paint.ToGateway +
			", defaults: {limits: {a: 1}}, overrides: {strategy: merge, limits: {b: 2}}}",
			"defaults atomic limits.a=1; overrides merge limits.b=2", limits},
		{"bare beside a block", "{" + paint.ToGateway + ", limits: {c: 3}, overrides: {limits: {b: 2}}}",
			"bare atomic limits.c=3; overrides atomic limits.b=2; BareWithBlocks", limits},
		{"strategy of the spec", "{" + paint.ToGateway +
			", strategy: merge, limits: {a: 1}, defaults: {strategy: atomic, limits: {b: 1}}}",
			"defaults atomic limits.b=1; bare merge limits.a=1; BareWithBlocks", limits},
		{"condition", "{" + paint.ToGateway + ", overrides: {when: spec.limits.a > 1, limits: {a: 1}}}",
			"overrides atomic when limits.a=1", limits},
		{"list of predicates is data", "{" + paint.ToGateway +
			", overrides: {when: [{predicate: x}], limits: {a: 1}}}",
			"overrides atomic limits.a=1 when=[map[predicate:x]]", limits},
		{"unset and remove are one list", "{" + paint.ToGateway + ", unset: [limits.b, limits.a], remove: [limits.a]}",
			"unset limits.a,limits.b", limits},
		{"empty container", "{" + paint.ToGateway + ", defaults: {limits: {}}}", "defaults atomic", limits},
		{"scalar rules", "{" + paint.ToGateway + ", limits: {a: 50, b: null}}",
			"bare atomic limits.a=50 limits.b=<nil>", limits},
		{"rule names with dots", "{" + paint.ToGateway + ", limits: {a.b: 1}}", "bare atomic limits.a.b=1", limits},
		{"generic patch is cut at leaves", "{" + paint.ToGateway +
			", overrides: {strategy: patch, colors: {light: {hue: 1, tone: 2}}}}",
			"overrides patch colors.light.hue=1 colors.light.tone=2", generic},
		{"generic both blocks", "{" + paint.ToGateway + ", defaults: {a: 1}, overrides: {b: 2}}",
			"defaults atomic a=1; overrides atomic b=2; MultipleBlocks", generic},
		{"generic selector", "{targetSelectors: [{group: '', kind: Service, matchLabels: {a: b}}], color: red}",
			"bare atomic color=red", generic},

		{"spec is a number", "5", "WrongType; TargetNotFound", limits},
		{"spec is a list", "[]", "WrongType; TargetNotFound", limits},
		{"no spec", "null", "TargetNotFound", limits},
		{"targetRef is a text", "{targetRef: x, limits: {a: 1}}", "bare atomic limits.a=1; WrongType", limits},
		{"targetRef without a name", "{targetRef: {group: g, kind: K}}", "WrongType", limits},
		{"targetRef with a number for a name", "{targetRef: {group: g, kind: K, name: 5}}", "WrongType", limits},
		{"targetRef with a list for a section", "{targetRef: {group: g, kind: K, name: a, sectionName: [x]}}",
			"WrongType", limits},
		{"targetRefs holds texts", "{targetRefs: [x, {group: g, kind: K, name: a}, null]}",
			"WrongType; WrongType", limits},
		{"targetRefs is empty", "{targetRefs: []}", "TargetNotFound", limits},
		{"no target", "{limits: {a: 1}}", "bare atomic limits.a=1; TargetNotFound", limits},
		{"group with version", "{targetRef: {group: g/v1, kind: K, name: a}}", "GroupWithVersion", limits},
		{"selector with expressions", "{targetSelectors: [{group: '', kind: Service, matchExpressions: [{}]}]}",
			"NotEvaluated", limits},
		{"selector with a text", "{targetSelectors: [{group: '', kind: Service, matchLabels: x}]}",
			"NotEvaluated", limits},
		{"defaults is a list", "{" + paint.ToGateway + ", defaults: [], overrides: x}", "WrongType; WrongType", limits},
		{"unset is an object", "{" + paint.ToGateway + ", unset: {}, remove: x}", "WrongType; WrongType", limits},
		{"unset holds a number", "{" + paint.ToGateway + ", unset: [5, {}, limits.a]}",
			"unset limits.a; WrongType; WrongType", limits},
		{"strategy is a number", "{" + paint.ToGateway + ", defaults: {strategy: 7, limits: {a: 1}}}",
			"defaults atomic limits.a=1; UnknownStrategy", limits},
		{"strategy is unknown", "{" + paint.ToGateway + ", overrides: {strategy: deep, limits: {a: 1}}}",
			"overrides atomic limits.a=1; UnknownStrategy", limits},
		{"container is a text", "{" + paint.ToGateway + ", limits: x}", "bare atomic; WrongType", limits},
		{"container is a list", "{" + paint.ToGateway + ", overrides: {limits: [1]}}", "overrides atomic; WrongType",
			limits},
		{"condition outside a block", "{" + paint.ToGateway + ", when: true, limits: {a: 1}}",
			"bare atomic limits.a=1 when=true", limits},
		{"condition that does not compile", "{" + paint.ToGateway + ", overrides: {when: '((', limits: {a: 1}}}",
			"overrides atomic when limits.a=1; InvalidCondition", limits},
		{"condition of no boolean", "{" + paint.ToGateway + ", overrides: {when: '1 + 1', limits: {a: 1}}}",
			"overrides atomic when limits.a=1; InvalidCondition", limits},
		{"field that the kind does not have", "{" + paint.ToGateway + ", limit: {a: 1}, defaults: {foo: 1}}",
			"defaults atomic; UnknownBlockField; UnknownBlockField", limits},
		{"many references: how many there may be is up to the definition of the kind",
			"{targetRefs: [" + strings.Repeat("{group: g, kind: K, name: a},", 17) + "], limits: {}}", "bare atomic",
			limits},
	} {
		p := NewReader(c.kind, &expression.Conditions{}).ReadPolicy(painted(t, c.spec))
		if got := said(p); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		for _, problem := range p.Problems {
			if problem.Ref == nil || problem.Origin == nil || problem.Message == "" {
				t.Errorf("%s: problem without a place or a message: %+v", c.name, problem)
			}
		}
	}
}

// the list stands beside the bare set; in a block it is no field (UnknownBlockField)
func TestUnsetInsideABlockIsSaid(t *testing.T) {
	k := described(t, paint.Limits()...)
	if got, want := said(NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+
		", defaults: {unset: [limits.a], limits: {b: 1}}}"))),
		"defaults atomic limits.b=1; UnknownBlockField"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecodeKeyedLists(t *testing.T) {
	k := described(t, "rules: [{path: rules, keys: [id]}]")
	for _, c := range []struct{ name, rules, want string }{
		{"by key", "[{id: b}, {id: a}]", "bare atomic rules[b]=map[id:b] rules[a]=map[id:a]"},
		{"by a number", "[{id: 1}]", "bare atomic rules[1]=map[id:1]"},
		{"key missing", "[{id: a}, {}]", "bare atomic rules=[map[id:a] map[]]; WrongType"},
		{"key twice", "[{id: a}, {id: a}]", "bare atomic rules=[map[id:a] map[id:a]]; WrongType"},
		{"no objects", "[a]", "bare atomic rules=[a]; WrongType"},
		{"key is an object", "[{id: {}}]", "bare atomic rules=[map[id:map[]]]; WrongType"},
		{"a text", "x", "bare atomic rules=x"},
		{"empty", "[]", "bare atomic"},
	} {
		if got := said(NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", rules: "+
			c.rules+"}"))); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestDecodeClaims(t *testing.T) {
	k := described(t, "content: {claims: true}")
	if got := said(NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+
		"}"))); got != "bare atomic *=map[]" {
		t.Errorf("an empty spec: got %s", got)
	}
	if got := said(NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "null"))); got != "TargetNotFound" {
		t.Errorf("no spec: got %s", got)
	}
}

func TestDecodeReferences(t *testing.T) {
	k := usual(t)
	p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, `{targetRef: {group: gateway.networking.k8s.io/v1, kind: Gateway, name: g, sectionName: http},
  targetRefs: [{group: "", kind: Service, name: s, namespace: other}], targetSelectors: [{group: "", kind: Service, matchLabels: {b: "2", a: "1"}}]}`))
	want := []model.Ref{{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "demo", Name: "g",
		Section: "http"},
		{Kind: "Service", Namespace: "other", Name: "s"}, {Kind: "Service", Namespace: "demo"}}
	for i, ref := range p.Refs {
		if ref.Ref != want[i] {
			t.Errorf("reference %d: %+v, want %+v", i, ref.Ref, want[i])
		}
	}
	selector := p.Refs[2].Selection
	for labels, want := range map[string]bool{"{a: '1', b: '2', c: '3'}": true, "{a: '1'}": false,
		"{a: '1', b: '3'}": false} {
		o := paint.Read(t, "apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: "+labels+"}")
		if selector.SelectsObject(o) != want {
			t.Errorf("%s: selected %v", labels, !want)
		}
	}
}

func TestSelections(t *testing.T) {
	namespace := func(labels string) *model.Object {
		return paint.Read(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: n, labels: "+labels+"}")
	}
	for _, c := range []struct {
		name, selector      string
		form                policy.RefForm
		plain, labelled, a1 bool // picks an object without labels, with another label, with a=1
		// looks into a namespace that is not known, that has labels, that has the label good=yes
		unknown, abroad, blessed bool
	}{
		{name: "empty", selector: "{}", plain: true, labelled: true, a1: true},
		{name: "empty picks nothing", selector: "{}", form: policy.RefForm{EmptyNone: true}},
		{name: "never what has no labels", selector: "{}", form: policy.RefForm{NeverUnlabelled: true},
			labelled: true, a1: true},
		{name: "labels", selector: "{matchLabels: {a: '1'}}", a1: true},
		{name: "expressions",
			selector: "{matchExpressions: [{key: a, operator: In, values: ['1', '2']}, {key: b, operator: DoesNotExist}]}", a1: true},
		{name: "not in", selector: "{matchExpressions: [{key: a, operator: NotIn, values: ['1']}]}", plain: true,
			labelled: true},
		{name: "the field is not the form's business", selector: "{namespaces: {from: All}}", plain: true,
			labelled: true, a1: true},
		{name: "all namespaces", selector: "{namespaces: {from: All}}", form: policy.RefForm{NamespacesField: true},
			plain: true, labelled: true, a1: true, unknown: true, abroad: true, blessed: true},
		{name: "some namespaces", selector: "{namespaces: {from: Selector, selector: {matchLabels: {good: 'yes'}}}}",
			form: policy.RefForm{NamespacesField: true}, plain: true, labelled: true, a1: true, blessed: true},
	} {
		c.form.At, c.form.Selector = []string{"spec", "s"}, true
		k := usual(t)
		k.Refs = []policy.RefForm{c.form}
		p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{s: [{kind: Service, "+
			strings.TrimPrefix(c.selector, "{")+"]}"))
		if len(p.Refs) != 1 {
			t.Errorf("%s: %+v", c.name, p.Problems)
			continue
		}
		s := p.Refs[0].Selection
		service := func(labels string) bool {
			return s.SelectsObject(paint.Read(t, "apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: "+labels+
				"}"))
		}
		if service("{}") != c.plain || service("{x: y}") != c.labelled || service("{a: '1'}") != c.a1 {
			t.Errorf("%s: picks %v %v %v", c.name, service("{}"), service("{x: y}"), service("{a: '1'}"))
		}
		if s.IncludesNamespace(false, nil) != c.unknown ||
			s.IncludesNamespace(false, namespace("{x: y}")) != c.abroad ||
			s.IncludesNamespace(false, namespace("{good: 'yes'}")) != c.blessed || s.Everywhere ||
			s.IncludesNamespace(true, nil) == strings.Contains(c.selector, "Selector") && c.form.NamespacesField {
			t.Errorf("%s: looks into %v %v %v", c.name, s.IncludesNamespace(false, nil), s.IncludesNamespace(false,
				namespace("{x: y}")), s.IncludesNamespace(false, namespace("{good: 'yes'}")))
		}
	}
	for _, bad := range []string{"matchLabels: [a]", "matchLabels: {a: [1]}", "matchExpressions: {a: b}",
		"matchExpressions: [{key: a, operator: Like, values: [x]}]", "matchLabels: {'a b': c}"} {
		k := usual(t)
		if p := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{targetSelectors: [{kind: Service, "+bad+
			"}]}")); len(p.Refs) != 0 || p.Problems[0].Code != model.NotEvaluated {
			t.Errorf("%s: %+v", bad, p.Problems)
		}
	}
}

func TestDecodeDoesNotKeepTheObject(t *testing.T) { // a decoded policy must not write to the snapshot
	o := painted(t, "{"+paint.ToGateway+
		", unset: [limits.b, limits.a], defaults: {limits: x, when: [1]}, limits: {a: {b: 1}}}")
	before := o.Body
	p := NewReader(described(t, paint.Limits()...), &expression.Conditions{}).ReadPolicy(o)
	p.RenderDocument(map[string]any{"limits": map[string]any{}})
	if o.Body != before {
		t.Errorf("the object was changed: %v", o.Body.Value())
	}
}

func TestRender(t *testing.T) { // metadata of the policy, containers always there, self-contained
	o := paint.Read(t,
		"apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: demo, labels: {team: a}}\nspec: {"+
			paint.ToGateway+"}")
	p := NewReader(described(t, paint.Limits()...), &expression.Conditions{}).ReadPolicy(o)
	for when, want := range map[string]bool{
		"size(spec.limits) == 0":      true,
		"!has(spec.limits.a)":         true,
		"metadata.labels.team == 'a'": true,
		"metadata.name == 'p' && metadata.namespace == 'demo' && kind == 'Paint' && apiVersion == 'x.io/v1'": true,
		"self.spec == spec && self.metadata.annotations == {}":                                               true,
		"!has(spec.targetRef) && !has(spec.defaults)":                                                        true,
	} {
		got, err := (&expression.Conditions{}).Compile(when).Holds(p.RenderDocument(nil))
		if err != nil || got != want {
			t.Errorf("%s: %v %v", when, got, err)
		}
	}
}

func TestOriginOfRules(t *testing.T) {
	o := painted(t, "{"+paint.ToGateway+", overrides: {limits: {a: 1}}}")
	o.Body = model.Pack(o.Body.Value(), lines{"spec.overrides.limits.a": 9}.at)
	p := NewReader(described(t, paint.Limits()...), &expression.Conditions{}).ReadPolicy(o)
	if got := p.OriginOf(merge.Overrides, merge.KeyPath("limits", "a")).Line; got != 9 {
		t.Errorf("line %d", got)
	}
	if got := p.OriginOf(merge.Bare, merge.Path{{Name: "limits"}, {Name: "x", Form: merge.Entry}}).Line; got != 1 {
		t.Errorf("line %d", got)
	}
}

// lines are the lines of some paths.
type lines map[string]int

func (l lines) at(path ...string) int { return l[strings.Join(path, ".")] }
