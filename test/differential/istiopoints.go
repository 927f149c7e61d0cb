package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
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

// istioPoints notes the points of every route, from every Pod to every Service, and from every workload to the next.
func istioPoints(ctx context.Context, out facts, p program.Program, in *input) error {
	in, err := in.clone() // whose lists are all of one type
	if err != nil {
		return err
	}
	var keys []string
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
			if gateway := routedBy(o, in); gateway != nil {
				keys = append(keys, "HTTPRoute "+path(o))
				fmt.Fprintf(&lines, "http://%v/ --gateway %s\n", at(o, "spec", "hostnames").([]any)[0], path(gateway))
			}
		case "Service":
			for _, c := range clients {
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
			list.Items[i].say(out, key)
		}
	}
	for i, c := range clients {
		if i == 0 || i > 2 {
			continue
		}
		from := clients[i-1]
		var answer istioPath
		if err := p.JSON(ctx, in.Objects, &answer, "request", "--from", path(from), "--to", path(c), "--protocol", "TCP", "--port", "8080", "--complete"); err != nil {
			return err
		}
		answer.say(out, "Pod "+path(from)+" to Pod "+path(c))
	}
	return nil
}

// path is the namespace and the name of an object.
func path(o object) string {
	return fmt.Sprintf("%v/%v", at(o, "metadata", "namespace"), at(o, "metadata", "name"))
}

// say notes the points: of the mesh's proxies which policies are in force there, of waypoints whether the request passes them, of workloads who is
// seen there, and what ztunnel says to that. What is said with a doubt is not compared.
func (a istioPath) say(out facts, key string) {
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
				slices.Sort(policies)
				set(out, "verdict "+key+" "+name, canonical(p.Verdict))
				if p.Verdict == "depends" {
					out["verdict "+key+" "+name] = unsaid
				}
			}
			set(out, fact, canonical(object{"kind": p.Kind, "policies": policies, "strict": strict}))
			if p.Identity == nil {
				out["identity "+key+" "+name] = unsaid
			} else {
				out["identity "+key+" "+name] = canonical(*p.Identity)
			}
		}
	}
}

// routedBy is the Gateway of a route, if it is there with the Service and, of another vendor, its Pod.
func routedBy(route object, in *input) object {
	first := func(v any, path ...string) any {
		if list, _ := at(v, path...).([]any); len(list) > 0 {
			return list[0]
		}
		return nil
	}
	parent, backend := first(route, "spec", "parentRefs"), first(first(route, "spec", "rules"), "backendRefs")
	var gateway object
	served, deployed := false, false
	for _, o := range in.Objects {
		labels := at(o, "metadata", "labels")
		switch namespace, name := at(o, "metadata", "namespace"), at(o, "metadata", "name"); {
		case o["kind"] == "Gateway" && name == at(parent, "name") && namespace == at(parent, "namespace"):
			gateway = o
		case o["kind"] == "Service" && name == at(backend, "name") && namespace == at(route, "metadata", "namespace"):
			served = true
		case at(labels, "gateway.envoyproxy.io/owning-gateway-name") == at(parent, "name") && at(labels, "gateway.envoyproxy.io/owning-gateway-namespace") == at(parent, "namespace"):
			deployed = true
		}
	}
	if !served || at(gateway, "spec", "gatewayClassName") == "eg" && !deployed {
		return nil
	}
	return gateway
}
