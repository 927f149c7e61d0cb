package networkpolicy

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// object reads one manifest.
func object(t testing.TB, text string) *model.Object {
	t.Helper()
	var body map[string]any
	if err := yaml.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	group, _, found := strings.Cut(model.Text(body, "apiVersion"), "/")
	if !found {
		group = ""
	}
	return &model.Object{Body: model.Pack(integers(body), nil), Ref: model.Ref{Group: group,
		Kind: model.Text(body, "kind"), Name: model.Text(body, "metadata", "name"),
		Namespace: model.Text(body, "metadata", "namespace")}}
}

// integers turns the decoder's numbers into those of bodies.
func integers(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	}
	return v
}

// first is the first ingress rule of a policy with the given rule.
func first(t testing.TB, kind, entry string) *rule {
	t.Helper()
	group := policyGroup + "/v1alpha2"
	if kind == ownKind.Kind {
		group = ownGroup + "/v1"
	}
	rules := readRules(object(t, "apiVersion: "+group+"\nkind: "+kind+
		"\nmetadata: {name: p, namespace: app}\nspec: {tier: Admin, priority: 1, ingress: ["+entry+"]}\n"), ingress)
	if len(rules) != 1 {
		t.Fatalf("%s: %d rules", entry, len(rules))
	}
	return rules[0]
}

func TestRulesFailClosed(t *testing.T) {
	for _, entry := range []string{
		"from: x", "from: [x]", "from: [null]", "from: [{}]", "from: [{namespaces: {}, pods: {}}]",
		"from: [{namespaces: {matchLabels: {a: 1}}}]", "from: [{namespaces: {namespaceSelector: {}}}]",
		"from: [{sameLabels: [a]}]", "from: [{networks: x}]", "from: [{networks: [1.2.3]}]", "from: [{nodes: x}]",
		"from: [{domainNames: []}]", "from: [{namespaces: {}}], protocols: x",
		"from: [{namespaces: {}}], protocols: [x]", "from: [{namespaces: {}}], protocols: [{}]",
		"from: [{namespaces: {}}], protocols: [{icmp: {}}]", "from: [{namespaces: {}}], protocols: [{tcp: null}]",
		"from: [{namespaces: {}}], protocols: [{tcp: {port: 1}}]",
		"from: [{namespaces: {}}], protocols: [{tcp: {destinationPort: {}}}]",
		"from: [{namespaces: {}}], protocols: [{tcp: {destinationPort: {number: 70000}}}]",
		"from: [{namespaces: {}}], protocols: [{tcp: {destinationPort: {range: {start: 9, end: 1}}}}]",
		"from: [{namespaces: {}}], protocols: [{tcp: {}, udp: {}}]",
	} {
		for word, everybody := range map[string]bool{"Accept": false, "Deny": true, "Pass": true} {
			r := first(t, "ClusterNetworkPolicy", "{action: "+word+", "+entry+"}")
			if r.everybody != everybody || r.peers != nil || r.ports != nil || len(r.unread) == 0 || everybody &&
				r.action != deny {
				t.Errorf("%s %s: %+v", word, entry, r)
			}
		}
	}
}

func TestNetworkPoliciesAllowLess(t *testing.T) { // what cannot be read allows nothing, the rest stands
	for _, c := range []struct {
		entry     string
		everybody bool
		peers     int
		ports     int
	}{
		{"{}", true, 0, 0}, {"null", true, 0, 0}, {"{from: []}", true, 0, 0}, {"{from: x}", false, 0,
			0}, {"{from: [x, {podSelector: {}}]}", false, 1, 0},
		{"{from: [{ipBlock: {cidr: x}}]}", false, 0, 0}, {"{from: [{ipBlock: {cidr: 10.0.0.0/8}, podSelector: {}}]}",
			false, 0, 0}, {"{from: [{podSelector: []}]}", false, 0, 0},
		{"{ports: [{port: 80}, {port: 0}]}", true, 0, 1}, {"{ports: [{port: true}]}", false, 0, 0}, {"{ports: x}",
			false, 0, 0}, {"{ports: [{protocol: ICMP}]}", false, 0, 0},
		{"{ports: [{}]}", true, 0, 1}, {"{ports: [{port: a, endPort: 9}]}", false, 0,
			0}, {"{from: [{namespaceSelector: {}}], ports: [{port: a, protocol: UDP}]}", false, 1, 1},
	} {
		r := first(t, "NetworkPolicy", c.entry)
		if r.everybody != c.everybody || len(r.peers) != c.peers || len(r.ports) != c.ports {
			t.Errorf("%s: %+v", c.entry, r)
		}
	}
}

