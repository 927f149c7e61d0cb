package protect

import (
	"encoding/json"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// TestConstants: only what decides nothing is a constant.
func TestConstants(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"rego", `"allow = true"`, "AllowsAll"},
		{"rego", `"package x\nimport rego.v1\n# all\ndefault allow := true"`, "AllowsAll"},
		{"rego", `"allow { true }"`, "AllowsAll"},
		{"rego", `"allow if { true }"`, "AllowsAll"},
		{"rego", `"default allow = false\nallow { input.x == 1 }"`, ""},
		{"rego", `"default allow = true\nallow = false { input.x == 1 }"`, ""},
		{"rego", `""`, ""},
		{"cel", `"true"`, "AllowsAll"},
		{"cel", `" (true) "`, "AllowsAll"},
		{"cel", `"request.method == 'GET'"`, ""},
		{"patterns", `[]`, "AllowsAll"},
		{"patterns", `[{"predicate": "x"}]`, ""},
		{"cidr", `["10.0.0.0/8"]`, ""},
		{"cidr", `["10.0.0.0/8", "0.0.0.0/0"]`, "AnyAddress"},
		{"cidr", `"::/0"`, "AnyAddress"},
		{"origins", `["https://a.example"]`, ""},
		{"origins", `["https://a.example", "*"]`, "AnyOrigin"},
	} {
		var value any
		if err := json.Unmarshal([]byte(c.value), &value); err != nil {
			t.Fatal(err)
		}
		if got := findConstant(c.kind, value); got != gate.Code(c.want) {
			t.Errorf("%s %s: %q, want %q", c.kind, c.value, got, c.want)
		}
	}
}

// TestDecision: what a list of rules says of requests of which identity, address and other facts
// are not known.
func TestDecision(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(d *Decision)
		want   Findings
	}{
		"nobody": {func(d *Decision) { d.Allows = func(func(Fact) bool) bool { return false } },
			Findings{gate.Holds, gate.Holds, gate.Fails, true, false}},
		"all": {func(d *Decision) { d.Allows = func(func(Fact) bool) bool { return true } },
			Findings{gate.Fails, gate.Fails, gate.Fails, false, false}},
		"identity": {func(d *Decision) {
			who := d.AddFact(Identity)
			d.Allows = func(holds func(Fact) bool) bool { return holds(who) }
		}, Findings{gate.Holds, gate.Holds, gate.Fails, false, true}},
		"identity or address": {func(d *Decision) {
			who, where := d.AddFact(Identity), d.AddFact(Address)
			d.Allows = func(holds func(Fact) bool) bool { return holds(who) || holds(where) }
		}, Findings{gate.Fails, gate.Holds, gate.Fails, false, true}},
		"identity and address": {func(d *Decision) {
			who, where := d.AddFact(Identity), d.AddFact(Address)
			d.Allows = func(holds func(Fact) bool) bool { return holds(who) && holds(where) }
		}, Findings{gate.Holds, gate.Holds, gate.Holds, false, true}},
		"not that address": {func(d *Decision) {
			where := d.AddFact(Address)
			d.Allows = func(holds func(Fact) bool) bool { return !holds(where) }
		}, Findings{gate.Fails, gate.Holds, gate.Holds, false, false}},
		"identity or an expression": {func(d *Decision) {
			who, what := d.AddFact(Identity), d.AddFact(Unknown)
			d.Allows = func(holds func(Fact) bool) bool { return holds(who) || holds(what) }
		}, Findings{gate.Depends, gate.Holds, gate.Fails, false, true}},
		"networks apart": {func(d *Decision) {
			one, two := d.AddNetworks("client", []any{"10.0.0.0/8"}), d.AddNetworks("client", []any{"192.0.2.0/24"})
			d.Allows = func(holds func(Fact) bool) bool { return holds(one) && holds(two) }
		}, Findings{gate.Holds, gate.Holds, gate.Holds, true, false}},
		"a network in another one": {func(d *Decision) {
			wide, narrow := d.AddNetworks("client", []any{"10.0.0.0/8"}), d.AddNetworks("client",
				[]any{"10.1.2.3", "10.1.0.0/16"})
			d.Allows = func(holds func(Fact) bool) bool { return holds(wide) || !holds(narrow) }
		}, Findings{gate.Fails, gate.Fails, gate.Fails, false, false}},
		"networks of two addresses": {func(d *Decision) {
			one, two := d.AddNetworks("client", []any{"10.0.0.0/8"}), d.AddNetworks("connection", []any{"192.0.2.0/24"})
			d.Allows = func(holds func(Fact) bool) bool { return holds(one) && holds(two) }
		}, Findings{gate.Fails, gate.Holds, gate.Holds, false, false}},
		"too many": {func(d *Decision) {
			for range mostFacts + 1 {
				d.AddFact(Identity)
			}
			d.Allows = func(func(Fact) bool) bool { return false }
		}, Findings{gate.Holds, gate.Holds, gate.Fails, true, true}},
	} {
		var d Decision
		c.decide(&d)
		if got := d.Judge(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestCoversAll: several networks together may cover an address family.
func TestCoversAll(t *testing.T) {
	for _, test := range []struct {
		networks any
		want     bool
	}{
		{"0.0.0.0/0", true},
		{"10.0.0.0/8", false},
		{"10.0.0.1", false},
		{[]any{"0.0.0.0/1", "128.0.0.0/1"}, true},
		{[]any{"128.0.0.0/1", "64.0.0.0/2", "0.0.0.0/2"}, true},
		{[]any{"0.0.0.0/1", "192.0.0.0/2"}, false},
		{[]any{"10.0.0.0/8", "::/0"}, true},
		{[]any{"0.0.0.0/1", "8000::/1"}, false},
		{nil, false},
	} {
		if got := CoversAll(test.networks); got != test.want {
			t.Errorf("%v: %v", test.networks, got)
		}
	}
}
