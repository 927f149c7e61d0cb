package resolve

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

const disjoint = "targets: [Gateway, HTTPRoute]\nsameTarget: disjoint\nfold: bottomUp\nstrategy: merge\nrules: [walls.*, {path: signs, list: append}]\n"

// Policies on one target stand beside each other, as long as they set different rules (engine E8).
func TestDisjoint(t *testing.T) {
	world := []string{gateway("east", "a"), route("x", "east", "svc"), route("y", "east", "svc"), service("svc")}
	for _, c := range []struct {
		name, lines string
		paints      []string
		want        map[string]string
		codes       string
	}{
		{"different rules", "", []string{paint("app/b@1", "HTTPRoute/x", "walls: {north: red}"),
			paint("app/a@2", "HTTPRoute/x", "walls: {south: blue}")},
			map[string]string{"x": "walls.north=red(b) walls.south=blue(a)"}, ""},
		{"one rule twice, the older stays", "", []string{paint("app/b@1", "HTTPRoute/x", "walls: {north: red}"),
			paint("app/a@2", "HTTPRoute/x", "walls: {north: red, south: blue}")},
			map[string]string{"x": "walls.north=red(b) -walls.north(a) Conflicted>b -walls.south(a) Conflicted>b"}, ""},
		{"who has lost is in nobody's way", "", []string{paint("app/a@1", "HTTPRoute/x", "walls: {north: red}"),
			paint("app/b@2", "HTTPRoute/x", "walls: {north: red, south: blue}"), paint("app/c@3", "HTTPRoute/x",
				"walls: {south: green}")},
			map[string]string{
				"x": "walls.north=red(a) walls.south=green(c) -walls.north(b) Conflicted>a -walls.south(b) Conflicted>a"}, ""},
		{"lists that are joined", "", []string{paint("app/a@1", "HTTPRoute/x", "signs: [one]"),
			paint("app/b@2", "HTTPRoute/x", "signs: [two]")},
			map[string]string{"x": "signs=[one two](a,b)"}, ""},
		{"a container without anything", "", []string{paint("app/a@1", "HTTPRoute/x", "walls: {}, roof: red"),
			paint("app/b@2", "HTTPRoute/x", "walls: {north: red}")},
			map[string]string{"x": "roof=red(a) walls.north=red(b)"}, ""},
		{"levels do not compete", "", []string{paint("infra/g@1", "Gateway/east", "walls: {north: red}"),
			paint("app/b@2", "HTTPRoute/x", "walls: {north: blue}")},
			map[string]string{"x": "walls.north=blue(b) -walls.north(g) MoreSpecificWins>b"}, ""},
		{"there and nowhere else", "", []string{paint("app/a@1", "HTTPRoute/x", "walls: {north: red}"),
			paint("app/b@2", "HTTPRoute/x HTTPRoute/y", "walls: {north: blue}")},
			map[string]string{"x": "walls.north=red(a) -walls.north(b) Conflicted>a", "y": "walls.north=blue(b)"}, ""},
		{"everywhere", "rejects: policy\n", []string{paint("app/a@1", "HTTPRoute/x", "walls: {north: red}"),
			paint("app/b@2", "HTTPRoute/x HTTPRoute/y", "walls: {north: blue}")},
			map[string]string{"x": "walls.north=red(a) -walls.north(b) Conflicted>a",
				"y": "-walls.north(b) Conflicted>"}, ""},
		{"it depends on which target comes first", "rejects: policy\n",
			[]string{paint("app/a@1", "HTTPRoute/x", "walls: {north: red}"),
				paint("app/b@2", "HTTPRoute/x HTTPRoute/y", "walls: {north: blue, south: blue}"), paint("app/c@3",
					"HTTPRoute/y", "walls: {south: green}")},
			map[string]string{"y": "walls.south=green(c) -walls.north(b) Conflicted> -walls.south(b) Conflicted>"},
			"OrderSensitive c"},
		{"it does not where the loser loses on both", "rejects: policy\n",
			[]string{paint("app/a@1", "HTTPRoute/x HTTPRoute/y", "walls: {north: red}"),
				paint("app/b@2", "HTTPRoute/x HTTPRoute/y", "walls: {north: blue, south: blue}"), paint("app/c@3",
					"HTTPRoute/y", "walls: {south: green}")},
			map[string]string{
				"y": "walls.north=red(a) walls.south=green(c) -walls.north(b) Conflicted>a -walls.south(b) Conflicted>a"}, ""},
		{"without creation times", "", []string{paint("app/b", "HTTPRoute/x", "walls: {north: red}"),
			paint("app/a@2", "HTTPRoute/x", "walls: {north: blue}")},
			map[string]string{"x": "walls.north=blue(a) -walls.north(b) Conflicted>a"}, "OrderUncertain b"},
	} {
		r := describedBy(t, disjoint+c.lines, slices.Concat(world, c.paints)...)
		for target, want := range c.want {
			if got := r.results(t, "app:HTTPRoute/"+target+"/r1"); got != want {
				t.Errorf("%s, %s:\n got %s\nwant %s", c.name, target, got, want)
			}
		}
		if got := strings.Join(r.codes(), ", "); got != c.codes {
			t.Errorf("%s: problems %q, want %q", c.name, got, c.codes)
		}
	}
}

// The order of the input decides nothing.
func TestDisjointInAnyOrder(t *testing.T) {
	in := input{descriptors: "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\n" + disjoint +
		"rejects: policy\n"}
	world := []string{gateway("east", "a"), route("x", "east", "svc"), route("y", "east", "svc"),
		route("z", "east", "svc"), service("svc")}
	for i, walls := range []string{"{n: 1, s: 1}", "{s: 2, e: 2}", "{e: 3}", "{w: 4, n: 4}", "{w: 5}"} {
		world = append(world, paint(fmt.Sprintf("app/p%d@%d", i, i+1),
			strings.Fields("HTTPRoute/x HTTPRoute/y HTTPRoute/z")[i%3]+" HTTPRoute/z", "walls: "+walls))
	}
	in.add(t, world...)
	first := in.run(t).results(t, "app:HTTPRoute/z/r1")
	random := rand.New(rand.NewSource(1))
	for range 20 {
		if got := in.shuffled(t, random).results(t, "app:HTTPRoute/z/r1"); got != first {
			t.Fatalf("\n got %s\nwant %s", got, first)
		}
	}
}
