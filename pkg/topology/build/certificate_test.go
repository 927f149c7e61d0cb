package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// secured is a Gateway whose one listener has the given TLS.
func secured(protocol, tls string) string {
	return fmt.Sprintf(
		"{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw, namespace: infra}, spec: {listeners: [{name: l, port: 443, protocol: %s, tls: %s}]}}\n---\n", protocol, tls)
}

const (
	infra  = "{apiVersion: v1, kind: Namespace, metadata: {name: infra}}\n---\n"
	pair   = "{apiVersion: v1, kind: Secret, metadata: {name: pair, namespace: infra}, data: {tls.crt: {present: true, pem: true}, tls.key: {present: true, pem: false}}}\n---\n"
	text   = "{apiVersion: v1, kind: Secret, metadata: {name: text, namespace: infra}, data: {tls.crt: {present: true, pem: false}, tls.key: {present: true, pem: true}}}\n---\n"
	remote = "{apiVersion: v1, kind: Secret, metadata: {name: remote, namespace: other}, data: {}}\n---\n"
	roots  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: roots, namespace: infra}, binaryData: {ca.crt: aGVsbG8=}}\n---\n"
)

// verdict is what became of the references of the first listener.
func verdict(t *testing.T, manifests string, cluster *model.Cluster, settings model.Settings) (topology.ListenerFacts,
	testGraph) {
	t.Helper()
	in := model.NewSnapshot(objects(t, manifests), nil)
	in.Cluster = cluster
	g := testGraph{Graph(in, settings)}
	ids := g.Lookup(model.Ref{Group: gatewayapi.GatewayGroup, Kind: "Gateway", Namespace: "infra", Name: "gw",
		Section: "l"})
	if len(ids) != 1 {
		t.Fatalf("%d listeners", len(ids))
	}
	return g.Listener(ids[0]), g
}

func TestCertificates(t *testing.T) { // gatewayapi G58
	checked := model.NewSettings(map[string]any{gatewayapi.CheckCertificates: true})
	here, gone := "{certificateRefs: [{name: pair}]}", "{certificateRefs: [{name: gone}]}"
	for _, c := range []struct {
		name, manifests string
		cluster         *model.Cluster
		settings        model.Settings
		want            string // reason of ResolvedRefs, ? for Unknown
	}{
		{"there", secured("HTTPS", here) + pair, nil, model.Settings{}, ""},
		{"missing beside another Secret", secured("HTTPS", gone) + pair, nil, model.Settings{},
			"InvalidCertificateRef"},
		{"missing where the Namespace is", secured("HTTPS", gone) + infra + remote, nil, model.Settings{},
			"InvalidCertificateRef"},
		{"its namespace is not known", secured("HTTPS", gone) + remote, nil, model.Settings{}, "?"},
		{"Secrets are not known", secured("HTTPS", gone) + infra, nil, model.Settings{}, "?"},
		{"never read from a cluster", secured("HTTPS", gone) + infra + pair, &model.Cluster{}, model.Settings{}, "?"},
		{"trouble before doubt", secured("HTTPS", "{certificateRefs: [{name: gone}, {kind: Pod, name: pair}]}") +
			infra, nil, model.Settings{}, "InvalidCertificateRef"},
		{"no name", secured("HTTPS", "{certificateRefs: [{}]}"), nil, model.Settings{}, "InvalidCertificateRef"},
		{"wrong type", secured("HTTPS", "{certificateRefs: [7]}"), nil, model.Settings{}, "InvalidCertificateRef"},
		{"not PEM", secured("HTTPS", "{certificateRefs: [{name: text}]}") + text, nil, model.Settings{}, ""},
		{"not PEM, judged", secured("HTTPS", "{certificateRefs: [{name: text}]}") + text, nil, checked,
			"InvalidCertificateRef"},
		{"TLS by default terminates", secured("TLS", gone) + pair, nil, model.Settings{}, "InvalidCertificateRef"},
		{"an unknown mode", secured("TLS", "{mode: Other, certificateRefs: [{name: gone}]}") + pair, nil,
			model.Settings{}, ""},
		{"withheld grants", secured("HTTPS", "{certificateRefs: [{namespace: other, name: remote}]}") + remote,
			&model.Cluster{Unread: []model.UnreadObjects{{Kind: gatewayapi.GrantKind}}}, model.Settings{},
			"? doubtful"},
		{"binary CA", secured("HTTPS", "{frontendValidation: {caCertificateRefs: [{kind: ConfigMap, name: roots}]}}") +
			roots, nil, model.Settings{}, ""},
		{"binary CA, judged",
			secured("HTTPS", "{frontendValidation: {caCertificateRefs: [{kind: ConfigMap, name: roots}]}}") +
				roots, nil, checked, "InvalidCACertificateRef"},
	} {
		f, _ := verdict(t, c.manifests, c.cluster, c.settings)
		got := f.Refs.Reason
		if got == "" && f.Refs.Message != "" {
			got = "?"
		}
		if f.ValidityUnknown {
			got += " doubtful"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q (%s)", c.name, got, c.want, f.Refs.Message)
		}
	}
}

// TestGrantOwner: the kind of the object that holds a listener must be granted (gatewayapi G33).
func TestGrantOwner(t *testing.T) {
	in := model.NewSnapshot(objects(t, remote+`{apiVersion: gateway.networking.k8s.io/v1, kind: ReferenceGrant, metadata: {name: g, namespace: other},
  spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: infra}], to: [{group: "", kind: Secret}]}}`), nil)
	d := newDraft(in, &Builder{})
	for kind, want := range map[string]string{"Gateway": "", "ListenerSet": "RefNotPermitted"} {
		o := object(map[string]any{"apiVersion": gatewayapi.GatewayGroup + "/v1", "kind": kind,
			"metadata": map[string]any{"name": "x", "namespace": "infra"}}, model.Origin{})
		got := newGatewayBuilder(d).certificates.judgeCertificate(o.Ref,
			model.Pack(map[string]any{"name": "remote", "namespace": "other"},
				nil), manifest.InSpec(o).AtField("listeners").AtEntry(0), serverUse)
		if got.Reason != want {
			t.Errorf("%s: %+v, want %q", kind, got, want)
		}
	}
}

func TestTLSSettingsMatter(t *testing.T) {
	for tls, want := range map[string]string{
		"{mode: Terminate, certificateRefs: [{name: text}]}": "gatewayapi.checkCertificates gatewayapi.tlsTerminate",
		"{mode: Terminate, certificateRefs: [{name: pair}]}": "gatewayapi.tlsTerminate",
		"{mode: Passthrough}":                                "",
	} {
		_, g := verdict(t, secured("TLS", tls)+pair+text, nil, model.Settings{})
		var got []string
		for _, p := range g.Problems() {
			if p.Code == model.SettingMatters {
				name, _, _ := strings.Cut(p.Message, " ")
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", tls, got, want)
		}
	}
}
