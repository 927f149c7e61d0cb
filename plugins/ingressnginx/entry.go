package ingressnginx

import (
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// entry is an Ingress of the controller, with what its annotations say.
type entry struct {
	object   *model.Object
	rules    []hostRule
	fallback *serviceRef // its defaultBackend; nil: none
	tls      bool        // it has an entry for certificates
	secrets  []tlsSecret
	settings settings
	reader   *annotationReader
	used     bool // something of it is in force
}

// hostRule is a rule of an Ingress.
type hostRule struct {
	host  string // defaultHost: all that have no other
	http  bool   // it has a part about paths
	paths []pathRule
	index int
}

// pathRule is a path of a rule.
type pathRule struct {
	path    string // never empty
	written string
	exact   bool
	service *serviceRef // nil: the backend is none
	origin  model.Origin
}

// serviceRef names a Service and a port of it, by number or name.
type serviceRef struct {
	namespace, name, port string
	number                int32
}

// key is the name of the group of endpoints that the controller makes of it.
func (s *serviceRef) key() string { return s.namespace + "-" + s.name + "-" + s.port }

// tlsSecret is a certificate of an Ingress and the hosts that it is for.
type tlsSecret struct {
	hosts  []string
	secret string
}

// defaultHost is the server of requests to hosts that nobody names.
const defaultHost = "_"

// readEntry reads an Ingress with its annotations.
func (c *controller) readEntry(o *model.Object) *entry {
	e := &entry{object: o, reader: &annotationReader{ingress: o, control: c}}
	spec := o.Body.Field("spec")
	for i, rule := range spec.Field("rules").Items {
		e.rules = append(e.rules, readHostRule(o, rule, i))
	}
	e.fallback = readService(spec.Field("defaultBackend"), o.Ref.Namespace)
	for _, t := range spec.Field("tls").Items {
		e.tls = true
		s := tlsSecret{secret: t.Text("secretName")}
		for _, h := range t.Field("hosts").Items {
			s.hosts = append(s.hosts, h.Text())
		}
		e.secrets = append(e.secrets, s)
	}
	e.reader.checkDropped()
	if e.reader.dropped == "" {
		e.settings = e.reader.readSettings()
	}
	return e
}

func readHostRule(o *model.Object, rule model.Body, index int) hostRule {
	r := hostRule{host: rule.Text("host"), index: index, http: !rule.Field("http").IsNull()}
	if r.host == "" {
		r.host = defaultHost
	}
	for i, p := range rule.At("http", "paths").Items {
		path := pathRule{path: p.Text("path"), written: p.Text("path"), exact: p.Text("pathType") == "Exact",
			service: readService(p.Field("backend"), o.Ref.Namespace),
			origin:  o.OriginOf("spec", "rules", strconv.Itoa(index), "http", "paths", strconv.Itoa(i), "path")}
		if path.path == "" {
			path.path = "/"
		}
		r.paths = append(r.paths, path)
	}
	return r
}

// readService reads the backend of a path; nil: it is no Service.
func readService(backend model.Body, namespace string) *serviceRef {
	service := backend.Field("service")
	if !service.IsObject() {
		return nil
	}
	s := &serviceRef{namespace: namespace, name: service.Text("name"), port: service.Text("port", "name")}
	if n, ok := service.Get("port", "number").(int64); ok && n > 0 {
		s.number, s.port = int32(n), strconv.FormatInt(n, 10)
	}
	return s
}

// findSecret returns the Secret with the certificate of a host, as the tls entries name it.
func (e *entry) findSecret(host string) string {
	for _, s := range e.secrets {
		for _, h := range s.hosts {
			if equalHosts(h, host) {
				return s.secret
			}
		}
	}
	return ""
}
