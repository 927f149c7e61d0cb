package resolve

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// annex is a listener set of gateway/infra/east with the listeners a and x.
const annex = "apiVersion: gateway.networking.k8s.io/v1\nkind: ListenerSet\nmetadata: {name: annex, namespace: infra}\n" +
	"spec: {parentRef: {name: east}, listeners: [{name: a, port: 9000, protocol: HTTP}, {name: x, port: 9001, protocol: HTTP}]}\n"

// painted describes policies that mean a Gateway's listeners in its sets as well, with results at
// listeners.
const painted = "targets: [Gateway, Gateway/listener, ListenerSet, ListenerSet/listener]\neffective: [listener]\nstrategy: merge\nrules: fields\ncontent: {blocks: {}}\n" +
	"refs: [{at: spec.targetRefs, listeners: sets}]\n"

func taking() string {
	return strings.Replace(gateway("east", "a", "b"), "spec:\n",
		"spec:\n  allowedListeners: {namespaces: {from: Same}}\n", 1)
}

// a listener of the Gateway is meant in its sets, below the Gateway's policies and above the set's
func TestListenersInSets(t *testing.T) {
	wide, named := paint("infra/wide", "Gateway/east", "m: w, n: w, o: w"), paint("infra/named",
		"Gateway/east/a", "m: n, n: n")
	set, own := paint("infra/set", "ListenerSet/annex", "m: s"), paint("infra/only-x", "Gateway/east/x", "p: x")
	r := describedBy(t, painted, taking(), annex, wide, named, set, own)
	for target, want := range map[string]string{
		"infra:ListenerSet/annex/a": "m=s(set) n=n(named) o=w(wide)",
		"infra:ListenerSet/annex/x": "m=s(set) n=w(wide) o=w(wide) p=x(only-x)",
		"infra:Gateway/east/a":      "m=n(named) n=n(named) o=w(wide)",
		"infra:Gateway/east/b":      "m=w(wide) n=w(wide) o=w(wide)"} {
		if got := r.results(t, target); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	if codes := r.codes(); len(codes) > 0 {
		t.Errorf("problems: %v", codes)
	}
	r = describedBy(t, strings.Replace(painted, ", listeners: sets", "", 1), taking(), annex, named)
	if got := r.results(t, "infra:ListenerSet/annex/a"); strings.Contains(got, "named") {
		t.Errorf("without the word: %s", got)
	}
}

// what a policy keeps out stands at its own level: that of the set is not in the way of that of the
// Gateway
func TestFirstAtEveryLevelOfAPlace(t *testing.T) {
	r := describedBy(t, strings.Replace(painted, "strategy: merge", "strategy: merge\nsameTarget: first", 1),
		taking(), annex,
		paint("infra/a-set", "ListenerSet/annex/a", "m: s"), paint("infra/b-set", "ListenerSet/annex/a",
			"n: s"), paint("infra/c-door", "Gateway/east/a", "n: d"), paint("infra/d-door", "Gateway/east/a", "o: d"))
	if got, want := r.results(t,
		"infra:ListenerSet/annex/a"),
		"m=s(a-set) n=d(c-door) -n(b-set) SameLevelOrder>a-set -o(d-door) SameLevelOrder>c-door"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSetsThatAreNotTaken(t *testing.T) {
	set := paint("infra/set", "ListenerSet/annex", "m: s")
	for word, want := range map[string]string{"taken": "", "named": "m=s(set)", "none": ""} {
		r := describedBy(t, painted+"listenerSets: "+word+"\n", gateway("east", "a"), annex, set)
		if got := r.results(t, "infra:ListenerSet/annex/a"); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
		if said := strings.Join(r.said(model.NotReached), "\n"); strings.Contains(said,
			"would be in force if it did") != (word == "named") {
			t.Errorf("%s: %s", word, said)
		}
	}
	r := describedBy(t, painted+"listenerSets: none\n", taking(), annex, set,
		paint("infra/wide", "Gateway/east", "m: w"))
	if got := r.results(t, "infra:ListenerSet/annex/a"); got != "" {
		t.Errorf("sets that the implementation does not know: %s", got)
	}
	if said := strings.Join(r.said(model.NotReached), "\n"); !strings.Contains(said, "without listener sets") {
		t.Errorf("%s", said)
	}
}
