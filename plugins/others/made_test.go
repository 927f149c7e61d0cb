package others

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func read(t *testing.T, text string) *model.Snapshot {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text),
		ClusterScoped: []model.GroupKind{{Group: "external-secrets.io", Kind: "ClusterExternalSecret"},
			{Group: "trust.cert-manager.io", Kind: "Bundle"}, {Group: "kyverno.io", Kind: "ClusterPolicy"}}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// object writes a manifest of an object in namespace web.
func object(kind, name, spec string) string {
	gk := model.ParseGroupKind(kind)
	return "apiVersion: " + gk.Group + "/v1\nkind: " + gk.Kind + "\nmetadata: {name: " + name + ", namespace: web}\nspec: " +
		spec + "\n---\n"
}

func TestWhatObjectsMake(t *testing.T) {
	for _, c := range []struct{ kind, spec, want string }{
		{"ExternalSecret.external-secrets.io", "{target: {name: from-vault}}", "secret/web/from-vault"},
		{"ExternalSecret.external-secrets.io", "{}", "secret/web/it"},
		{"ClusterExternalSecret.external-secrets.io", "{externalSecretName: es}", "secret/es"},
		{"ClusterExternalSecret.external-secrets.io",
			"{externalSecretName: es, externalSecretSpec: {target: {name: s}}}", "secret/s"},
		{"SealedSecret.bitnami.com", "{template: {metadata: {name: other}}}", "secret/web/it secret/web/other"},
		{"VaultStaticSecret.secrets.hashicorp.com", "{destination: {name: s, create: true}}", "secret/web/s"},
		{"VaultStaticSecret.secrets.hashicorp.com", "{destination: {name: s}}", ""}, // somebody else makes it
		{"VaultDynamicSecret.secrets.hashicorp.com", "{destination: {name: s, create: true}}", "secret/web/s"},
		{"VaultPKISecret.secrets.hashicorp.com", "{destination: {name: s, create: true}}", "secret/web/s"},
		{"Certificate.cert-manager.io", "{secretName: tls}", "secret/web/tls"},
		{"Certificate.cert-manager.io", "{}", ""},
		{"OnePasswordItem.onepassword.com", "{}", "secret/web/it"},
		{"InfisicalSecret.secrets.infisical.com",
			"{managedKubeSecretReferences: [{secretName: a, secretNamespace: b}, {secretName: c}]}",
			"secret/b/a secret/web/c"},
		{"SopsSecret.isindir.github.com", "{secretTemplates: [{name: a}, {name: b}]}", "secret/web/a secret/web/b"},
		{"DopplerSecret.secrets.doppler.com", "{managedSecret: {name: a, namespace: b}}", "secret/b/a"},
		{"AzureKeyVaultSecret.spv.no", "{output: {secret: {name: a}}}", "secret/web/a"},
		{"SecretProviderClass.secrets-store.csi.x-k8s.io", "{secretObjects: [{secretName: a}]}", "secret/web/a"},
		{"Bundle.trust.cert-manager.io", "{}", "configmap/it"},
		{"Bundle.trust.cert-manager.io", "{target: {secret: {key: ca}}}", "configmap/it secret/it"},
		{"Grafana.grafana.integreatly.org", "{}", "deployment/web/it-deployment secret/web/it-admin-credentials " +
			"service/web/it-alerting service/web/it-service serviceaccount/web/it-sa"},
		{"CephObjectStore.ceph.rook.io", "{}", "service/web/rook-ceph-rgw-it"},
		{"VMSingle.operator.victoriametrics.com", "{}", "deployment/web/vmsingle-it service/web/vmsingle-it"},
		{"Prometheus.monitoring.coreos.com", "{}", "service/web/prometheus-operated statefulset/web/prometheus-it"},
	} {
		in := read(t, object(c.kind, "it", c.spec))
		var got []string
		made := func(to, by model.Ref) {
			if by.Name != "it" {
				t.Errorf("%s: made by %s", c.kind, by)
			}
			got = append(got, to.String())
		}
		findGenerated(in, made)
		findOperated(in, made)
		slices.Sort(got)
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s %s: it makes %q, want %q", c.kind, c.spec, s, c.want)
		}
	}
}

func TestWhatOpensNamespaces(t *testing.T) {
	service := model.GroupKind{Kind: "Service"}
	for _, c := range []struct {
		kind, spec string
		opens      bool
	}{
		{"Grafana.grafana.integreatly.org", "{}", true},
		{"GrafanaDashboard.grafana.integreatly.org", "{}", false},
		{"Gadget.example.com", "{}", true},
		{"CachePolicy.example.com", "{targetRefs: []}", false},
		{"ServiceMonitor.monitoring.coreos.com", "{}", false},
		{"ExternalSecret.external-secrets.io", "{}", false},
		{"CiliumNetworkPolicy.cilium.io", "{}", false},
		{"AuthorizationPolicy.security.istio.io", "{}", false},
		{"HelmRelease.helm.toolkit.fluxcd.io", "{}", false}, // who reads it says what it makes
		{"NetworkPolicy.networking.k8s.io", "{}", false},
		{"Deployment.apps", "{}", false},
		{"HTTPRoute.gateway.networking.k8s.io", "{}", false},
	} {
		in := read(t, object(c.kind, "it", c.spec))
		in.Omissions = nil
		findUnnamedObjects(in, func(o model.Omission) { in.Omissions = append(in.Omissions, o) })
		if got := in.FindOmission(service, "web") != nil; got != c.opens {
			t.Errorf("%s: it opens its namespace: %t, want %t", c.kind, got, c.opens)
		}
		if in.FindOmission(service, "other") != nil || in.FindOmission(model.GroupKind{Group: "apps", Kind: "Gadget"},
			"web") != nil {
			t.Errorf("%s: it opens more than it can make", c.kind)
		}
	}
}

// The kinds that descriptors know configure what is there: they make nothing.
func TestDescribedKindsOpenNothing(t *testing.T) {
	files, err := filepath.Glob("../*/kinds.yaml")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^for: (\S+)`).FindAllStringSubmatch(string(text), -1) {
			if !makesNothing(model.ParseGroupKind(m[1])) {
				t.Errorf("%s: %s is said to make objects", file, m[1])
			}
		}
	}
}

func TestWhatKyvernoGenerates(t *testing.T) {
	in := read(t, object("ClusterPolicy.kyverno.io", "it", "{rules: [{generate: {apiVersion: networking.k8s.io/v1, "+
		"kind: NetworkPolicy}}, {generate: {cloneList: {kinds: [v1/Secret]}}}]}"))
	in.Omissions = nil
	findUnnamedObjects(in, func(o model.Omission) { in.Omissions = append(in.Omissions, o) })
	for kind, want := range map[string]bool{"NetworkPolicy.networking.k8s.io": true, "Secret": true, "Service": false} {
		if got := in.FindOmission(model.ParseGroupKind(kind), "any") != nil; got != want {
			t.Errorf("%s: it may be generated: %t, want %t", kind, got, want)
		}
	}
}
