package ingresstest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// drawing draws one set of Ingresses, and requests to them.
type drawing struct {
	*rand.Rand
	c     *cluster
	hosts []string // those of the set
	paths []string
	dated bool // Ingresses have times
}

var (
	allHosts = []string{"shop.example.com", "www.shop.example.com", "a.w.example.com", "*.w.example.com", "",
		"b.example.org"}
	plainPaths = []string{"/", "/", "/cart", "/cart/", "/cart/items", "/api", "/api/v1", "/Cart", "/pay.html", "/x",
		"/.well-known/acme-challenge/", ""}
	expressions = []string{"/api/(.*)", "/v[0-9]+", "/cart(/|$)(.*)", "/(a|b)/x", "/[A-Z]{3}", "/pay.*", "/x|/y"}
	types       = []networking.PathType{networking.PathTypePrefix, networking.PathTypeExact,
		networking.PathTypeImplementationSpecific}
)

// newDrawing draws the set of a seed. Configurations that are refused say little, so most are drawn again.
func newDrawing(seed uint64) *drawing {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 1))}
	for {
		d.drawSet()
		if !newProxy(d.c).isRefused() || d.chance(4) {
			return d
		}
	}
}

func (d *drawing) drawSet() {
	d.c = &cluster{}
	d.dated = !d.chance(8)
	d.hosts = d.some(allHosts, 1+d.IntN(3))
	d.paths = d.some(plainPaths, 2+d.IntN(3))
	if d.chance(2) {
		d.paths = append(d.paths, d.some(expressions, 1+d.IntN(2))...)
	}
	if d.chance(60) {
		d.paths = append(d.paths, "/a(")
	}
	d.drawServices()
	d.drawSettings()
	for i := range 1 + d.IntN(6) {
		d.drawIngress(i)
	}
}

// chance is true in one of n cases.
func (d *drawing) chance(n int) bool { return d.IntN(n) == 0 }

func (d *drawing) pick(of ...string) string { return of[d.IntN(len(of))] }

// some draws n of several, perhaps one of them twice.
func (d *drawing) some(of []string, n int) []string {
	var out []string
	for range n {
		out = append(out, d.pick(of...))
	}
	return out
}

// drawServices makes the Services of both namespaces: `idle` has no endpoints. What is not in
// the input would be taken to be there.
func (d *drawing) drawServices() {
	for _, namespace := range []string{"store", "other"} {
		for _, name := range []string{"s0", "s1", "s2", "c0", "c1", "idle", "errors", "verify"} {
			d.c.services = append(d.c.services, &core.Service{
				TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: nameObject(namespace, name),
				Spec: core.ServiceSpec{Ports: []core.ServicePort{
					{Name: "main", Port: 80, TargetPort: intstr.FromInt32(8080)},
					{Name: "admin", Port: 81, TargetPort: intstr.FromString("web")}}}})
		}
		slice := &discovery.EndpointSlice{TypeMeta: meta.TypeMeta{APIVersion: "discovery.k8s.io/v1",
			Kind: "EndpointSlice"}, ObjectMeta: nameObject(namespace, "idle-1"), AddressType: discovery.AddressTypeIPv4,
			Endpoints: []discovery.Endpoint{}}
		slice.Labels = map[string]string{discovery.LabelServiceName: "idle"}
		d.c.slices = append(d.c.slices, slice)
		for _, pair := range [][2]string{{"users", "auth"}, {"keyless", "other"}, {"ca", "ca.crt"}} {
			name, key := pair[0], pair[1]
			d.c.secrets = append(d.c.secrets, &core.Secret{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Secret"},
				ObjectMeta: nameObject(namespace, name), Type: core.SecretTypeOpaque, StringData: map[string]string{key: "x"}})
		}
	}
}

func nameObject(namespace, name string) meta.ObjectMeta {
	return meta.ObjectMeta{Namespace: namespace, Name: name}
}

// drawSettings draws settings of the controller.
func (d *drawing) drawSettings() {
	data := map[string]string{}
	for _, one := range []struct{ key, value string }{{"ssl-redirect", "false"}, {"force-ssl-redirect", "true"},
		{"use-forwarded-headers", "true"}, {"whitelist-source-range", "10.0.0.0/8"},
		{"denylist-source-range", "198.51.100.0/24"}, {"block-cidrs", "10.0.0.0/8"},
		{"block-user-agents", "~*badbot"}, {"global-auth-url", verifyURL}, {"no-auth-locations", "/cart"},
		{"no-tls-redirect-locations", "/api,/x"}, {"http-redirect-code", "301"}, {"proxy-body-size", "2k"},
		{"annotation-value-word-blocklist", "moved"}} {
		if d.chance(25) {
			data[one.key] = one.value
		}
	}
	if len(data) > 0 || d.chance(4) {
		d.c.settings = &core.ConfigMap{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: nameObject("ingress-nginx", "ingress-nginx-controller"), Data: data}
	}
}

