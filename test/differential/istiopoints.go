package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// istioPath is what the program says of the points of a request.
type istioPath struct {
	Path []istioPoint
}

// istioPoint is one of them.
type istioPoint struct {
	Point, Kind, Verdict, Because string
	Object                        struct{ Kind, Namespace, Name string }
	Policies                      []struct{ Kind, Namespace, Name string }
	Identity                      *string
}

// unbound are the reasons for which nothing is bound to a waypoint that is named. Of those the control plane has no data.
var unbound = regexp.MustCompile(`^there is no |has no address: traffic|takes nothing of namespace|^\S+ is for (Services|Pods|nothing|\S+) \(label`)

// istioPoints notes the points of every route, from every workload to every Service, and from the first workload to the second.
func istioPoints(ctx context.Context, out facts, p program.Program, in *input) error {
	in, err := in.clone() // whose lists are all of one type
	if err != nil {
		return err
	}
	tied := tiedPeers(in)
	var keys []string
	var pods [][]object // of each the workloads that its Service selects
	var lines strings.Builder
	var clients []object
	for _, o := range in.Objects {
		if o["kind"] == "Pod" && at(o, "metadata", "labels", "gateway.networking.k8s.io/gateway-name") == nil || o["kind"] == "Deployment" {
			clients = append(clients, o)
		}
	}
	for _, o := range in.Objects {
		switch o["kind"] {
		case "HTTPRoute":
			if gateway, service := routedBy(o, in); gateway != nil {
				pods = append(pods, selected(service, in))
				keys = append(keys, "HTTPRoute "+path(o))
				fmt.Fprintf(&lines, "http://%v/ --gateway %s\n", at(o, "spec", "hostnames").([]any)[0], path(gateway))
			}
		case "Service":
			for _, c := range clients {
				pods = append(pods, selected(o, in))
				keys = append(keys, "Pod "+path(c)+" to Service "+path(o))
				fmt.Fprintf(&lines, "http://%v.%v/ --from %s\n", at(o, "metadata", "name"), at(o, "metadata", "namespace"), path(c))
			}
		}
	}
	if len(keys) > 0 {
		file, remove, err := program.Temporary("requests-*.txt", []byte(lines.String()))
		if err != nil {
			return err
		}
		defer remove()
		var list struct{ Items []istioPath }
		if err := p.JSON(ctx, in.Objects, &list, "request", "--requests-file", file, "--complete"); err != nil {
			return err
		}
		if len(list.Items) != len(keys) {
			return fmt.Errorf("%d answers to %d requests", len(list.Items), len(keys))
		}
		for i, key := range keys {
			if pods[i] == nil { // Pods that are not in the input are taken to be there
				list.Items[i].Path = slices.DeleteFunc(list.Items[i].Path, func(p istioPoint) bool { return p.Point != "edge" })
			}
			list.Items[i].say(out, key, tied)
			list.Items[i].sayOfOthers(out, key, pods[i], in)
		}
	}
	if len(clients) < 2 {
		return nil
	}
	var answer istioPath
	from, to := path(clients[0]), path(clients[1])
	if err := p.JSON(ctx, in.Objects, &answer, "request", "--from", from, "--to", to, "--protocol", "TCP", "--port", "8080", "--complete"); err != nil {
		return err
	}
	answer.say(out, "Pod "+from+" to Pod "+to, tied)
	return nil
}

