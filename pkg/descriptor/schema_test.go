package descriptor

import (
	"errors"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// described reads user descriptors and settings without any vendor.
func described(text string, settings ...string) (*Catalog, error) {
	return NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(text)}}, settings, Functions{})
}

// kindOf is the kind that a descriptor with the given lines describes.
func kindOf(t testing.TB, lines ...string) *policy.Kind {
	t.Helper()
	c, err := described(paint.Kind(lines...))
	if err != nil {
		t.Fatal(err)
	}
	return c.Kind(paint.GroupKind)
}

const vendorDoc = "apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\nname: v\n"

func TestWrongDescriptors(t *testing.T) { // every mistake with file, line and a message that names it
	for _, c := range []struct{ name, text, want string }{
		{"unknown field", paint.Kind("tragets: []"), `kinds.yaml:4: unknown field "tragets" (did you mean "targets"?)`},
		{"field twice", paint.Kind("plural: a", "plural: b"), `kinds.yaml:5: field "plural" is written twice`},
		{"wrong type of a text", paint.Kind("plural: [a]"), "kinds.yaml:4: a text is expected here"},
		{"number for a text", paint.Kind("plural: 7"), "kinds.yaml:4: a text is expected here"},
		{"wrong type of a flag", paint.Kind("cluster: maybe"), "kinds.yaml:4: true or false is expected here"},
		{"wrong type of a list", paint.Kind("targets: Gateway"), "kinds.yaml:4: a list is expected here"},
		{"wrong type of an entry", paint.Kind("targets: [{kind: Gateway}]"), "kinds.yaml:4: a text is expected here"},
		{"wrong type of an object", paint.Kind("content: [spec]"), "kinds.yaml:4: an object is expected here"},
		{"no such section", paint.Kind("targets: [HTTPRoute/listener]"),
			`kinds.yaml:4: HTTPRoute has no section "listener"`},
		{"section of a kind without", paint.Kind("targets: [Gateway, Widget.x.io/part]"),
			`kinds.yaml:4: Widget has no section "part"`},
		{"unknown strategy", paint.Kind("strategy: mix"),
			`kinds.yaml:4: "mix" is no strategy (atomic, merge, patch, none, union)`},
		{"unknown side", paint.Kind("strategy: merge both"), `kinds.yaml:4: "both" is no side (defaults, overrides)`},
		{"two spaces", paint.Kind("strategy: merge  defaults"),
			`kinds.yaml:4: " defaults" is no side (defaults, overrides)`},
		{"unknown strategy of a value", paint.Kind("strategy: {read: [spec.m], values: {Deep: deep}}"),
			`kinds.yaml:4: "deep" is no strategy`},
		{"strategy as a list", paint.Kind("strategy: [merge]"), "kinds.yaml:4: an object is expected here"},
		{"place of a strategy", paint.Kind("strategy: {read: [metadata.x]}"),
			`kinds.yaml:4: "metadata.x" is no place of a strategy`},
		{"evaluator that nobody registered", paint.Kind("evaluate: {func: v.F}"),
			`kinds.yaml:4: there is no function "v.F" to judge requests`},
		{"writer that nobody registered", paint.Kind("status: {func: v.Conditions}"),
			`kinds.yaml:4: there is no function "v.Conditions" to write conditions`},
		{"check that nobody registered", paint.Kind("checks:", "- {func: v.Check}"),
			`kinds.yaml:5: there is no function "v.Check" to check policies`},
		{"lint that nobody registered", paint.Kind("lints: [{func: v.Lint}]"),
			`kinds.yaml:4: there is no function "v.Lint" to look for findings`},
		{"claim beside plans", paint.Kind("invalid: claim", "resolve: [{levels: [rule]}]"),
			"kinds.yaml:1: a kind with plans cannot let policies in error claim their place yet"},
		{"marker that nobody registered", paint.Kind("status:", "  marks: {func: v.Marks}"),
			`kinds.yaml:5: there is no function "v.Marks" to write marks`},
		{"empty members", paint.Kind("", "members: []"), `kinds.yaml:5: the list is empty`},
		{"member that is not described", paint.Kind("members: [Other.x.io]"),
			`kinds.yaml:4: there is no descriptor of member Other.x.io`},
		{"member without a group", paint.Kind("members: [Other]"), `kinds.yaml:4: "Other" is no policy kind`},
		{"rejected whole beside others", paint.Kind("sameTarget: fill", "rejects: policy"),
			"kinds.yaml:1: rejects: policy goes with sameTarget: conflict or disjoint"},
		{"word unknown", paint.Kind("sameTarget: newest"),
			`kinds.yaml:4: "newest" is not one of stack, oldest, first, conflict, fill`},
		{"class", paint.Kind("class: Direct"), `kinds.yaml:4: "Direct" is not one of inherited, direct`},
		{"fold", paint.Kind("fold: topDown"), `kinds.yaml:4: "topDown" is not one of checked, bottomUp`},
		{"namespaces", paint.Kind("namespaces: all"), `kinds.yaml:4: "all" is not one of own, grant, any`},
		{"result", paint.Kind("result: list"), `kinds.yaml:4: "list" is not one of names, evaluation`},
		{"comparator key", paint.Kind("compare: [level, age]"), `kinds.yaml:4: "age" is not one of level, created`},
		{"comparator with the level behind", paint.Kind("compare: [created, level]"),
			`kinds.yaml:4: "level" must be the first key`},
		{"comparator object", paint.Kind("compare: [level, {descending: true}]"),
			`kinds.yaml:4: a key needs "field", "label", "annotation" or "func"`},
		{"comparator of two things", paint.Kind("compare: [level, {field: spec.x, label: y}]"),
			"kinds.yaml:4: a key compares one thing, field or label"},
		{"comparator func", paint.Kind("compare: [level, {func: v.C}]"),
			`kinds.yaml:4: there is no function "v.C" to compare policies`},
		{"effective role", paint.Kind("effective: [rules]"),
			`kinds.yaml:4: "rules" is not one of gatewayClass, gateway`},
		{"level of a plan", paint.Kind("resolve: [{levels: [gatway]}]"), `kinds.yaml:4: "gatway" is not one of`},
		{"levels and members", paint.Kind("resolve: [{levels: [rule], of: [{levels: [gateway]}]}]"),
			"kinds.yaml:4: a plan has levels or members, not both"},
		{"same target of a plan", paint.Kind("resolve: [{sameTarget: first}]"),
			`kinds.yaml:4: "first" is not one of stack, fill`},
		{"plan for a fact that there is not", paint.Kind("resolve: [{for: {weather: [rain]}}]"),
			`kinds.yaml:4: unknown field "weather"`},
		{"plan read nowhere", paint.Kind("resolve: [{strategy: {read: [block.x], values: {a: merge}}}]"),
			`kinds.yaml:4: "block.x" is no place of a plan`},
		{"plan func", paint.Kind("resolve: [{func: v.P}]"),
			`kinds.yaml:4: there is no function "v.P" to resolve policies`},
		{"plan field unknown", paint.Kind("resolve:", "- {levels: [rule]}", "- {level: [rule]}"),
			`kinds.yaml:6: unknown field "level" (did you mean "levels"?)`},
		{"reference form", paint.Kind("refs: [{at: spec.x, form: labels}]"),
			`kinds.yaml:4: "labels" is not one of ref, selector, filter, subject, named`},
		{"reference func", paint.Kind("refs: [{func: v.A}]"),
			`kinds.yaml:4: there is no function "v.A" to find targets`},
		{"reference without a place", paint.Kind("refs: [{form: ref}]"), `kinds.yaml:4: field "at" is missing`},
		{"content", paint.Kind("content: {field: [a]}"),
			`kinds.yaml:4: unknown field "field" (did you mean "fields"?)`},
		{"content nulls", paint.Kind("content: {nulls: keep}"), `kinds.yaml:4: "keep" is not one of`},
		{"blocks", paint.Kind("content: {blocks: {default: spec.default}}"),
			`kinds.yaml:4: unknown field "default" (did you mean "defaults"?)`},
		{"rules word", paint.Kind("rules: named"),
			`kinds.yaml:4: "named" is not one of whole, fields, entries, leaves`},
		{"stars inside a segment", paint.Kind("rules: [a.*b]"), `kinds.yaml:4: "*b" is no segment of a pattern`},
		{"two stars in the middle", paint.Kind(`rules: ["a.**.b"]`), `kinds.yaml:4: "**" is no segment of a pattern`},
		{"a modifier without anything to say", paint.Kind(`rules: ["**.a"]`),
			"kinds.yaml:4: a pattern that begins with ** says"},
		{"empty segment", paint.Kind("rules: [a..b]"), `kinds.yaml:4: "" is no segment of a pattern`},
		{"order without keys", paint.Kind("rules: [{path: a, order: patch}]"),
			"kinds.yaml:4: only a keyed list has an order"},
		{"numbers that nobody gives", paint.Kind("rules: [{path: a, list: numbers}]"),
			"kinds.yaml:1: entries with numbers take a plan with a function"},
		{"pattern field", paint.Kind("rules: [{path: a, key: [b]}]"),
			`kinds.yaml:4: unknown field "key" (did you mean "keys"?)`},
		{"duplicate kind", paint.Kind() + "---\n" + paint.Kind(),
			"kinds.yaml:6: Paint.x.io is described twice, in kinds.yaml:1 as well"},
		{"no kind", "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\n",
			`kinds.yaml:1: field "for" must be Kind.group`},
		{"core kind", "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint\n",
			`kinds.yaml:1: field "for" must be Kind.group`},
		{"version", "apiVersion: v1\nkind: PolicyKind\nfor: Paint.x.io\n",
			"kinds.yaml:1: apiVersion must be dopolicy.dev/v1alpha1"},
		{"document kind", "apiVersion: dopolicy.dev/v1alpha1\nkind: Policy\n",
			`kinds.yaml:1: kind must be PolicyKind or Vendor, not "Policy"`},
		{"no mapping", "- a\n", "kinds.yaml:1: apiVersion must be dopolicy.dev/v1alpha1"},
		{"extends nothing", paint.Kind("extends: Other.x.io"),
			`kinds.yaml:4: there is no descriptor "Other.x.io" to extend`},
		{"extends itself", paint.Kind("extends: Paint.x.io"),
			`kinds.yaml:4: there is no descriptor "Paint.x.io" to extend`},
		{"extends an extension", paint.Kind() + "---\n" + strings.Replace(paint.Kind("extends: Paint.x.io"), "Paint",
			"A", 1) + "---\n" + strings.Replace(paint.Kind("extends: A.x.io"), "Paint", "B", 1),
			`A.x.io extends another descriptor itself: one level only`},
		{"variant without set", paint.Kind("variants: [{when: {setting: s, is: a}}]"),
			`kinds.yaml:4: a variant needs "when" with "setting" and either "is" or "below", and "set"`},
		{"variant with both", vendorDoc + "settings: [{name: s, default: '1', doc: d, type: version}]\n---\n" +
			paint.Kind("variants: [{when: {setting: s, is: a, below: '1'}, set: {}}]"), `either "is" or "below"`},
		{"variant below what is no version", paint.Kind("variants: [{when: {setting: s, below: new}, set: {}}]"),
			`kinds.yaml:4: "new" is no version`},
		{"default that is no version", vendorDoc + "settings: [{name: s, default: new, doc: d, type: version}]\n",
			`kinds.yaml:4: the default "new" of setting s is no version`},
		{"zero values", paint.Kind("content: {zero: gone}"), `kinds.yaml:4: "gone" is not one of set, unset, tail`},
		{"listeners of a reference", paint.Kind("refs: [{at: spec.x, listeners: all}]"),
			`kinds.yaml:4: "all" is not one of own, sets`},
		{"listener sets", paint.Kind("listenerSets: all"), `kinds.yaml:4: "all" is not one of taken, named, none`},
		{"variant of an unknown setting", paint.Kind("variants: [{when: {setting: s, is: a}, set: {}}]"),
			`kinds.yaml:4: there is no setting "user.s"`},
		{"variant field", paint.Kind("variants: [{if: {}, set: {}}]"), `kinds.yaml:4: unknown field "if"`},
		{"variants no list", paint.Kind("variants: {}"), "kinds.yaml:4: a list is expected here"},
		{"set with a mistake", vendorDoc + "settings: [{name: s, values: [a], default: a, doc: d}]\n---\n" +
			paint.Kind("variants: [{when: {setting: s, is: a}, set: {plural: [x]}}]"),
			"kinds.yaml:9: a text is expected here"},
		{"vendor without a name", "apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\n",
			`kinds.yaml:1: field "name" is missing`},
		{"vendor field", vendorDoc + "setting: []\n",
			`kinds.yaml:4: unknown field "setting" (did you mean "settings"?)`},
		{"route kind without group", vendorDoc + "routes: [{kind: Way, like: HTTPRoute}]\n",
			`kinds.yaml:4: field "kind" must be Kind.group`},
		{"route kind like nothing", vendorDoc + "routes: [{kind: Way.ways.example.com, like: Gateway}]\n",
			`kinds.yaml:4: field "like" must be a kind of routes of the Gateway API, not "Gateway"`},
		{"parent of a route kind",
			vendorDoc + "routes: [{kind: Way.ways.example.com, like: HTTPRoute, parents: [Pod]}]\n",
			`kinds.yaml:4: field "parents" can have Gateway and Service, not "Pod"`},
		{"setting without doc", vendorDoc + "settings: [{name: s}]\n",
			`kinds.yaml:4: a setting needs "name" and "doc"`},
		{"setting type", vendorDoc + "settings: [{name: s, doc: d, type: int}]\n",
			`kinds.yaml:4: "int" is not one of text, bool`},
	} {
		_, err := described(c.text)
		var mistakes *form.Error
		if !errors.As(err, &mistakes) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestAllMistakesOfADocumentAreListed(t *testing.T) {
	_, err := described(paint.Kind("tragets: []", "plural: 7", "fold: up"))
	if got := strings.Count(err.Error(), "kinds.yaml:"); got != 3 {
		t.Errorf("%d lines: %v", got, err)
	}
}

func TestExtends(t *testing.T) { // fields of the extension replace, the others stay
	c, err := described(paint.Kind("plural: paints", "targets: [Gateway, HTTPRoute]", "rules: [limits.*]") + "---\n" +
		strings.Replace(paint.Kind("extends: Paint.x.io", "targets: [HTTPRoute]"), "Paint", "Varnish", 1))
	if err != nil {
		t.Fatal(err)
	}
	k := c.Kind(model.GroupKind{Group: "x.io", Kind: "Varnish"})
	if len(k.Targets) != 1 || k.DescribeRules() != "limits.*" || k.GroupKind.Kind != "Varnish" {
		t.Errorf("%+v", k)
	}
}

func TestVariants(t *testing.T) { // for every setting the first that holds is patched on; nulls delete
	text := vendorDoc +
		"settings:\n- {name: mode, values: [a, b, c], default: a, doc: d}\n- {name: flag, type: bool, default: \"true\", doc: d}\n---\n" +
		paint.Kind("plural: as", "content: {condition: when, unset: [unset]}", "variants:",
			"- {when: {setting: mode, is: b}, set: {plural: bs, content: {condition: null}}}",
			"- {when: {setting: mode, is: b}, set: {plural: later}}",
			"- {when: {setting: flag, is: false}, set: {plural: off}}")
	for _, c := range []struct {
		settings          []string
		plural, condition string
	}{
		{nil, "as", "when"}, {[]string{"v.mode=b"}, "bs", ""}, {[]string{"v.flag=false"}, "off",
			"when"}, {[]string{"v.flag=false", "v.mode=b"}, "off", ""},
	} {
		cat, err := described(text, c.settings...)
		if err != nil {
			t.Fatal(err)
		}
		k := cat.Kind(model.GroupKind{Group: "x.io", Kind: "Paint"})
		if k.Plural != c.plural || k.Content.Condition != c.condition || len(k.Content.Unset) != 1 {
			t.Errorf("%v: %s %+v", c.settings, k.Plural, k.Content)
		}
	}
}

func TestUserDescriptorReplacesVendors(t *testing.T) {
	vendors := []form.Source{{Name: "vendor.yaml", Text: []byte(vendorDoc + "---\n" + paint.Kind("plural: old"))}}
	c, err := NewCatalog(vendors, []form.Source{{Name: "mine.yaml", Text: []byte(paint.Kind("plural: new"))}},
		nil, Functions{})
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Kind(paint.GroupKind); k.Plural != "new" || k.Source != "mine.yaml" || k.IsGeneric() {
		t.Errorf("%+v", k)
	}
	if len(c.Kinds()) != 1 {
		t.Errorf("%d kinds", len(c.Kinds()))
	}
}

func TestSettings(t *testing.T) {
	text := vendorDoc +
		"settings:\n- {name: mode, values: [a, b], default: a, doc: d}\n- {name: flag, type: bool, default: \"true\", doc: d}\n- {name: s, values: [atomic, merge, patch], alias: gatewayapi.genericStrategy, doc: d}\n"
	for _, c := range []struct{ setting, want, hint string }{
		{"v.mode", `vendor setting "v.mode" has no value`, "write NAME=VALUE"},
		{"v.mode=c", `vendor setting v.mode cannot be "c"`, "use one of: a, b"},
		{"v.flag=yes", `vendor setting v.flag cannot be "yes"`, "use one of: true, false"},
		{"v.mod=a", `unknown vendor setting "v.mod"`, "did you mean v.mode?"},
		{"zzzzzzzzzz=a", `unknown vendor setting "zzzzzzzzzz"`,
			"known settings: gatewayapi.checkCertificates, gatewayapi."},
	} {
		_, err := described(text, c.setting)
		var wrong *SettingError
		if !errors.As(err, &wrong) || err.Error() != c.want || !strings.HasPrefix(wrong.Hint, c.hint) {
			t.Errorf("%s: %v %+v", c.setting, err, wrong)
		}
	}
	c, err := described(text, "v.mode=b", `v.mode="a"`, "v.flag=false", "v.s=patch")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Settings()
	if s.Text("v.mode") != "a" || s.Bool("v.flag") || s.Text(genericStrategySetting) != "patch" {
		t.Errorf("later wins, quotes are JSON, an alias stands for the core setting: %+v", s)
	}
}

func TestDescriptorDefaults(t *testing.T) {
	k := kindOf(t)
	if k.Plural != "paints" || k.SameTarget != policy.Stacked || k.Namespaces != policy.OwnNamespace ||
		!k.ChecksDirection || k.DescribeRules() != "entries" || k.Direct {
		t.Errorf("%+v", k)
	}
	if len(k.Refs) != 3 || !k.Refs[2].Selector {
		t.Errorf("refs %+v", k.Refs)
	}
	direct := kindOf(t, "class: direct", "targets: [Service]")
	if !direct.Direct || direct.SameTarget != policy.Conflict || direct.StrategyNames()[0] != "none" ||
		len(direct.Effective) != 1 || direct.Effective[0] != "backend" {
		t.Errorf("direct: %+v", direct)
	}
	if k := kindOf(t, "targets: [Gateway]"); len(k.Effective) != 1 || k.Effective[0] != "rule" {
		t.Errorf("effective of a kind that targets gateways: %v", k.Effective)
	}
	if k := kindOf(t, "rules: [{path: a, keys: [id]}]"); k.Rules[0].As != merge.Entry {
		t.Errorf("entries of a keyed list are printed [name]: %+v", k.Rules)
	}
}

func TestPlural(t *testing.T) {
	for kind, want := range map[string]string{"Policy": "policies", "Gateway": "gateways", "Box": "boxes",
		"Class": "classes", "Batch": "batches", "Y": "ies"} {
		if got := PluralOf(kind); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

func TestSyntaxErrorsNameTheLine(t *testing.T) { // form.Error: each line as file:line: what
	_, err := described("apiVersion: a\n\tkind: b\n")
	if err == nil || !strings.HasPrefix(err.Error(), "kinds.yaml:2: ") {
		t.Errorf("got %v", err)
	}
}
