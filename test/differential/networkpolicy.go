package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// networkPolicy compares verdicts on connections with those of cyclonus, which reads NetworkPolicies.
var networkPolicy = peer{Peer: built("networkpolicy", "github.com/mattfenwick/cyclonus", ""), generate: drawNetworkPolicy, ask: askConnections}

// drawNetworkPolicy draws pods in two or three namespaces, NetworkPolicies that select some of them, and connections among them and with
// addresses outside. Most policies are about ingress; a third of the rules has several peers, a third of the ports is named.
func drawNetworkPolicy(s draw.Source) input {
	g := networkInput{Source: s}
	for _, name := range draw.Numbered("ns", s.Between(2, 3)) {
		g.namespace(name)
	}
	for i := range s.Between(1, 5) {
		g.policy(fmt.Sprintf("np%d", i))
	}
	for range 3 {
		g.ask()
	}
	return input{Objects: g.objects, Questions: g.questions}
}

// networkInput is an input in the making.
type networkInput struct {
	draw.Source
	objects    []object
	questions  []question
	namespaces []string
	pods       []string
}

// labelsOf draws labels from few keys and values, so that selectors select some. Everything has the key app.
func (g *networkInput) labelsOf() object {
	out := object{"app": draw.Pick(g.Source, "a", "b", "c")}
	for _, key := range draw.Some(g.Source, 50, "tier", "zone") {
		out[key] = draw.Pick(g.Source, "a", "b", "c")
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
	for i := range g.Between(1, 3) {
		pod := fmt.Sprintf("pod-%d", i)
		var ports []object
		for _, port := range draw.Some(g.Source, 50, object{"name": "http", "containerPort": 80}, object{"name": "dns", "containerPort": 53, "protocol": "UDP"}, object{"name": "db", "containerPort": 5432, "protocol": "TCP"}) {
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
		expression := object{"key": draw.Pick(g.Source, "app", "tier", "zone"), "operator": draw.Pick(g.Source, "Exists", "DoesNotExist")}
		return object{"matchExpressions": []object{expression}}
	case 2:
		expression := object{"key": draw.Pick(g.Source, "app", "tier"), "operator": "In", "values": draw.Some(g.Source, 50, "a", "b", "c")}
		if expression["key"] == "app" {
			expression["operator"] = draw.Pick(g.Source, "In", "NotIn")
		}
		return object{"matchExpressions": []object{expression}}
	}
	return object{"matchLabels": object{draw.Pick(g.Source, "app", "tier", "zone"): draw.Pick(g.Source, "a", "b", "c")}}
}

func (g *networkInput) policy(name string) {
	spec := object{"podSelector": g.selector()}
	types := draw.Some(g.Source, 45, "Ingress", "Egress")
	if g.Chance(65) {
		types = []string{"Ingress"}
	}
	if g.Chance(70) {
		spec["policyTypes"] = types
	}
	for _, direction := range []string{"ingress", "egress"} {
		if direction == "egress" && g.Chance(60) || g.Chance(20) {
			continue
		}
		var rules []object
		for range g.Between(0, 2) {
			rules = append(rules, g.rule(direction))
		}
		if rules != nil {
			spec[direction] = rules
		}
	}
	g.add("networking.k8s.io/v1", "NetworkPolicy", object{"name": name, "namespace": draw.Pick(g.Source, g.namespaces...)}, spec)
}

func (g *networkInput) rule(direction string) object {
	out := object{}
	if g.Chance(80) {
		var peers []object
		for range draw.Pick(g.Source, 1, 1, 2) {
			peers = append(peers, g.peer())
		}
		out[map[string]string{"ingress": "from", "egress": "to"}[direction]] = peers
	}
	if g.Chance(60) {
		var ports []object
		for range draw.Pick(g.Source, 1, 1, 2) {
			ports = append(ports, g.port())
		}
		out["ports"] = ports
	}
	return out
}

func (g *networkInput) peer() object {
	switch g.IntN(5) {
	case 0:
		block := object{"cidr": draw.Pick(g.Source, "10.0.0.0/16", "10.0.1.0/24", "192.0.2.0/24", "0.0.0.0/0")}
		if g.Chance(40) {
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
		return object{"protocol": draw.Pick(g.Source, "TCP", "UDP", "SCTP")}
	case 1, 2:
		return object{"port": draw.Pick(g.Source, "http", "dns", "db"), "protocol": draw.Pick(g.Source, "TCP", "TCP", "UDP")}
	case 3:
		return object{"port": draw.Pick(g.Source, 53, 80), "endPort": draw.Pick(g.Source, 81, 6000), "protocol": draw.Pick(g.Source, "TCP", "UDP")}
	}
	out := object{"port": draw.Pick(g.Source, 53, 80, 5432)}
	if g.Chance(60) {
		out["protocol"] = draw.Pick(g.Source, "TCP", "UDP", "SCTP")
	}
	return out
}

func (g *networkInput) ask() {
	q := question{From: draw.Pick(g.Source, g.pods...), To: draw.Pick(g.Source, g.pods...), Protocol: draw.Pick(g.Source, "TCP", "TCP", "UDP", "SCTP"), Port: draw.Pick(g.Source, 53, 80, 80, 5432, 8080)}
	switch g.IntN(6) {
	case 0:
		q.From = draw.Pick(g.Source, "192.0.2.1", "192.0.2.9", "198.51.100.1")
	case 1:
		q.To = draw.Pick(g.Source, "192.0.2.1", "192.0.2.9", "198.51.100.1")
	}
	g.questions = append(g.questions, q)
}

// askConnections asks about each connection.
func askConnections(ctx context.Context, p program.Program, _ translate, in *input) (facts, error) {
	out := facts{}
	for _, q := range in.Questions {
		var answer struct{ Outcome string }
		if err := p.JSON(ctx, in.Objects, &answer, "request", "--from", q.From, "--to", q.To, "--protocol", q.Protocol, "--port", strconv.Itoa(q.Port)); err != nil {
			return nil, err
		}
		out["connection "+q.String()] = answer.Outcome
		if answer.Outcome == "NotEvaluated" {
			out["connection "+q.String()] = unsaid
		}
	}
	return out, nil
}
