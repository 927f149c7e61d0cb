package health

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// newKind is a kind with a name and a status.
func newKind(name string, s policy.StatusWords) *policy.Kind {
	k := &policy.Kind{Vendor: "user"}
	k.GroupKind, k.Status = model.ParseGroupKind(name), s
	return k
}

func TestListChecks(t *testing.T) {
	accepted := policy.StatusWords{Health: &policy.HealthWords{Required: []string{"Accepted"}}}
	state := func(at string) policy.StatusWords {
		return policy.StatusWords{Func: "f", States: []policy.StateField{{At: strings.Split(at, "."),
			Healthy: []string{"Good"}}}}
	}
	virtual, generic := newKind("Virtual.example.com", accepted), newKind("Generic.example.com", accepted)
	virtual.Virtual, generic.Vendor = true, ""
	out := ListChecks([]*policy.Kind{newKind("B.example.com", accepted),
		newKind("A.example.com", state("status.x.*.state")),
		newKind("C.example.com", state("status.state")), virtual, generic,
		newKind("D.example.com", state("status.*.*.state")), newKind("E.example.com", state(`status.x"y`)),
		newKind("F.example.com", state("spec.state")), newKind("Bad: x.example.com", accepted),
		newKind("G.exam\nple", accepted),
		newKind("H.example.com", policy.StatusWords{NoConditions: true}),
		newKind("I.example.com", policy.StatusWords{NoConditions: true, Unstated: true}),
		newKind("J.example.com", policy.StatusWords{})}, func(gk model.GroupKind) string {
		if gk.Kind == "A" {
			return "v1beta2"
		}
		return ""
	})
	var have []string
	for _, c := range out.All {
		have = append(have, c.APIVersion+" "+c.Kind.Kind)
	}
	if want := "example.com/v1beta2 A, example.com/v1 B, example.com/v1 C"; strings.Join(have, ", ") != want {
		t.Errorf("checks: %v, want %s", have, want)
	}
	have = nil
	for _, l := range out.LeftOut {
		for _, gk := range l.Kinds {
			have = append(have, string(l.Reason[:12])+" "+gk.Kind)
		}
	}
	if want := "Nothing says I, Nothing says J, Nothing says D, Nothing says E, Nothing says F, Their contro H, " +
		"Their names  G, Their names  Bad: x"; strings.Join(have, ", ") != want {
		t.Errorf("left out: %s\nwant: %s", strings.Join(have, ", "), want)
	}
}

func TestNamesStayInComments(t *testing.T) {
	c := ListChecks([]*policy.Kind{newKind("A.exam\nple: x", policy.StatusWords{Health: &policy.HealthWords{
		Required: []string{"Accepted"}}})}, func(model.GroupKind) string { return "" })
	for _, text := range []string{c.FormatConfigMap(), c.FormatFluxPatch()} {
		for line := range strings.Lines(text) {
			if strings.Contains(line, "ple") && !strings.HasPrefix(line, "#") {
				t.Errorf("a name is no comment: %q", line)
			}
		}
		if !strings.Contains(text, `'A.exam\U0000000aple: x'`) {
			t.Errorf("the kind is not named: %s", text)
		}
	}
}

func TestQuotes(t *testing.T) {
	for text, want := range map[string][2]string{
		"Accepted":    {`"Accepted"`, `'Accepted'`},
		"a.b/C-d_e":   {`"a.b/C-d_e"`, `'a.b/C-d_e'`},
		`"]]--` + "`": {`"\034\093\093--\096"`, `'\U00000022\U0000005d\U0000005d--\U00000060'`},
		"'\\\n":       {`"\039\092\010"`, `'\U00000027\U0000005c\U0000000a'`},
		"é":           {`"\195\169"`, `'\U000000e9'`},
	} {
		if lua, cel := quoteLua(text), quoteCEL(text); lua != want[0] || cel != want[1] {
			t.Errorf("%q: %s, %s; want %v", text, lua, cel, want)
		}
	}
}
