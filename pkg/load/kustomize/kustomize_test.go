package kustomize_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// kustomization loads the kustomization in a folder.
func kustomization(dir string, limits load.Limits) (*model.Snapshot, error) {
	return load.Files(context.Background(), load.Options{Kustomization: dir, Limits: limits})
}

// built loads the kustomization in a folder, which must be possible.
func built(t testing.TB, dir string) *model.Snapshot {
	t.Helper()
	s, err := kustomization(dir, load.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shop is a base with an overlay, a component and generators.
var shop = map[string]string{
	"base/kustomization.yaml": `
resources:
- routes.yaml
- gateways/gateway.yaml
`,
	"base/routes.yaml": "# routes\n" + loadtest.Thing("a") + "---\n" + loadtest.Thing("b") +
		"spec: {list: [on, 'on', 010, 1e3]}\n",
	"base/gateways/gateway.yaml": `apiVersion: v1
kind: List
items:
- apiVersion: gateway.networking.k8s.io/v1
  kind: Gateway
  metadata: {name: external}
  spec: {gatewayClassName: x}
`,
	"parts/limits/kustomization.yaml": `
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [limit.yaml]
patches:
- path: patch.yaml
  target: {kind: Gateway}
`,
	"parts/limits/limit.yaml": loadtest.Thing("limit"),
	"parts/limits/patch.yaml": "- {op: add, path: /metadata/labels, value: {patched: 'yes'}}\n",
	"overlays/prod/kustomization.yaml": `
namePrefix: prod-
namespace: shop
resources: [../../base]
components: [../../parts/limits]
configMapGenerator:
- name: settings
  files: [key=settings.txt]
secretGenerator:
- name: certificate
  type: kubernetes.io/tls
  files: [tls.crt]
  literals: [tls.key=hush]
generatorOptions: {disableNameSuffixHash: true}
`,
	"overlays/prod/settings.txt": "colour=green\n",
	"overlays/prod/tls.crt":      pemBlock,
}

const pemBlock = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

func TestKustomizationIsBuilt(t *testing.T) {
	loadtest.Write(t, shop)
	s := built(t, "overlays/prod")
	loadtest.Same(t, loadtest.Describe(s),
		"configmap/shop/prod-settings overlays/prod/kustomization.yaml",
		"secret/shop/prod-certificate overlays/prod/kustomization.yaml",
		"thing/shop/prod-a base/routes.yaml:2",
		"thing/shop/prod-b base/routes.yaml:6",
		"thing/shop/prod-limit parts/limits/limit.yaml:1",
		"gateway/shop/prod-external base/gateways/gateway.yaml:1")
	for _, o := range s.Objects {
		if len(o.Annotations) > 0 {
			t.Errorf("%s has annotations of the build: %v", o.Ref, o.Annotations)
		}
		switch o.Ref.Name {
		case "prod-external":
			if o.Labels["patched"] != "yes" {
				t.Errorf("not patched: %v", o.Body.Value())
			}
		case "prod-certificate":
			facts := o.Get("data", "tls.crt")
			if model.Get(facts, "pem") != true || strings.Contains(o.Text("data", "tls.key"), "h") {
				t.Errorf("the Secret is not reduced: %v", o.Body.Value())
			}
		}
	}
}

// Values are those that kubectl would apply: the library reads YAML 1.2, writes what it read, and
// that is not read again as YAML 1.1.
func TestKustomizationValues(t *testing.T) {
	loadtest.Write(t, shop)
	list, _ := built(t, "base").Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "ns",
		Name: "b"}).Get("spec", "list").([]any)
	if len(list) != 4 || list[0] != "on" || list[1] != "on" || list[2] != int64(8) {
		t.Errorf("got %#v", list)
	}
}

func TestKustomizationNamespaces(t *testing.T) {
	loadtest.Write(t, shop)
	s, err := load.Files(context.Background(), load.Options{Kustomization: "base", Namespace: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s), "thing/ns/a base/routes.yaml:2", "thing/ns/b base/routes.yaml:6",
		"gateway/mine/external base/gateways/gateway.yaml:1",
		"info NamespaceAssumed: 1 object has no namespace: mine is assumed (another can be given with -n)")
}

// Objects keep the annotations that a kustomization asks for.
func TestKustomizationAnnotations(t *testing.T) {
	loadtest.Write(t,
		map[string]string{"kustomization.yaml": "resources: [a.yaml]\nbuildMetadata: [originAnnotations]\n",
			"a.yaml": loadtest.Thing("a")})
	for _, o := range built(t, ".").Objects {
		if got := o.Annotations["config.kubernetes.io/origin"]; got != "path: a.yaml\n" {
			t.Errorf("got %q", got)
		}
	}
}

