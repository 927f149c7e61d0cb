// Command networkpolicy answers questions about connections with cyclonus, which judges them by the NetworkPolicies of an input. It reads
// an input a line and writes an answer a line; both are described in the folder above, in input.go and program/process.go.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"github.com/mattfenwick/cyclonus/pkg/matcher"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

func main() { serve.Answers(answer) }

// question is a connection that is asked about.
type question struct {
	From, To, Protocol string
	Port               int
}

// world is what is there.
type world struct {
	namespaces map[string]map[string]string // labels, by name
	pods       map[string]*corev1.Pod       // by namespace/name
	policies   []*networkingv1.NetworkPolicy
}

// answer answers one input.
func answer(line []byte) (map[string]string, error) {
	var in struct {
		Objects   []json.RawMessage
		Questions []question
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	w := world{namespaces: map[string]map[string]string{}, pods: map[string]*corev1.Pod{}}
	for _, text := range in.Objects {
		if err := w.add(text); err != nil {
			return nil, err
		}
	}
	policy := matcher.BuildNetworkPolicies(false, w.policies)
	facts := map[string]string{}
	for _, q := range in.Questions {
		traffic, err := w.traffic(q)
		if err != nil {
			return nil, err
		}
		verdict := "Denied"
		if q.From == q.To || policy.IsTrafficAllowed(traffic).IsAllowed() { // a pod always reaches itself; cyclonus does not ask
			verdict = "Allowed"
		}
		facts[fmt.Sprintf("connection %s -> %s %s/%d", q.From, q.To, q.Protocol, q.Port)] = verdict
	}
	return facts, nil
}

func (w *world) add(text []byte) error {
	var head struct{ Kind string }
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	switch head.Kind {
	case "Namespace":
		n := &corev1.Namespace{}
		if err := json.Unmarshal(text, n); err != nil {
			return err
		}
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[corev1.LabelMetadataName] = n.Name
		w.namespaces[n.Name] = n.Labels
	case "Pod":
		p := &corev1.Pod{}
		if err := json.Unmarshal(text, p); err != nil {
			return err
		}
		w.pods[p.Namespace+"/"+p.Name] = p
	case "NetworkPolicy":
		p := &networkingv1.NetworkPolicy{}
		if err := json.Unmarshal(text, p); err != nil {
			return err
		}
		w.policies = append(w.policies, defaulted(p))
	default:
		return fmt.Errorf("%s is not part of the comparison", head.Kind)
	}
	return nil
}

// defaulted is a policy as the API server stores it.
func defaulted(p *networkingv1.NetworkPolicy) *networkingv1.NetworkPolicy {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	tcp := corev1.ProtocolTCP
	ports := func(list []networkingv1.NetworkPolicyPort) {
		for i := range list {
			if list[i].Protocol == nil {
				list[i].Protocol = &tcp
			}
		}
	}
	for _, rule := range p.Spec.Ingress {
		ports(rule.Ports)
	}
	for _, rule := range p.Spec.Egress {
		ports(rule.Ports)
	}
	return p
}

func (w *world) traffic(q question) (*matcher.Traffic, error) {
	from, _, err := w.end(q.From)
	if err != nil {
		return nil, err
	}
	to, pod, err := w.end(q.To)
	if err != nil {
		return nil, err
	}
	out := &matcher.Traffic{Source: from, Destination: to, ResolvedPort: q.Port, Protocol: corev1.Protocol(q.Protocol)}
	if pod != nil {
		for _, port := range pod.Spec.Containers[0].Ports {
			protocol := port.Protocol
			if protocol == "" {
				protocol = corev1.ProtocolTCP
			}
			if int(port.ContainerPort) == q.Port && protocol == out.Protocol {
				out.ResolvedPortName = port.Name
			}
		}
	}
	return out, nil
}

// end is one end of a connection: a pod, or an address outside of the cluster.
func (w *world) end(name string) (*matcher.TrafficPeer, *corev1.Pod, error) {
	if !strings.Contains(name, "/") {
		return &matcher.TrafficPeer{IP: name}, nil, nil
	}
	p := w.pods[name]
	if p == nil {
		return nil, nil, fmt.Errorf("no pod %s", name)
	}
	return &matcher.TrafficPeer{IP: p.Status.PodIP, Internal: &matcher.InternalPeer{PodLabels: p.Labels, NamespaceLabels: w.namespaces[p.Namespace], Namespace: p.Namespace}}, p, nil
}
