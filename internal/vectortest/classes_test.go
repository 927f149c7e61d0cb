package vectortest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// asking is a request of a case, as its expect.yaml describes it.
type asking struct {
	Request struct {
		Host, Method, Scheme, Path, Gateway, SNI, GRPC, Protocol, FromNamespace string

		Port    int
		Headers map[string]string
		Query   map[string]string
	} `json:"request"`
}

// request is the request as it can be asked about.
func (q *asking) request() (request.Request, error) {
	a := q.Request
	text := fmt.Sprintf("%s://%s:%d%s", a.Scheme, a.Host, a.Port, a.Path)
	separator := "?"
	for name, value := range a.Query {
		text += separator + url.QueryEscape(name) + "=" + url.QueryEscape(value)
		separator = "&"
	}
	o := request.Options{SNI: a.SNI, GRPC: a.GRPC}
	for name, value := range a.Headers {
		o.Headers = append(o.Headers, name+": "+value)
	}
	return request.New(a.Method, text, o)
}

// TestRequestsOfCases holds the requests of cases against their classes: each is in one, and what
// becomes of it is what becomes of the class. CASES is a folder with a folder for each case, which
// has input.yaml and expect.yaml.
func TestRequestsOfCases(t *testing.T) {
	folder := os.Getenv("CASES")
	if folder == "" {
		t.Skip("CASES names no folder")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "expect.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", folder, err)
	}
	asked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var expect struct{ Requests []asking }
		if err := yaml.Unmarshal(text, &expect); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(expect.Requests) > 0 {
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				asked += holdAgainstClasses(t,
					filepath.Dir(file), expect.Requests)
			})
		}
	}
	if asked == 0 {
		t.Error("no case has a request that comes to a Gateway")
	}
	t.Logf("%d requests", asked)
}

func holdAgainstClasses(t *testing.T, folder string, requests []asking) (asked int) {
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := load.Files(context.Background(), load.Options{Paths: []string{filepath.Join(folder, "input.yaml")}})
	if err != nil {
		t.Fatal(err)
	}
	settings := catalog.Settings()
	graph := build.Graph(in, settings, catalog.Links()...)
	m := request.NewMatcher(graph, settings)
	var classes []*space.Class
	if err := space.Walk(m, space.Scope{Destination: request.Destination{Gateway: topology.None}},
		func(c *space.Class) bool { classes = append(classes, c); return true }); err != nil {
		t.Fatal(err)
	}
	for _, q := range requests {
		a := q.Request
		if a.FromNamespace != "" || a.Protocol != "" || a.SNI != "" && a.SNI != a.Host {
			continue // docs/prove.md: what is not proved
		}
		r, err := q.request()
		if err != nil {
			t.Errorf("%+v: %v", a, err)
			continue
		}
		where := request.Destination{Gateway: topology.None}
		if namespace, name, ok := strings.Cut(a.Gateway, "/"); ok {
			where.Gateway = graph.Lookup(model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway",
				Namespace: namespace, Name: name})[0]
		}
		answer, err := m.FindRule(r, where)
		if err != nil {
			t.Errorf("%s: %v", r.Text, err)
			continue
		}
		var held []*space.Class
		for _, c := range classes {
			if c.Entry.Gateway == answer.Gateway && c.Entry.Port == r.Port && c.Entry.Secure == r.Secure &&
				c.Contains(&answer.Request) {
				held = append(held, c)
			}
		}
		asked++
		switch {
		case len(held) == 0 && answer.Rule == topology.None:
		case len(held) != 1:
			t.Errorf("%s is in %d classes: %+v", answer.Request.Text, len(held), answer)
		case held[0].Unknown == "" && !alike(held[0].Answer, answer):
			t.Errorf("%s: %+v\nclass %s: %+v", answer.Request.Text, answer, held[0].Text(), held[0].Answer)
		}
	}
	return asked
}

// alike reports whether two answers are the same, or each is among what is possible of the other.
func alike(a, b *request.Answer) bool {
	return a.Listener == b.Listener && a.Rule == b.Rule && a.Outcome == b.Outcome &&
		len(a.Possible) == len(b.Possible) ||
		slices.ContainsFunc(a.Possible, func(o *request.Answer) bool { return o.Rule == b.Rule })
}
