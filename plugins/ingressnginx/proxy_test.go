package ingressnginx

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

type object = map[string]any

type notes = map[string]string

const host = "shop.example.com"

// newIngress makes an Ingress of one host. A path is PATH>SERVICE, of an Exact path =PATH>SERVICE.
func newIngress(name, host string, annotations notes, paths ...string) *model.Object {
	var list []any
	for _, text := range paths {
		path, service, _ := strings.Cut(text, ">")
		kind := "Prefix"
		if rest, exact := strings.CutPrefix(path, "="); exact {
			path, kind = rest, "Exact"
		}
		list = append(list, object{"path": path, "pathType": kind, "backend": newBackend(service)})
	}
	rule := object{"http": object{"paths": list}}
	if host != "" {
		rule["host"] = host
	}
	return newIngressOf(name, annotations, object{"rules": []any{rule}})
}

func newBackend(service string) object {
	return object{"service": object{"name": service, "port": object{"number": int64(80)}}}
}

func newIngressOf(name string, annotations notes, spec object) *model.Object {
	spec["ingressClassName"] = "nginx"
	o := &model.Object{Ref: model.Ref{Group: "networking.k8s.io", Kind: "Ingress", Namespace: "store", Name: name},
		Annotations: map[string]string{}, Body: model.Pack(object{"spec": spec}, nil)}
	for key, value := range annotations {
		o.Annotations[defaultPrefix+"/"+key] = value
	}
	return o
}

// withTLS adds an entry for certificates.
func withTLS(o *model.Object) *model.Object {
	body := o.Body.Value().(map[string]any)
	body["spec"].(map[string]any)["tls"] = []any{object{"hosts": []any{host}}}
	o.Body = model.Pack(body, nil)
	return o
}

func newConfigMap(data object) *model.Object {
	return newData("ConfigMap", "ingress-nginx", "ingress-nginx-controller", data)
}

func newData(kind, namespace, name string, data object) *model.Object {
	return &model.Object{Ref: model.Ref{Kind: kind, Namespace: namespace, Name: name},
		Body: model.Pack(object{"data": data}, nil)}
}

// newController makes the Deployment with flags.
func newController(flags ...string) *model.Object {
	args := []any{"/nginx-ingress-controller"}
	for _, f := range flags {
		args = append(args, f)
	}
	return &model.Object{Ref: model.Ref{Group: "apps", Kind: "Deployment", Namespace: "ingress-nginx", Name: "controller"},
		Body: model.Pack(object{"spec": object{"template": object{"spec": object{"containers": []any{
			object{"image": "controller:v1.15.1", "args": args}}}}}}, nil)}
}

func newService(name string) *model.Object {
	return &model.Object{Ref: model.Ref{Kind: "Service", Namespace: "store", Name: name}, Body: model.Pack(object{
		"spec": object{"ports": []any{object{"name": "main", "port": int64(80)}}}}, nil)}
}

// newProxy makes the proxy of objects, with some Services.
func newProxy(objects ...*model.Object) *ingress.Proxy {
	for _, name := range []string{"web", "cart", "next", "errors"} {
		objects = append(objects, newService(name))
	}
	return readProxy(model.NewSnapshot(objects, nil))
}

// newRequest reads METHOD URL, with circumstances behind it: ip=ADDRESS, body=BYTES, name:value.
func newRequest(t *testing.T, text string) *request.Request {
	t.Helper()
	words := strings.Fields(text)
	var o request.Options
	var with request.Circumstances
	for _, w := range words[2:] {
		switch key, value, _ := strings.Cut(w, "="); key {
		case "ip":
			with.ClientAddress = netip.MustParseAddr(value)
		case "body":
			fmt.Sscan(value, &with.BodyBytes)
		case "repeat":
			fmt.Sscan(value, &with.Repeat)
		case "external":
			fmt.Sscan(value, &with.Assumed.External)
		case "backend":
			fmt.Sscan(value, &with.Assumed.Backend)
		case "basic":
			with.Assumed.BasicAccepted = true
		case "cert":
			with.Certificate = request.Certificate{Shown: true, Trusted: true, Subject: value}
		default:
			o.Headers = append(o.Headers, w)
		}
	}
	r, err := request.New(words[0], words[1], o)
	if err != nil {
		t.Fatal(err)
	}
	r.Circumstances = with
	return &r
}

// formatAnswer is an answer in a line.
func formatAnswer(a *ingress.Answer) string {
	out := string(a.Outcome)
	if a.Status != 0 {
		out += fmt.Sprint(" ", a.Status)
	}
	for _, word := range []string{string(a.DeniedBy), a.Location} {
		if word != "" {
			out += " " + word
		}
	}
	for _, b := range a.Backends {
		if b.Weight > 0 {
			out += fmt.Sprintf(" %s:%d%s", b.Ref.Name, b.Port, b.Path)
		}
	}
	for _, s := range a.Statuses {
		out += fmt.Sprintf(" %d=%d-%d", s.Status, s.Least, s.Most)
	}
	return out
}

// answerCase is a request to a proxy, and what becomes of it.
type answerCase struct {
	name    string
	objects []*model.Object
	request string
	want    string
	why     string // part of the reason of NotEvaluated
}

func checkAnswers(t *testing.T, cases []answerCase) {
	t.Helper()
	for _, c := range cases {
		got := newProxy(c.objects...).Answer(newRequest(t, c.request), nil)
		if text := formatAnswer(got); text != c.want {
			t.Errorf("%s: %s, want %s (%q)", c.name, text, c.want, got.Why)
		}
		if c.why != "" && !strings.Contains(strings.Join(got.Why, "\n"), c.why) {
			t.Errorf("%s: %q, want %q in it", c.name, got.Why, c.why)
		}
	}
}

func one(o ...*model.Object) []*model.Object { return o }
