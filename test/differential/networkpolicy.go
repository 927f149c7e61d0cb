package main

import (
	"context"
	"fmt"
	"strconv"
)

// networkPolicy compares verdicts on connections with those of cyclonus, which reads NetworkPolicies.
var networkPolicy = peer{name: "networkpolicy", module: "github.com/mattfenwick/cyclonus", generate: drawNetworkPolicy, ask: askConnections}

// drawNetworkPolicy draws pods in two or three namespaces, NetworkPolicies that select some of them, and connections among them and with
// addresses outside. Most policies are about ingress; a third of the rules has several peers, a third of the ports is named.
func drawNetworkPolicy(s source) input {
	g := networkInput{source: s}
	for _, name := range numbered("ns", s.between(2, 3)) {
		g.namespace(name)
	}
	for i := range s.between(1, 5) {
		g.policy(fmt.Sprintf("np%d", i))
	}
	for range 3 {
		g.ask()
	}
	return input{Objects: g.objects, Questions: g.questions}
}

// networkInput is an input in the making.
type networkInput struct {
	source
	objects    []object
	questions  []question
	namespaces []string
	pods       []string
}

// labelsOf draws labels from few keys and values, so that selectors select some. Everything has the key app.
func (g *networkInput) labelsOf() object {
	out := object{"app": pick(g.source, "a", "b", "c")}
	for _, key := range some(g.source, 50, "tier", "zone") {
		out[key] = pick(g.source, "a", "b", "c")
	}
	return out
}

func (g *networkInput) add(version, kind string, metadata object, spec any) object {
	o := object{"apiVersion": version, "kind": kind, "metadata": metadata}
	if spec != nil {
		o["spec"] = spec
	}
	g.objects = append(g.objects, o)
	return o
}

func (g *networkInput) namespace(name string) {
	metadata := object{"name": name, "labels": g.labelsOf()}
	g.namespaces = append(g.namespaces, name)
	g.add("v1", "Namespace", metadata, nil)
	for i := range g.between(1, 3) {
		pod := fmt.Sprintf("pod-%d", i)
		var ports []object
		for _, port := range some(g.source, 50, object{"name": "http", "containerPort": 80}, object{"name": "dns", "containerPort": 53, "protocol": "UDP"}, object{"name": "db", "containerPort": 5432, "protocol": "TCP"}) {
			ports = append(ports, port)
		}
		o := g.add("v1", "Pod", object{"name": pod, "namespace": name, "labels": g.labelsOf()}, object{"containers": []object{{"name": "main", "image": "app", "ports": ports}}})
		address := fmt.Sprintf("10.0.%d.%d", len(g.namespaces), i+1)
		o["status"] = object{"podIP": address, "podIPs": []object{{"ip": address}}}
		g.pods = append(g.pods, name+"/"+pod)
	}
}

// selector draws a selector of labels; empty ones select everything. NotIn is drawn for the key that everything has, because cyclonus takes it
// not to match where the key is missing, and Kubernetes takes it to match (labels.Requirement.Matches).
func (g *networkInput) selector() object {
	switch g.IntN(6) {
	case 0:
		return object{}
	case 1:
		expression := object{"key": pick(g.source, "app", "tier", "zone"), "operator": pick(g.source, "Exists", "DoesNotExist")}
		return object{"matchExpressions": []object{expression}}
	case 2:
		expression := object{"key": pick(g.source, "app", "tier"), "operator": "In", "values": some(g.source, 50, "a", "b", "c")}
		if expression["key"] == "app" {
			expression["operator"] = pick(g.source, "In", "NotIn")
		}
		return object{"matchExpressions": []object{expression}}
	}
	return object{"matchLabels": object{pick(g.source, "app", "tier", "zone"): pick(g.source, "a", "b", "c")}}
}

