package protecttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// object is a manifest, or a part of one.
type object = map[string]any

// world is one drawn input, and what of it the simulator of its vendor needs to know.
type world struct {
	*rand.Rand
	seed      uint64
	vendor    *vendor
	objects   []object
	listeners []listener
	rules     int               // how many route rules there are
	n         int               // how many objects are named
	known     map[bool][]client // all that are worth asking as, by whether they come over TLS
	related   bool              // rules of one decision look at paths or values that are not apart
}

// listener is one of the Gateway.
type listener struct {
	name   string
	port   int
	secure bool
}

// vendor draws the settings of one implementation, and tells what its proxies do with requests.
type vendor struct {
	name       string
	controller string
	secure     bool // worlds may have a listener with TLS
	draw       func(*world)
	filters    func(*world, *place) []filter // in the order in which a proxy asks them
	uses       words                         // by which worlds ask for credentials; "": they never do
	tokens     []string                      // what tokens may be; nil: absent, bad, good and claims
}

// words are what stands in the manifests of worlds that ask for credentials, or for what simulators
// cannot tell.
type words struct{ token, basic, key, session, mesh, opaque string }

// place is a route rule behind a listener, with the settings that are in force there.
type place struct {
	listener string
	route    string
	rule     string
	spec     object            // of the rule itself
	settings map[string]object // by kind, at the rule
	above    map[string]object // by kind, at the listener or the Gateway
}

const (
	apiGroup  = "gateway.networking.k8s.io"
	namespace = "app"
)

// What calls, and the settings that look at them, are made of.
var (
	methods   = []string{"GET", "POST", "PUT"}
	paths     = []string{"/", "/a", "/a/x", "/a/y", "/ab", "/b", "/b/x", "/b/y", "/c", "/cx"}
	teams     = []string{"", "blue", "red"}
	addresses = []string{"10.1.2.3", "10.2.0.1", "192.0.2.7", "203.0.113.9"}
	networks  = []string{"10.0.0.0/8", "192.0.2.0/24"}
)

// newWorld draws the input of a seed.
func newWorld(seed uint64, v *vendor) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), seed: seed, vendor: v}
	w.topology()
	v.draw(w)
	return w
}

// manifests are the objects as a file.
func (w *world) manifests() []byte {
	var out strings.Builder
	for _, o := range w.objects {
		line, err := json.Marshal(o)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&out, "---\n%s\n", line)
	}
	return []byte(out.String())
}

// chance is true in one of n cases.
func (w *world) chance(n int) bool { return w.IntN(n) == 0 }

// pick draws one of several.
func pick[T any](w *world, of ...T) T { return of[w.IntN(len(of))] }

// some draws several of several, each in one of n cases.
func some[T any](w *world, n int, of ...T) []any {
	var out []any
	for _, one := range of {
		if w.chance(n) {
			out = append(out, one)
		}
	}
	return out
}

// add adds an object of a kind.
func (w *world) add(apiVersion, kind string, spec object) object {
	w.n++
	return w.named(apiVersion, kind, fmt.Sprintf("p%d", w.n), spec)
}

func (w *world) named(apiVersion, kind, name string, spec object) object {
	o := object{"apiVersion": apiVersion, "kind": kind, "metadata": object{"name": name, "namespace": namespace},
		"spec": spec}
	w.objects = append(w.objects, o)
	return o
}

// topology draws a Gateway with listeners, and routes on them.
func (w *world) topology() {
	class := object{"apiVersion": apiGroup + "/v1", "kind": "GatewayClass", "metadata": object{"name": "class"},
		"spec": object{"controllerName": w.vendor.controller}}
	w.objects = append(w.objects, class,
		object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}},
		object{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": "web", "namespace": namespace},
			"spec": object{"ports": []any{object{"port": 80}}}})
	w.listeners = []listener{{"one", 80, false}}
	switch {
	case w.vendor.secure && w.chance(2):
		w.listeners = append(w.listeners, listener{"two", 443, true})
	case w.chance(4):
		w.listeners = append(w.listeners, listener{"two", 8080, false})
	}
	var listeners []any
	for _, l := range w.listeners {
		one := object{"name": l.name, "port": l.port, "protocol": "HTTP"}
		if l.secure {
			one["protocol"], one["tls"] = "HTTPS", object{"certificateRefs": []any{object{"name": "pair"}}}
			w.objects = append(w.objects, object{"apiVersion": "v1", "kind": "Secret",
				"metadata": object{"name": "pair", "namespace": namespace}, "type": "kubernetes.io/tls",
				"stringData": object{
					"tls.crt": "-----BEGIN CERTIFICATE-----\nZHVtbXk=\n-----END CERTIFICATE-----\n",
					"tls.key": "-----BEGIN PRIVATE KEY-----\nZHVtbXk=\n-----END PRIVATE KEY-----\n"}})
		}
		listeners = append(listeners, one)
	}
	w.named(apiGroup+"/v1", "Gateway", "gw", object{"gatewayClassName": "class", "listeners": listeners})
	for i := range 1 + w.IntN(2) {
		w.route(fmt.Sprintf("route-%d", i))
	}
}