// Problems with an object are reported where its file declares it.
func TestKustomizationProblems(t *testing.T) {
	loadtest.Write(t, map[string]string{"kustomization.yaml": "resources: [a.yaml]\n",
		"a.yaml": "\n" + strings.Replace(loadtest.Thing("a"), "namespace: ns",
			"namespace: ns, creationTimestamp: yesterday", 1)})
	loadtest.Same(t, loadtest.Describe(built(t, ".")), "thing/ns/a a.yaml:2",
		"warning WrongType thing/ns/a a.yaml:2: metadata.creationTimestamp is not a time like 2006-01-02T15:04:05Z and is left out")
}

func TestKustomizationFromElsewhere(t *testing.T) {
	loadtest.Write(t, shop)
	t.Chdir("overlays")
	if got := built(t, "prod").Objects[2].Origin.String(); got != "../base/routes.yaml:2" {
		t.Errorf("got %s", got)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := built(t, filepath.Join(dir, "prod")).Objects[2].Origin.File; got != filepath.ToSlash(filepath.Join(dir,
		"../base/routes.yaml")) {
		t.Errorf("got %s", got)
	}
}

// every field that can be built offline is.
func TestKustomizationFields(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"kustomization.yaml": `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
openapi: {path: schema.json}
configurations: [fields.yaml]
crds: [crds.json]
resources: [a.yaml]
bases: [base]
configMapGenerator:
- {name: env, envs: [more.env], env: one.env, literals: [a=b]}
patches:
- patch: |
    apiVersion: example.com/v1
    kind: Thing
    metadata: {name: a, namespace: ns}
    spec: {inline: true}
- path: patch.yaml
replacements:
- path: replacement.yaml
- source: {kind: Thing, name: a}
  targets: [{select: {kind: Thing, name: a}, fieldPaths: [spec.name], options: {create: true}}]
generators:
- |
  apiVersion: builtin
  kind: ConfigMapGenerator
  metadata: {name: written}
  files: [one.env]
- generators/file.yaml
transformers: [labels, more.yaml]
validators: []
sortOptions: {order: fifo}
images: [{name: x, newTag: v1}]
commonAnnotations: {owner: me}
`,
		"schema.json":                      `{"definitions": {"Thing": {"properties": {"spec": {"$ref": "#/definitions/Spec"}}, "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}]}, "Spec": {}}}`,
		"fields.yaml":                      "nameReference:\n- kind: Thing\n  fieldSpecs: [{path: spec/ref, kind: Thing}]\n",
		"crds.json":                        `{"Thing": {"Schema": {"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}, "spec": {"$ref": "Spec"}}}}, "Spec": {"Schema": {}}}`,
		"a.yaml":                           loadtest.Thing("a"),
		"base/Kustomization":               "resources: [b.yaml]\n",
		"base/b.yaml":                      loadtest.Thing("b") + "spec: {}\n",
		"more.env":                         "X=1\n",
		"one.env":                          "Y=2\n",
		"patch.yaml":                       loadtest.Thing("a") + "spec: {file: true}\n",
		"replacement.yaml":                 "source: {kind: Thing, name: b}\ntargets: [{select: {kind: Thing, name: a}, fieldPaths: [spec.other], options: {create: true}}]\n",
		"generators/file.yaml":             "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: filed}\nliterals: [a=b]\n",
		"labels/kustomization.yaml":        "resources: [label.yaml, deeper]\n",
		"labels/label.yaml":                "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {a: b}\nfieldSpecs: [{path: metadata/labels, create: true}]\n",
		"labels/deeper/kustomization.yaml": "resources: [patch.yaml]\n",
		"labels/deeper/patch.yaml":         "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: op.json\ntarget: {kind: Thing}\n",
		"op.json":                          `[{"op": "add", "path": "/spec/op", "value": 1}]`,
		"more.yaml":                        "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: x}\nprefix: p-\nfieldSpecs: [{path: metadata/name}]\n",
	})
	s := built(t, ".")
	loadtest.Same(t, loadtest.Describe(s)[:5],
		"configmap/default/p-env-75m9597729 kustomization.yaml",
		"configmap/default/p-written-479t8kgd4t kustomization.yaml",
		"secret/default/p-filed-k695gkmbtk generators/file.yaml",
		"thing/ns/p-a a.yaml:1",
		"thing/ns/p-b base/b.yaml:1")
	want := map[string]any{"file": true, "inline": true, "name": "a", "op": int64(1), "other": "b"}
	if got := s.Objects[3].Get("spec"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}