func (g *networkInput) policy(name string) {
	spec := object{"podSelector": g.selector()}
	types := some(g.source, 45, "Ingress", "Egress")
	if g.chance(65) {
		types = []string{"Ingress"}
	}
	if g.chance(70) {
		spec["policyTypes"] = types
	}
	for _, direction := range []string{"ingress", "egress"} {
		if direction == "egress" && g.chance(60) || g.chance(20) {
			continue
		}
		var rules []object
		for range g.between(0, 2) {
			rules = append(rules, g.rule(direction))
		}
		if rules != nil {
			spec[direction] = rules
		}
	}
	g.add("networking.k8s.io/v1", "NetworkPolicy", object{"name": name, "namespace": pick(g.source, g.namespaces...)}, spec)
}

func (g *networkInput) rule(direction string) object {
	out := object{}
	if g.chance(80) {
		var peers []object
		for range pick(g.source, 1, 1, 2) {
			peers = append(peers, g.peer())
		}
		out[map[string]string{"ingress": "from", "egress": "to"}[direction]] = peers
	}
	if g.chance(60) {
		var ports []object
		for range pick(g.source, 1, 1, 2) {
			ports = append(ports, g.port())
		}
		out["ports"] = ports
	}
	return out
}

func (g *networkInput) peer() object {
	switch g.IntN(5) {
	case 0:
		block := object{"cidr": pick(g.source, "10.0.0.0/16", "10.0.1.0/24", "192.0.2.0/24", "0.0.0.0/0")}
		if g.chance(40) {
			block["except"] = []string{map[string]string{"10.0.0.0/16": "10.0.1.0/24", "10.0.1.0/24": "10.0.1.1/32", "192.0.2.0/24": "192.0.2.8/29", "0.0.0.0/0": "10.0.0.0/8"}[block["cidr"].(string)]}
		}
		return object{"ipBlock": block}
	case 1:
		return object{"namespaceSelector": g.selector()}
	case 2:
		return object{"namespaceSelector": g.selector(), "podSelector": g.selector()}
	}
	return object{"podSelector": g.selector()}
}

func (g *networkInput) port() object {
	switch g.IntN(6) {
	case 0:
		return object{"protocol": pick(g.source, "TCP", "UDP", "SCTP")}
	case 1, 2:
		return object{"port": pick(g.source, "http", "dns", "db"), "protocol": pick(g.source, "TCP", "TCP", "UDP")}
	case 3:
		return object{"port": pick(g.source, 53, 80), "endPort": pick(g.source, 81, 6000), "protocol": pick(g.source, "TCP", "UDP")}
	}
	out := object{"port": pick(g.source, 53, 80, 5432)}
	if g.chance(60) {
		out["protocol"] = pick(g.source, "TCP", "UDP", "SCTP")
	}
	return out
}

func (g *networkInput) ask() {
	q := question{From: pick(g.source, g.pods...), To: pick(g.source, g.pods...), Protocol: pick(g.source, "TCP", "TCP", "UDP", "SCTP"), Port: pick(g.source, 53, 80, 80, 5432, 8080)}
	switch g.IntN(6) {
	case 0:
		q.From = pick(g.source, "192.0.2.1", "192.0.2.9", "198.51.100.1")
	case 1:
		q.To = pick(g.source, "192.0.2.1", "192.0.2.9", "198.51.100.1")
	}
	g.questions = append(g.questions, q)
}

// askConnections asks about each connection.
func askConnections(ctx context.Context, p program, _ translate, in *input) (facts, error) {
	out := facts{}
	for _, q := range in.Questions {
		var answer struct{ Outcome string }
		if err := p.json(ctx, in, &answer, "request", "--from", q.From, "--to", q.To, "--protocol", q.Protocol, "--port", strconv.Itoa(q.Port)); err != nil {
			return nil, err
		}
		out["connection "+q.String()] = answer.Outcome
		if answer.Outcome == "NotEvaluated" {
			out["connection "+q.String()] = unsaid
		}
	}
	return out, nil
}
