package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// resources are what a vendor's code tells the Envoy of one Gateway: Envoy's resources as protojson, decoded.
type resources struct {
	Listeners, Routes, Clusters, Endpoints, Secrets []object
	ports                                           map[string]int // listeners of Envoy by the ports of the Gateway, where these differ
	failed                                          string         // why the vendor's controller publishes nothing
}

// readResources reads the facts of a translator: those of each Gateway.
func readResources(facts map[string]string) (map[string]*resources, error) {
	out := map[string]*resources{}
	for key, value := range facts {
		gateway, what, _ := strings.Cut(key, ":")
		if out[gateway] == nil {
			out[gateway] = &resources{}
		}
		of := out[gateway]
		var into any
		switch what {
		case "listeners":
			into = &of.Listeners
		case "routes":
			into = &of.Routes
		case "clusters":
			into = &of.Clusters
		case "endpoints":
			into = &of.Endpoints
		case "secrets":
			into = &of.Secrets
		case "ports":
			into = &of.ports
		case "removed": // for people
			continue
		case "error":
			of.failed = value
			continue
		default:
			return nil, fmt.Errorf("the translator says something unknown: %s", key)
		}
		if err := json.Unmarshal([]byte(value), into); err != nil {
			return nil, fmt.Errorf("reading %s: %w", key, err)
		}
	}
	return out, nil
}

// servedPort is the port that Envoy listens on for a port of the Gateway.
func (r *resources) servedPort(port int) int {
	if to, ok := r.ports[strconv.Itoa(port)]; ok {
		return to
	}
	return port
}

// bootstrap is a configuration of Envoy with everything in it: nothing is asked of a control plane.
type bootstrap struct {
	resources
	listeners map[int]string    // names of listeners by the port that they had
	tables    map[string]string // which route configuration a listener uses, by its name; "" for several
	node      object            // who the proxy says it is; nil: nobody in particular
	dynamic   object            // where it reads its configuration from; nil: it is all in here
	dropped   map[string]string // what Envoy refused, by the name of a listener, and why
}

// newBootstrap makes what a translator gives a configuration that runs on loopback: every listener is on a free port, every endpoint is what
// loopback names for it, and where anything else is addressed or asked for it is an error, so that nothing leaves the machine.
func newBootstrap(r *resources, loopback func(address string) (host string, port int, ok bool)) (*bootstrap, error) {
	out := &bootstrap{listeners: map[int]string{}, tables: map[string]string{}, dropped: map[string]string{}}
	copied, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(copied, &out.resources); err != nil { // a copy
		return nil, err
	}
	for _, list := range []*[]object{&out.Listeners, &out.Routes, &out.Clusters, &out.Endpoints, &out.Secrets} {
		*list = lastOfName(*list)
	}
	for _, l := range out.Listeners {
		if err := out.addListener(l); err != nil {
			return nil, fmt.Errorf("listener %s: %w", text(l, "name"), err)
		}
	}
	for _, c := range out.Clusters {
		if err := out.inlineEndpoints(c); err != nil {
			return nil, fmt.Errorf("cluster %s: %w", text(c, "name"), err)
		}
	}
	for _, list := range [][]object{out.Listeners, out.Clusters, out.Secrets} {
		for _, o := range list {
			if err := confine(o, loopback); err != nil {
				return nil, fmt.Errorf("%s: %w", text(o, "name"), err)
			}
		}
	}
	return out, nil
}

// lastOfName leaves out what is there again under its name, as a control plane does, which keeps resources by their names.
func lastOfName(in []object) []object {
	name := func(o object) string { return text(o, "name") + text(o, "clusterName") }
	var out []object
	for i, o := range in {
		if !slices.ContainsFunc(in[i+1:], func(later object) bool { return name(later) == name(o) }) {
			out = append(out, o)
		}
	}
	return out
}

// addListener puts a listener on a free port of loopback, with its route configuration in it and an access log of ours.
func (b *bootstrap) addListener(l object) error {
	port := number(l, "address", "socketAddress", "portValue")
	if port == 0 {
		return errors.New("it has no port")
	}
	name := text(l, "name")
	b.listeners[port] = name
	l["address"] = object{"socketAddress": object{"address": "127.0.0.1", "portValue": 0}}
	delete(l, "additionalAddresses")
	l["accessLog"] = []any{}
	return eachManager(l, func(manager object) error {
		manager["accessLog"] = []any{ourLog}
		if manager["scopedRoutes"] != nil {
			return errors.New("scoped routes are not understood")
		}
		rds, ok := manager["rds"].(object)
		if !ok {
			return nil
		}
		table := b.table(text(rds, "routeConfigName"))
		delete(manager, "rds")
		manager["routeConfig"] = table
		if old, has := b.tables[name]; has && old != text(table, "name") {
			b.tables[name] = ""
		} else {
			b.tables[name] = text(table, "name")
		}
		return nil
	})
}

// table is a route configuration by its name. One that is not there is empty, as a proxy has it before it gets one.
func (b *bootstrap) table(name string) object {
	for _, r := range b.Routes {
		if text(r, "name") == name {
			r["validateClusters"] = false // as where it comes from a control plane
			return r
		}
	}
	return object{"name": name}
}

