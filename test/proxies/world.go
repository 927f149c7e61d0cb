package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// object is a Kubernetes object as JSON has it.
type object = draw.Object

// world is what a translator gets, a line of JSON. It follows from its seed and what the vendor takes.
type world struct {
	Seed    int64    `json:"seed"`
	Objects []object `json:"objects"`
	// Requests are those that the world's proxies are asked, for a translator that answers them itself.
	Requests []request `json:"requests,omitempty"`
}

// clone is a deep copy, in which lists are those that JSON has.
func (w *world) clone() (*world, error) {
	text, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	out := &world{}
	return out, json.Unmarshal(text, out)
}

// of lists the objects of a kind.
func (w *world) of(kind string) []object {
	var out []object
	for _, o := range w.Objects {
		if o["kind"] == kind {
			out = append(out, o)
		}
	}
	return out
}

// backends are the Services of the world, namespace/name, by the addresses that proxies may know them by.
func (w *world) backends() map[string]string {
	out := map[string]string{}
	for _, o := range w.of("Service") {
		out[text(o, "spec", "clusterIP")] = named(o)
	}
	for _, o := range w.of("EndpointSlice") {
		service := text(o, "metadata", "namespace") + "/" + text(o, "metadata", "labels", "kubernetes.io/service-name")
		endpoints, _ := o["endpoints"].([]any)
		for _, e := range endpoints {
			for _, address := range list(e, "addresses") {
				out[fmt.Sprint(address)] = service
			}
		}
	}
	return out
}

// named is namespace/name of an object.
func named(o object) string {
	return text(o, "metadata", "namespace") + "/" + text(o, "metadata", "name")
}

// at is what a tree has at a path, or nil.
func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// text is the text that a tree has at a path, or "".
func text(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

// list is the list that a tree has at a path.
func list(v any, path ...string) []any {
	l, _ := at(v, path...).([]any)
	return l
}

// number is the number that a tree has at a path, or 0.
func number(v any, path ...string) int {
	n, _ := at(v, path...).(float64)
	return int(n)
}

// request is what a proxy is asked.
type request struct {
	Gateway string `json:"gateway"` // namespace/name
	Port    int    `json:"port"`    // of a listener of it
	TLS     bool   `json:"tls,omitempty"`
	SNI     string `json:"sni,omitempty"`
	Host    string `json:"host"`           // the Host header, which may have a port
	GRPC    bool   `json:"grpc,omitempty"` // it is a gRPC call: POST with a content type of its own, and the path /service/method
	Method  string `json:"method"`
	Path    string `json:"path"` // and query, exactly as it is sent
	// Headers are names and values, in the order of sending; a name may occur twice.
	Headers [][2]string `json:"headers,omitempty"`
}

func (r request) String() string {
	scheme := "http"
	if r.TLS {
		scheme = "https"
	}
	method := r.Method
	if r.GRPC {
		method = "gRPC"
	}
	out := fmt.Sprintf("%s %s://%s%s at gateway/%s:%d", method, scheme, r.Host, r.Path, r.Gateway, r.Port)
	if r.TLS && r.SNI != hostOnly(r.Host) {
		out += " SNI " + r.SNI
	}
	for _, h := range r.Headers {
		out += fmt.Sprintf(", %s: %s", h[0], h[1])
	}
	return out
}

// reply is what became of a request.
type reply struct {
	// Refused: the proxy refuses the configuration that this request would meet, and says this.
	Refused string `json:"refused,omitempty"`
	// Closed: the connection was closed without an answer.
	Closed   bool   `json:"closed,omitempty"`
	Status   int    `json:"status,omitempty"`
	Location string `json:"location,omitempty"`
	// What a backend got: its namespace/name, and the request as it came there. "": none did.
	Backend string `json:"backend,omitempty"`
	Method  string `json:"method,omitempty"`
	Host    string `json:"host,omitempty"`
	Path    string `json:"path,omitempty"`
	// Ties are the rules that could as well have answered: which of them does is chance.
	Ties []string `json:"ties,omitempty"`
	// Note is what else the proxy says of it, for people.
	Note string `json:"note,omitempty"`
}

func (r reply) String() string {
	switch {
	case r.Refused != "":
		return "the proxy refuses its configuration: " + r.Refused
	case r.Closed:
		return "the connection is closed"
	case r.Backend != "":
		return fmt.Sprintf("%d from %s, which got %s %s%s", r.Status, r.Backend, r.Method, r.Host, r.Path)
	case r.Location != "":
		return fmt.Sprintf("%d to %s", r.Status, r.Location)
	}
	return fmt.Sprint(r.Status)
}

// gateways are those of the world, namespace/name.
func (w *world) gateways() []string {
	var out []string
	for _, o := range w.of("Gateway") {
		out = append(out, named(o))
	}
	slices.Sort(out)
	return out
}