// drawIngress adds an Ingress. The first one is the controller's, and no canary.
func (d *drawing) drawIngress(i int) {
	ing := &networking.Ingress{TypeMeta: meta.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: nameObject("store", fmt.Sprintf("i%d", i))}
	if d.chance(8) {
		ing.Namespace = "other"
	}
	if d.dated {
		ing.CreationTimestamp = meta.NewTime(time.Date(2025, 1, 1+d.IntN(12), 0, 0, 0, 0, time.UTC))
	}
	d.drawClass(ing, i)
	d.c.ingresses = append(d.c.ingresses, ing)
	if i > 0 && d.chance(3) {
		d.drawCanary(ing)
		return
	}
	ing.Annotations = d.drawAnnotations(ing)
	if d.chance(8) {
		ing.Spec.DefaultBackend = d.drawBackend("s")
		if d.chance(2) {
			return
		}
	}
	for range 1 + d.IntN(2) {
		rule := networking.IngressRule{Host: d.pick(d.hosts...)}
		if !d.chance(12) {
			rule.HTTP = &networking.HTTPIngressRuleValue{}
			for range 1 + d.IntN(3) {
				rule.HTTP.Paths = append(rule.HTTP.Paths, networking.HTTPIngressPath{Path: d.pick(d.paths...),
					PathType: d.drawType(), Backend: *d.drawBackend("s")})
			}
		}
		ing.Spec.Rules = append(ing.Spec.Rules, rule)
	}
	if d.chance(3) {
		ing.Spec.TLS = []networking.IngressTLS{{Hosts: []string{d.pick("shop.example.com", "z.example.com")},
			SecretName: "cert"}}
	}
}

// drawClass draws what follows N1.
func (d *drawing) drawClass(ing *networking.Ingress, i int) {
	class := "nginx"
	switch {
	case i > 0 && d.chance(12):
		class = d.pick("traefik", "missing")
	case d.chance(12):
		ing.Annotations = map[string]string{"kubernetes.io/ingress.class": "nginx"}
		return
	}
	ing.Spec.IngressClassName = &class
}

func (d *drawing) drawType() *networking.PathType { return &types[min(d.IntN(4), 2)] }

// drawBackend draws a Service whose name begins so; some have no endpoints.
func (d *drawing) drawBackend(kind string) *networking.IngressBackend {
	names := map[string][]string{"s": {"s0", "s1", "s2", "s0", "s1", "s2", "s0", "s1", "s2", "idle"},
		"c": {"c0", "c1"}}[kind]
	port := networking.ServiceBackendPort{Number: 80}
	switch d.IntN(14) {
	case 0:
		port = networking.ServiceBackendPort{Name: d.pick("main", "web", "none")}
	case 1:
		port.Number = []int32{81, 8080}[d.IntN(2)]
	}
	return &networking.IngressBackend{Service: &networking.IngressServiceBackend{Name: d.pick(names...), Port: port}}
}

// drawCanary makes a canary, mostly of a path that is there.
func (d *drawing) drawCanary(ing *networking.Ingress) {
	ing.Annotations = map[string]string{prefix + "canary": "true"}
	set := func(name string, values ...string) {
		if d.chance(2) {
			ing.Annotations[prefix+name] = d.pick(values...)
		}
	}
	set("canary-by-header", "X-Next")
	set("canary-by-cookie", "next")
	set("canary-weight", "10", "100", "300", "half")
	if d.chance(4) {
		set("canary-by-header-value", "blue")
		set("canary-by-header-pattern", "^b", "(b")
		set("canary-weight-total", "200", "20")
		set("rewrite-target", "/new")
		set("ssl-redirect", "false")
	}
	path := networking.HTTPIngressPath{Path: d.pick("/", "/cart"), PathType: d.drawType()}
	host := d.pick(d.hosts...)
	for _, rule := range d.c.ingresses[d.IntN(len(d.c.ingresses)-1)].Spec.Rules {
		if rule.HTTP != nil && !d.chance(6) {
			ing.Namespace = d.c.ingresses[0].Namespace
			host, path = rule.Host, rule.HTTP.Paths[d.IntN(len(rule.HTTP.Paths))]
		}
	}
	path.Backend = *d.drawBackend("c")
	if path.Path == "" || strings.HasPrefix(path.Path, "/a(") {
		path.Path = "/"
	}
	ing.Spec.Rules = []networking.IngressRule{{Host: host, IngressRuleValue: networking.IngressRuleValue{
		HTTP: &networking.HTTPIngressRuleValue{Paths: []networking.HTTPIngressPath{path}}}}}
	if d.chance(4) {
		path.Path, path.Backend = d.pick(d.paths...)+"/more", *d.drawBackend("c")
		ing.Spec.Rules[0].HTTP.Paths = append(ing.Spec.Rules[0].HTTP.Paths, path)
	}
}