// tiedPeers reports whether two PeerAuthentications of a namespace are equally old. To proxies the name decides then. For ztunnel the control plane takes
// the one that it happens to come to first (pilot/pkg/serviceregistry/ambient/authorization.go, convertedSelectorPeerAuthentications).
func tiedPeers(in *input) bool {
	seen := map[[2]any]bool{}
	for _, o := range in.Objects {
		if o["kind"] != "PeerAuthentication" {
			continue
		}
		key := [2]any{at(o, "metadata", "namespace"), at(o, "metadata", "creationTimestamp")}
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// path is the namespace and the name of an object.
func path(o object) string {
	return fmt.Sprintf("%v/%v", at(o, "metadata", "namespace"), at(o, "metadata", "name"))
}

// say notes the points: of the mesh's proxies which policies are in force there, of waypoints whether the request passes them, of workloads who is
// seen there, and what ztunnel says to that. What is said with a doubt is not compared, and of ztunnel neither what a tied PeerAuthentication decides.
func (a istioPath) say(out facts, key string, tied bool) {
	passed := map[string]bool{}
	for _, p := range a.Path {
		if p.Point == "waypoint" && p.Verdict != "bypassed" {
			passed[p.Object.Namespace+"/"+p.Object.Name] = true
		}
	}
	for _, p := range a.Path {
		var policies []string
		strict := false
		for _, ref := range p.Policies {
			if ref.Kind == "AuthorizationPolicy" {
				policies = append(policies, ref.Namespace+"/"+ref.Name)
			}
			strict = strict || ref.Kind == "PeerAuthentication"
		}
		slices.Sort(policies) // their order is another fact
		name := p.Object.Namespace + "/" + p.Object.Name
		doubt := strings.Contains(p.Because, "cannot tell")
		switch fact := p.Point + " " + key + " " + name; {
		case p.Point == "edge":
			set(out, "edge "+key, canonical(policies))
		case p.Point == "waypoint" && doubt:
			out[fact] = unsaid
		case p.Point == "waypoint" && (unbound.MatchString(p.Because) || p.Verdict == "bypassed" && passed[name]):
		case p.Point == "waypoint":
			set(out, fact, canonical(object{"passed": p.Verdict != "bypassed", "policies": policies}))
		case p.Point == "workload":
			if p.Kind == "ztunnel" {
				set(out, "verdict "+key+" "+name, canonical(p.Verdict))
				if p.Verdict == "depends" {
					out["verdict "+key+" "+name] = unsaid
				}
			}
			set(out, fact, canonical(object{"kind": p.Kind, "policies": policies, "strict": strict}))
			if p.Kind == "ztunnel" && tied {
				out[fact], out["verdict "+key+" "+name] = unsaid, unsaid
			}
			if p.Identity == nil {
				out["identity "+key+" "+name] = unsaid
			} else {
				out["identity "+key+" "+name] = canonical(*p.Identity)
			}
		}
	}
}

// more is what is said of Pods of which the same holds, and which are not listed.
var more = regexp.MustCompile(`and so for (\d+) more`)

// sayOfOthers notes of workloads that are not listed what is noted of the one for which it is said. It is not compared where that may be several.
func (a istioPath) sayOfOthers(out facts, key string, pods []object, in *input) {
	listed := map[string]bool{}
	like, count, several := "", "", false
	for _, p := range a.Path {
		if p.Point != "workload" {
			continue
		}
		name := p.Object.Namespace + "/" + p.Object.Name
		listed[name] = true
		if m := more.FindStringSubmatch(p.Because); m != nil {
			several = like != ""
			like, count = name, m[1]
		}
	}
	var others []string
	for _, o := range pods {
		item := istioItem{}
		item.Target.Kind, item.Target.Namespace, item.Target.Name = o["kind"].(string), at(o, "metadata", "namespace").(string), at(o, "metadata", "name").(string)
		if name := path(o); !listed[name] && !item.isOutside(in) {
			others = append(others, name)
		}
	}
	if like == "" {
		return
	}
	for _, sort := range []string{"workload", "identity", "verdict"} {
		for _, name := range others {
			if value := out[sort+" "+key+" "+like]; several || count != strconv.Itoa(len(others)) {
				out[sort+" "+key+" "+name] = unsaid
			} else {
				set(out, sort+" "+key+" "+name, value)
			}
		}
	}
}

// selected lists the workloads of the input that a Service selects.
func selected(service object, in *input) []object {
	var out []object
	want, _ := at(service, "spec", "selector").(object)
	for _, o := range in.Objects {
		labels := at(o, "metadata", "labels")
		switch o["kind"] {
		case "Deployment":
			labels = at(o, "spec", "template", "metadata", "labels")
		case "Pod":
		default:
			continue
		}
		all := len(want) > 0 && at(o, "metadata", "namespace") == at(service, "metadata", "namespace")
		for key, value := range want {
			all = all && at(labels, key) == value
		}
		if all {
			out = append(out, o)
		}
	}
	return out
}

// routedBy is the Gateway of a route and its Service, if they are there with, of another vendor, its Pod.
func routedBy(route object, in *input) (gateway, service object) {
	first := func(v any, path ...string) any {
		if list, _ := at(v, path...).([]any); len(list) > 0 {
			return list[0]
		}
		return nil
	}
	parent, backend := first(route, "spec", "parentRefs"), first(first(route, "spec", "rules"), "backendRefs")
	deployed := false
	for _, o := range in.Objects {
		labels := at(o, "metadata", "labels")
		switch namespace, name := at(o, "metadata", "namespace"), at(o, "metadata", "name"); {
		case o["kind"] == "Gateway" && name == at(parent, "name") && namespace == at(parent, "namespace"):
			gateway = o
		case o["kind"] == "Service" && name == at(backend, "name") && namespace == at(route, "metadata", "namespace"):
			service = o
		case at(labels, "gateway.envoyproxy.io/owning-gateway-name") == at(parent, "name") && at(labels, "gateway.envoyproxy.io/owning-gateway-namespace") == at(parent, "namespace"):
			deployed = true
		}
	}
	if service == nil || at(gateway, "spec", "gatewayClassName") == "eg" && !deployed {
		return nil, nil
	}
	return gateway, service
}