func TestPorts(t *testing.T) {
	declared := []workload.Port{{Name: "web", Protocol: "TCP", Number: 80}, {Name: "dns", Protocol: "UDP", Number: 53}}
	for _, c := range []struct {
		kind, entry, protocol string
		port                  int
		want                  bool
	}{
		{"ClusterNetworkPolicy", "protocols: [{tcp: {}}]", "TCP", 9, true},
		{"ClusterNetworkPolicy", "protocols: [{tcp: {}}]", "UDP", 9, false},
		{"ClusterNetworkPolicy", "protocols: [{sctp: {destinationPort: {range: {start: 5, end: 7}}}}]",
			"SCTP", 7, true},
		{"ClusterNetworkPolicy", "protocols: [{destinationNamedPort: dns}]", "UDP", 53, true},
		{"ClusterNetworkPolicy", "protocols: [{destinationNamedPort: dns}]", "TCP", 53, false},
		{"AdminNetworkPolicy", "ports: [{portNumber: {port: 80}}]", "TCP", 80, true},
		{"AdminNetworkPolicy", "ports: [{portRange: {protocol: UDP, start: 1, end: 9}}]", "UDP", 10, false},
		{"AdminNetworkPolicy", "ports: [{namedPort: web}]", "TCP", 80, true},
		{"NetworkPolicy", "ports: [{port: web}]", "TCP", 80, true},
		{"NetworkPolicy", "ports: [{port: dns}]", "UDP", 53, false}, // without a protocol it is TCP
		{"NetworkPolicy", "ports: [{port: 80, endPort: 90}]", "TCP", 85, true},
		{"NetworkPolicy", "ports: [{protocol: SCTP}]", "SCTP", 1, true},
	} {
		got := false
		for _, p := range first(t, c.kind, "{action: Deny, from: [{namespaces: {}}], "+c.entry+"}").ports {
			got = got || p.matchesConnection(c.protocol, c.port, declared)
		}
		if got != c.want {
			t.Errorf("%s %s %s %d: %v", c.kind, c.entry, c.protocol, c.port, got)
		}
	}
}

func TestCovers(t *testing.T) { // only what is provable by equal selectors and ports
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"from: [{namespaces: {}}]",
			"from: [{pods: {namespaceSelector: {matchLabels: {a: b}}, podSelector: {matchLabels: {c: d}}}}]", true},
		{"from: [{namespaces: {matchLabels: {a: b, c: d}}}]",
			"from: [{namespaces: {matchExpressions: [{key: c, operator: In, values: [d]}], matchLabels: {a: b}}}]",
			true},
		// it is, but nothing equal says so
		{"from: [{namespaces: {matchLabels: {a: b}}}]", "from: [{namespaces: {matchLabels: {a: b, c: d}}}]", false},
		{"from: [{namespaces: {}}]", "from: [{networks: [10.0.0.0/8]}]", false},
		{"from: [{networks: [10.0.0.0/8]}]", "from: [{networks: [10.1.0.0/16, 10.2.0.0/16]}]", true},
		{"from: [{networks: [10.0.0.0/8]}]", "from: [{networks: [10.1.0.0/16, 11.0.0.0/16]}]", false},
		{"from: [{namespaces: {}}], protocols: [{tcp: {}}]",
			"from: [{namespaces: {}}], protocols: [{tcp: {destinationPort: {number: 80}}}]", true},
		{"from: [{namespaces: {}}], protocols: [{tcp: {}}]", "from: [{namespaces: {}}]", false},
		{"from: [{namespaces: {}}], protocols: [{tcp: {}}]",
			"from: [{namespaces: {}}], protocols: [{destinationNamedPort: a}]", false},
		{"from: [{namespaces: {}}], protocols: [{destinationNamedPort: a}]",
			"from: [{namespaces: {}}], protocols: [{destinationNamedPort: a}]", true},
		{"from: [{sameLabels: [a]}]", "from: [{namespaces: {}}]", true}, // it denies everything
	} {
		a, b := first(t, "ClusterNetworkPolicy", "{action: Deny, "+c.a+"}"), first(t, "ClusterNetworkPolicy",
			"{action: Accept, "+c.b+"}")
		if a.coversRule(b) != c.want {
			t.Errorf("%s covers %s: %v", c.a, c.b, !c.want)
		}
	}
}

func TestIsolation(t *testing.T) {
	for _, c := range []struct {
		spec            string
		ingress, egress bool
	}{
		{"{}", true, false}, {"{egress: []}", true, false}, {"{egress: [{}]}", true,
			true}, {"{policyTypes: [Egress], ingress: [{}]}", false, true},
		{"{policyTypes: [Ingress, Egress]}", true, true}, {"{policyTypes: []}", true, false}, {"{policyTypes: x}",
			true, false},
	} {
		o := object(t, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: p}\nspec: "+c.spec+"\n")
		if isAboutDirection(o, ingress) != c.ingress || isAboutDirection(o, egress) != c.egress {
			t.Errorf("%s: %v %v", c.spec, isAboutDirection(o, ingress), isAboutDirection(o, egress))
		}
	}
}

// What a variable stands for is not known: the entry may mean anything, and is no mistake.
func TestVariablesAreNoMistakes(t *testing.T) {
	for _, entry := range []string{
		"{from: [{ipBlock: {cidr: '${NODES}'}}]}", "{from: [{ipBlock: {cidr: 10.0.0.0/8, except: ['${X}/32']}}]}",
		"{from: [{podSelector: {matchLabels: {app: '${APP}'}}}]}", "{ports: [{port: '${PORT}'}]}",
		"{ports: [{port: 80, endPort: '${END}'}]}", "{ports: [{port: 80, protocol: '${PROTOCOL}'}]}",
		"{from: [{namespaceSelector: {matchLabels: {'${KEY}': a}}}]}",
	} {
		r := first(t, "NetworkPolicy", entry)
		variables := 0
		for _, p := range r.peers {
			if p.variable != "" && !p.coversPeer(p) {
				variables++
			}
		}
		for _, p := range r.ports {
			if p.variable != "" && !p.coversPort(p) && !p.matchesConnection("TCP", 80, nil) {
				variables++
			}
		}
		if variables != 1 || r.unread != nil {
			t.Errorf("%s: %d entries with a variable, and %q cannot be read", entry, variables, r.unread)
		}
	}
}