// route draws a route.
func (w *world) route(name string) {
	parent := object{"name": "gw"}
	if w.chance(4) {
		parent["sectionName"] = pick(w, w.listeners...).name
	}
	var rules []any
	for i := range 1 + w.IntN(3) {
		w.rules++
		rule := object{"name": fmt.Sprintf("r%d", i), "backendRefs": []any{object{"name": "web", "port": 80}}}
		var matches []any
		for range w.IntN(3) {
			matches = append(matches, w.match())
		}
		if matches != nil {
			rule["matches"] = matches
		}
		rules = append(rules, rule)
	}
	w.named(apiGroup+"/v1", "HTTPRoute", name, object{"parentRefs": []any{parent}, "rules": rules})
}

// match draws what a rule asks of requests.
func (w *world) match() object {
	out := object{"path": object{"type": pick(w, "Exact", "PathPrefix", "PathPrefix"),
		"value": pick(w, "/", "/a", "/b")}}
	if w.chance(4) {
		out["method"] = pick(w, "GET", "POST")
	}
	if w.chance(5) {
		out["headers"] = []any{object{"name": "x-team", "value": "blue"}}
	}
	return out
}

// ofKind are the specs of the objects of a kind.
func (w *world) ofKind(kind string) []object {
	var out []object
	for _, o := range w.objects {
		if o["kind"] == kind {
			out = append(out, o)
		}
	}
	return out
}

// target draws what a policy is attached to: the Gateway, a listener, a route or a rule.
func (w *world) target() object {
	out := object{"group": apiGroup, "kind": "Gateway", "name": "gw"}
	switch w.IntN(5) {
	case 0:
		out["sectionName"] = pick(w, w.listeners...).name
	case 1, 2, 3:
		route := pick(w, w.ofKind("HTTPRoute")...)
		out["kind"], out["name"] = "HTTPRoute", text(route, "metadata", "name")
		if w.chance(2) {
			out["sectionName"] = text(pick(w, list(route, "spec", "rules")...), "name")
		}
	}
	return out
}

// calls are all that are worth asking.
func (w *world) calls(l listener) []call {
	var out []call
	for _, method := range methods {
		for _, path := range paths {
			for _, team := range teams {
				out = append(out, call{method, path, team, l.secure})
			}
		}
	}
	return out
}

// clients are all that are worth asking as: every combination of the credentials that are in use,
// from every address.
func (w *world) clients(secure bool) []client {
	if known := w.known[secure]; known != nil {
		return known
	}
	out := []client{{}}
	each := func(used bool, set func(*client, string), values ...string) {
		if !used {
			return
		}
		var next []client
		for _, c := range out {
			for _, v := range values {
				one := c
				set(&one, v)
				next = append(next, one)
			}
		}
		out = next
	}
	u := w.vendor.uses
	manifests := string(w.manifests())
	has := func(word string) bool { return word != "" && strings.Contains(manifests, word) }
	each(true, func(c *client, s string) { c.address = s }, addresses...)
	tokens := w.vendor.tokens
	if tokens == nil {
		tokens = []string{absent, bad, good, claims}
	}
	each(has(u.token), func(c *client, s string) { c.token = s }, tokens...)
	each(has(u.basic), func(c *client, s string) { c.basic = s }, absent, bad, good)
	each(has(u.key), func(c *client, s string) { c.key = s }, absent, bad, good)
	each(has(u.session), func(c *client, s string) { c.session = s != "" }, absent, good)
	each(has(u.mesh), func(c *client, s string) { c.mesh = s != "" }, absent, good)
	each(has(u.opaque), func(c *client, s string) { c.opaque = s != "" }, absent, good)
	each(secure, func(c *client, s string) { c.certificate = s }, absent, bad, good)
	if w.known == nil {
		w.known = map[bool][]client{}
	}
	w.known[secure] = out
	return out
}
