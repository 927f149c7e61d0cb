package networkpolicy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// peer is an entry of a rule's list of peers. One of its fields is set.
type peer struct {
	pods    *selector.PodSelector
	written [2]string // of pods: the selectors of namespaces and pods, in a form that can be compared

	networks []netip.Prefix
	except   []netip.Prefix
	nodes    *selector.LabelSelector
	domains  []string
	variable string // of an entry with one that is not rendered, whatever it is
}

// allSelector is how a selector without requirements is compared.
const allSelector = "{}"

// readPeer reads a peer; the error says what this version does not know about it.
func readPeer(o *model.Object, v model.Body) (peer, error) {
	if variable := findVariable(v); variable != "" {
		return peer{variable: variable}, nil
	}
	if o.Ref.GroupKind() == ownKind {
		return readOwnPeer(o.Ref.Namespace, v)
	}
	if v.Len() != 1 || !v.IsObject() {
		return peer{}, errors.New("it has to have exactly one field")
	}
	switch {
	case v.Has("namespaces"), v.Has("pods"):
		pods, err := policy.ReadPodSelector(v)
		if err != nil {
			return peer{}, err
		}
		written := [2]string{formatSelector(v.Field("namespaces")), allSelector}
		if v.Has("pods") {
			written = [2]string{formatSelector(v.At("pods", "namespaceSelector")),
				formatSelector(v.At("pods", "podSelector"))}
		}
		return peer{pods: &pods, written: written}, nil
	case v.Has("networks"):
		networks, err := readPrefixes(v.Field("networks"))
		return peer{networks: networks}, err
	case v.Has("nodes"):
		nodes, err := selector.ReadLabelSelector(v.Field("nodes"))
		return peer{nodes: &nodes}, err
	case v.Has("domainNames") && o.Ref.GroupKind() == clusterKind:
		p := peer{}
		for _, name := range v.Field("domainNames").Items {
			p.domains = append(p.domains, name.Text())
		}
		if p.domains == nil {
			return peer{}, errors.New("domainNames is empty")
		}
		return p, nil
	}
	for field := range v.Fields {
		return peer{}, fmt.Errorf("a peer of the kind %q is not known", field)
	}
	return peer{}, errors.New("it has no field")
}

// findVariable returns the first variable in what is written that is not rendered, "" if there is
// none.
func findVariable(v model.Body) string {
	if variable, _, found := model.CutVariable(v.Text()); found {
		return variable
	}
	for _, entry := range v.Items {
		if variable := findVariable(entry); variable != "" {
			return variable
		}
	}
	var found []string
	for key, value := range v.Fields {
		if variable := cmp.Or(findVariable(value), findVariable(model.Pack(key, nil))); variable != "" {
			found = append(found, variable)
		}
	}
	if found == nil {
		return ""
	}
	return slices.Min(found)
}

// readOwnPeer reads a peer of a NetworkPolicy in a namespace.
func readOwnPeer(namespace string, v model.Body) (peer, error) {
	namespaces, pods, block := v.Field("namespaceSelector"), v.Field("podSelector"), v.Field("ipBlock")
	switch {
	case !v.IsObject():
		return peer{}, errors.New("it is no object")
	case !block.IsNull():
		if !namespaces.IsNull() || !pods.IsNull() {
			return peer{}, errors.New("ipBlock stands beside a selector")
		}
		cidr, err := netip.ParsePrefix(block.Text("cidr"))
		if err != nil {
			return peer{}, err
		}
		except, err := readPrefixes(block.Field("except"))
		return peer{networks: []netip.Prefix{cidr}, except: except}, err
	case namespaces.IsNull() && pods.IsNull():
		return peer{}, errors.New("it has none of namespaceSelector, podSelector and ipBlock")
	}
	p := peer{pods: &selector.PodSelector{Pods: selector.Everything()},
		written: [2]string{formatSelector(namespaces), allSelector}}
	var err error
	if !pods.IsNull() {
		if p.pods.Pods, err = selector.ReadLabelSelector(pods); err != nil {
			return peer{}, fmt.Errorf("podSelector: %w", err)
		}
		p.written[1] = formatSelector(pods)
	}
	if namespaces.IsNull() {
		p.pods.In, p.written[0] = namespace, formatSelector(
			model.Pack(map[string]any{"matchLabels": map[string]any{nameLabel: namespace}}, nil))
	} else if p.pods.Namespaces, err = selector.ReadLabelSelector(namespaces); err != nil {
		return peer{}, fmt.Errorf("namespaceSelector: %w", err)
	}
	return p, nil
}

// nameLabel is on every namespace.
const nameLabel = "kubernetes.io/metadata.name"

// readPrefixes reads a list of CIDRs.
func readPrefixes(list model.Body) ([]netip.Prefix, error) {
	var out []netip.Prefix
	if !list.IsNull() && !list.IsList() {
		return nil, errors.New("the networks are no list")
	}
	for _, v := range list.Items {
		p, err := netip.ParsePrefix(v.Text())
		if err != nil {
			return nil, err
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// formatSelector writes a selector so that equal ones are written alike, whatever the order of what
// they ask for.
func formatSelector(v model.Body) string {
	labels, expressions := v.Field("matchLabels"), v.Field("matchExpressions")
	var parts []string
	add := func(e any) {
		text, err := json.Marshal(e)
		if err == nil { // it is plain JSON
			parts = append(parts, string(text))
		}
	}
	for key, value := range labels.Fields {
		add([]any{key, "In", []string{value.Text()}})
	}
	for _, e := range expressions.Items {
		var values []string
		for _, value := range e.Field("values").Items {
			values = append(values, value.Text())
		}
		slices.Sort(values)
		add([]any{e.Text("key"), e.Text("operator"), slices.Compact(values)})
	}
	if len(parts) == 0 {
		return allSelector
	}
	slices.Sort(parts)
	return fmt.Sprint(slices.Compact(parts))
}

// coversPeer reports whether whoever is meant by o is certainly meant by p.
func (p peer) coversPeer(o peer) bool {
	switch {
	case p.pods != nil && o.pods != nil:
		return (p.written[0] == allSelector || p.written[0] == o.written[0]) && (p.written[1] == allSelector ||
			p.written[1] == o.written[1])
	case len(p.networks) > 0 && len(o.networks) > 0 && len(p.except) == 0:
		return !slices.ContainsFunc(o.networks, func(n netip.Prefix) bool {
			return !slices.ContainsFunc(p.networks, func(of netip.Prefix) bool {
				return of.Bits() <= n.Bits() &&
					of.Contains(n.Addr())
			})
		})
	}
	return false
}

// coversRule reports whether every connection that o matches is certainly one that r matches.
func (r *rule) coversRule(o *rule) bool {
	if r.action == none || r.peers == nil && !r.everybody {
		return false
	}
	peers := r.everybody || !o.everybody && !slices.ContainsFunc(o.peers, func(p peer) bool {
		return !slices.ContainsFunc(r.peers, func(of peer) bool { return of.coversPeer(p) })
	})
	ports := r.ports == nil || o.ports != nil && !slices.ContainsFunc(o.ports, func(p port) bool {
		return !slices.ContainsFunc(r.ports, func(of port) bool { return of.coversPort(p) })
	})
	return peers && ports
}