// ourLog tells what became of a request, by the number that the client gives it.
var ourLog = object{"name": "envoy.access_loggers.file", "typedConfig": object{
	"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": logPlace,
	"logFormat": object{"textFormatSource": object{"inlineString": "%REQ(" + numberHeader + ")% %ROUTE_NAME% %UPSTREAM_CLUSTER_RAW% %RESPONSE_CODE_DETAILS%\n"}},
}}

const (
	logPlace     = "ACCESS-LOG" // stands for the file until it is known
	numberHeader = "x-request-number"
	managerType  = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
)

// eachManager visits the connection managers of a listener.
func eachManager(v any, visit func(object) error) error {
	var failed error
	walk(v, func(o object) {
		if o["@type"] == managerType {
			failed = errors.Join(failed, visit(o))
		}
	})
	return failed
}

// walk visits all objects of a tree, the outer ones first.
func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		visit(v)
		for _, inner := range v {
			walk(inner, visit)
		}
	case []object:
		for _, inner := range v {
			walk(inner, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}

// inlineEndpoints gives a cluster the endpoints that it would get from a control plane.
func (b *bootstrap) inlineEndpoints(c object) error {
	switch kind := text(c, "type"); kind {
	case "EDS":
		name := text(c, "edsClusterConfig", "serviceName")
		if name == "" {
			name = text(c, "name")
		}
		c["loadAssignment"] = object{"clusterName": name}
		for _, e := range b.Endpoints {
			if text(e, "clusterName") == name {
				c["loadAssignment"] = e
			}
		}
		delete(c, "edsClusterConfig")
	case "", "STATIC", "STRICT_DNS", "LOGICAL_DNS": // whose addresses are made loopback
	default:
		return fmt.Errorf("endpoints of type %s cannot be kept on this machine", kind)
	}
	if c["clusterType"] != nil {
		return fmt.Errorf("endpoints of %s cannot be kept on this machine", text(c, "clusterType", "name"))
	}
	c["type"] = "STATIC"
	return nil
}

// confine makes the address of every socket a loopback one, takes out what is asked of a control plane where the bootstrap has it too, and refuses the
// rest.
func confine(v any, loopback func(string) (string, int, bool)) error {
	var failed error
	walk(v, func(o object) {
		delete(o, "sdsConfig") // secrets are in the bootstrap
		if a, ok := o["socketAddress"].(object); ok {
			address := text(a, "address")
			if ip := net.ParseIP(address); ip != nil && ip.IsLoopback() {
				return
			}
			host, port, known := loopback(address)
			if !known {
				failed = errors.Join(failed, fmt.Errorf("the address %s is not one of this world's backends", address))
				return
			}
			a["address"], a["portValue"] = host, port
			delete(a, "namedPort")
			delete(a, "resolverName")
		}
		for _, key := range []string{"socket_address", "pipe", "ads", "self", "apiConfigSource", "pathConfigSource", "configDiscovery", "envoyInternalAddress", "originalDstLbConfig", "dnsCacheConfig"} {
			if o[key] != nil {
				failed = errors.Join(failed, fmt.Errorf("%s is not understood, and could reach other machines", key))
			}
		}
	})
	return failed
}

// refuse takes out what Envoy refuses, by what it says: a route configuration, where one is named, which its listeners have an empty one for then, or a
// listener. false: nothing of that is named.
func (b *bootstrap) refuse(said string) bool {
	found := false
	for _, l := range b.Listeners {
		name := text(l, "name")
		eachManager(l, func(manager object) error {
			table, _ := manager["routeConfig"].(object)
			if len(list(table, "virtualHosts")) > 0 && strings.Contains(said, "in route "+text(table, "name")) {
				manager["routeConfig"] = object{"name": text(table, "name")}
				b.dropped[name], found = said, true
			}
			return nil
		})
	}
	if found {
		return true
	}
	b.Listeners = slices.DeleteFunc(b.Listeners, func(l object) bool {
		name := text(l, "name")
		if strings.Contains(said, "'"+name+"'") {
			b.dropped[name], found = said, true
			return true
		}
		return false
	})
	return found
}

// write is the text of the bootstrap, with an access log.
func (b *bootstrap) write(log string) ([]byte, error) {
	node, static := b.node, object{"secrets": b.Secrets}
	if node == nil {
		node = object{"id": "proxies", "cluster": "proxies"}
	}
	if b.dynamic == nil {
		static["listeners"], static["clusters"] = b.Listeners, b.Clusters
	}
	written, err := json.Marshal(object{
		"admin":            object{"address": object{"socketAddress": object{"address": "127.0.0.1", "portValue": 0}}},
		"node":             node,
		"static_resources": static, "dynamic_resources": b.dynamic,
		"layered_runtime": object{"layers": []any{object{"name": "static", "static_layer": object{
			"re2.max_program_size.error_level": 4294967295, "re2.max_program_size.warn_level": 1000}}}},
		"stats_config": object{"stats_matcher": object{"reject_all": true}},
	})
	return []byte(strings.ReplaceAll(string(written), logPlace, log)), err
}
