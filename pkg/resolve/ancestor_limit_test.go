package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const refusing = "targets: [Gateway, HTTPRoute, Service]\neffective: [rule, backend]\nfold: bottomUp\nstrategy: merge\nrules: fields\nstatus: {overflow: refuse}\n"

// others is the status of a policy about which other controllers have written so many entries.
func others(n int) string {
	entry := "{controllerName: other.io/x, ancestorRef: {name: g}}"
	return "status: {ancestors: [" + strings.TrimSuffix(strings.Repeat(entry+", ", n), ", ") + "]}\n"
}

// A policy is not attached where its status has no room left (gep713 P38).
func TestNoRoomForTargets(t *testing.T) {
	world := []string{gateway("east", "a"), route("x", "east", "svc"), route("y", "east", "svc"), service("svc")}
	for _, c := range []struct {
		foreign         int
		x, y, codes, in string
	}{
		{14, "wall=red(p)", "wall=red(p)", "", refusing},
		{15, "wall=red(p)", "", "AncestorLimit p", refusing},
		{16, "", "", "AncestorLimit p", refusing},
		{16, "wall=red(p)", "wall=red(p)", "", strings.Replace(refusing, "refuse", "report", 1)},
	} {
		r := describedBy(t, c.in, append(slices.Clone(world), paint("app/p", "HTTPRoute/x HTTPRoute/y", "wall: red")+
			others(c.foreign))...)
		if x, y := r.results(t, "app:HTTPRoute/x/r1"), r.results(t, "app:HTTPRoute/y/r1"); x != c.x || y != c.y {
			t.Errorf("%d: x %q, y %q", c.foreign, x, y)
		}
		if got := strings.Join(r.codes(), ", "); got != c.codes {
			t.Errorf("%d: %s, want %s", c.foreign, got, c.codes)
		}
	}
}

// Of a Service the ancestors are Gateways: a policy is in force on the ways through those that have
// room.
func TestNoRoomForGateways(t *testing.T) {
	var world []string
	names := []string{}
	for i := range 17 {
		name := fmt.Sprintf("g%02d", i)
		world, names = append(world, gateway(name, "a")), append(names, name)
	}
	world = append(world, route("shop", strings.Join(names, " "), "svc"), service("svc"), paint("app/p", "Service/svc",
		"wall: red"), paint("infra/g", "Gateway/g16", "wall: blue"))
	r := describedBy(t, refusing, world...)
	if got, want := r.results(t, "app:Service/svc"), "wall=blue(g) -wall(p) Invalid>\nwall=red(p)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	k := r.paints()
	if got := k.RefusedAncestors(k.Policies[0]); len(got) != 1 || got[0].Name != "g16" {
		t.Error(got)
	}
}
