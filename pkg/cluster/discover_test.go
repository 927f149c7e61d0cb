package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// servedBy writes what is found on a server with these answers, a line for each kind.
func servedBy(t *testing.T, answers map[string]string) (string, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		contentType, body, _ := strings.Cut(body, "\n")
		switch {
		case !ok:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w,
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"not here"}`)
			return
		case !strings.Contains(r.Header.Get("Accept"), strings.ReplaceAll(contentType, " ", "")):
			t.Errorf("GET %s accepts %q", r.URL.Path, r.Header.Get("Accept"))
		}
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	s, err := NewServer(&rest.Config{Host: server.URL}, document.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := s.discoverKinds(t.Context())
	var out strings.Builder
	for _, k := range kinds {
		fmt.Fprintln(&out, k.GroupKind, k.Version, k.Plural, k.Singular, k.ShortNames, k.Namespaced)
	}
	return out.String(), err
}

const (
	asJSON       = "application/json\n"
	asWhole      = "application/json; g=apidiscovery.k8s.io; v=v2; as=APIGroupDiscoveryList\n"
	asBetaList   = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList\n"
	coreWhole    = `{"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"namespaces","responseKind":{"group":"","version":"v1","kind":"Namespace"},"scope":"Cluster","singularResource":"namespace","verbs":["get","list"],"shortNames":["ns"]},{"resource":"bindings","responseKind":{"group":"","version":"v1","kind":"Binding"},"scope":"Namespaced","singularResource":"binding","verbs":["create"]}]}]}]}`
	groupsWhole  = `{"items":[{"metadata":{"name":"a.example"},"versions":[{"version":"v1","freshness":"Stale"},{"version":"v1beta1","freshness":"Current","resources":[{"resource":"as","responseKind":{"group":"a.example","version":"v1beta1","kind":"A"},"scope":"Namespaced","singularResource":"a","verbs":["list"]},{"resource":"parents","scope":"Namespaced","singularResource":"parent","verbs":["list"],"subresources":[{"subresource":"x","responseKind":{"group":"a.example","version":"v1beta1","kind":"X"},"verbs":["list"]}]}]},{"version":"v1alpha1","resources":[{"resource":"as","responseKind":{"group":"a.example","version":"v1alpha1","kind":"A"},"scope":"Namespaced","singularResource":"a","verbs":["list"]},{"resource":"olds","responseKind":{"group":"a.example","version":"v1alpha1","kind":"Old"},"scope":"Cluster","singularResource":"old","verbs":["list"]}]}]}]}`
	coreVersions = `{"kind":"APIVersions","versions":["v1"]}`
	coreKinds    = `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace","verbs":["get","list"],"shortNames":["ns"]},{"name":"namespaces/status","singularName":"","namespaced":false,"kind":"Namespace","verbs":["list"]}]}`
	groups       = `{"kind":"APIGroupList","groups":[{"name":"a.example","versions":[{"groupVersion":"a.example/v1alpha1","version":"v1alpha1"},{"groupVersion":"a.example/v1","version":"v1"}],"preferredVersion":{"groupVersion":"a.example/v1","version":"v1"}},{"name":"b.example","versions":[{"groupVersion":"b.example/v1","version":"v1"}],"preferredVersion":{"groupVersion":"b.example/v1","version":"v1"}}]}`
	alphaKinds   = `{"kind":"APIResourceList","groupVersion":"a.example/v1alpha1","resources":[{"name":"as","singularName":"a","namespaced":true,"kind":"A","verbs":["list"]},{"name":"olds","singularName":"old","namespaced":false,"kind":"Old","verbs":["list"]}]}`
	v1Kinds      = `{"kind":"APIResourceList","groupVersion":"a.example/v1","resources":[{"name":"as","singularName":"a","namespaced":true,"kind":"A","verbs":["list"]}]}`
)

func TestDiscover(t *testing.T) {
	namespaces := "Namespace v1 namespaces namespace [ns] false\n"
	tests := []struct {
		name    string
		answers map[string]string
		want    string
		failed  string
	}{
		{"all in two answers", map[string]string{"/api": asWhole + coreWhole, "/apis": asWhole + groupsWhole},
			namespaces + "A.a.example v1beta1 as a [] true\nOld.a.example v1alpha1 olds old [] false\n",
			"a.example/v1: stale GroupVersion discovery: a.example/v1"},
		{"all in two answers of an older server", map[string]string{"/api": asBetaList + coreWhole,
			"/apis": asBetaList + groupsWhole},
			namespaces + "A.a.example v1beta1 as a [] true\nOld.a.example v1alpha1 olds old [] false\n",
			"a.example/v1: stale GroupVersion discovery: a.example/v1"},
		{"no core group", map[string]string{"/apis": asWhole + groupsWhole},
			"A.a.example v1beta1 as a [] true\nOld.a.example v1alpha1 olds old [] false\n",
			"a.example/v1: stale GroupVersion discovery: a.example/v1"},
		{"an answer for each version", map[string]string{"/api": asJSON + coreVersions, "/api/v1": asJSON + coreKinds,
			"/apis":              asJSON + groups,
			"/apis/a.example/v1": asJSON + v1Kinds, "/apis/a.example/v1alpha1": asJSON + alphaKinds},
			namespaces + "A.a.example v1 as a [] true\nOld.a.example v1alpha1 olds old [] false\n",
			"b.example/v1: not here"},
		{"only one of the two is whole", map[string]string{"/api": asWhole + coreWhole, "/api/v1": asJSON + coreKinds,
			"/apis":              asJSON + groups,
			"/apis/a.example/v1": asJSON + v1Kinds, "/apis/a.example/v1alpha1": asJSON +
				alphaKinds, "/apis/b.example/v1": asJSON + `{}`},
			namespaces + "A.a.example v1 as a [] true\nOld.a.example v1alpha1 olds old [] false\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := servedBy(t, tt.answers)
			if got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			var failed failedGroups
			if tt.failed == "" != (err == nil) || err != nil && (!errors.As(err, &failed) ||
				err.Error() != "unable to retrieve the complete list of server APIs: "+tt.failed) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestDiscoverNothing has servers that say nothing of what they serve: there are no kinds then.
func TestDiscoverNothing(t *testing.T) {
	for _, answers := range []map[string]string{{}, {"/api": asWhole + coreWhole}, {"/api": asWhole + `{"items":`,
		"/apis": asWhole + groupsWhole}} {
		kinds, err := servedBy(t, answers)
		var failed failedGroups
		if err == nil || errors.As(err, &failed) || kinds != "" {
			t.Errorf("found %q, with the error %v", kinds, err)
		}
	}
}
