package load_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What is found in a folder and is for another program is no mistake. The same file by its own name is.
func TestFilesOfOtherPrograms(t *testing.T) {
	tests := []struct{ name, file, text string }{
		{"JSON with comments", "jsconfig.json", "{\n  // for editors\n  \"include\": [\"src\"],\n}\n"},
		{"JSON lines that break off", "events.json", "{\"id\": 1}\n{\"id\":\n"},
		{"tasks with two colons", "tasks.yaml", "- name: Install: everything\n  package: {name: \"{{ item }}\"}\n"},
		{"tags and merges of other programs", "stack.yaml",
			"a: &a {x: 1}\nb:\n  <<: *a\n  c: !GetAtt y.z\n  d: !reference [.x]\n"},
		{"a key twice", "compose.yaml", "services:\n  web: {}\n  web: {}\n"},
		{"a map as key", "odd.yaml", "? {a: 1}\n: b\n"},
		{"an encrypted text", "armored.yaml", "-----BEGIN MESSAGE-----\nabcd\n-----END MESSAGE-----\n"},
		{"an apiVersion that is a number", "provisioning.yaml", "apiVersion: 1\nproviders: []\n"},
		{"an apiVersion that is a number, with a kind", "n.yaml", "apiVersion: 2\nkind: Report\nmetadata: {name: a}\n"},
		{"a version without a group", "machine.yaml", "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: a\n"},
		{"a kubeconfig", "kubeconfig.yaml", "apiVersion: v1\nkind: Config\nclusters: []\n"},
		{"a chart of another folder", "c.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n"},
		{"a local cluster", "cluster.yaml", "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\nname: dev\n"},
		{"a local cluster with a name", "k3d.yaml", "apiVersion: k3d.io/v1alpha5\nkind: Simple\nmetadata: {name: dev}\n"},
		{"what sets up clusters", "init.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n"},
		{"of the kubelet", "kubelet.yaml", "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"},
		{"an audit policy", "audit.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: []\n"},
		{"a report of tests", "report.yaml",
			"apiVersion: gateway.networking.k8s.io/v1\nkind: ConformanceReport\nimplementation: {project: a}\n"},
		{"a group without a dot", "build.yaml", "apiVersion: build/v2\nkind: Config\nmetadata: {}\n"},
		{"a program with a group of its own", "proxy.yaml",
			"apiVersion: example.com/v1\nkind: ProxyConfig\nmetadata: {namespace: a}\nspec: {port: 1}\n"},
		{"a kind only", "ci.yaml", "kind: pipeline\nname: default\n"},
		{"a kind and a name", "package.yaml", "kind: Package\nmetadata: {name: a}\ncomponents: []\n"},
		{"a kind, a name and a spec", "services.yaml", "kind: Service\nmetadata: {name: a}\nspec: {port: 1}\n"},
		{"a list with kinds", "subjects.json", `[{"kind": "User", "name": "a"}]`},
		{"a type with more than one group", "types.yaml", "apiVersion: a/b/c\nkind: Type\n"},
		{"a template", "deploy.yaml",
			"{{- if .on }}\napiVersion: v1\nkind: Service\nmetadata:\n  name: a\n{{- end }}\n"},
		{"a template that looks like two documents", "deploy.yaml",
			"{{ if .on }}\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n{{ end }}\n"},
		{"a template with actions for lines and values", "deploy.yaml",
			"apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .name }}\n  labels:\n    {{- include \"all\" . | nindent 4 }}\n"},
		{"a template with an action for a value", "deploy.yaml", "apiVersion: v1\nkind: {{ .kind }}\nmetadata: {name: a}\n"},
		{"a template of loops", "hosts.yaml", "{% for h in hosts %}\n- {{ h }}: x: y\n{% endfor %}\n"},
		{"no text", "secrets.yaml", "\x00GITCRYPT\x00\x01\x02"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a"), "m/" + tt.file: tt.text})
			got := loadtest.Describe(files(t, "m"))
			for i := range got { // how many documents are in it does not matter
				got[i] = strings.Replace(got[i], "2 documents are not Kubernetes objects", "1 document is not a Kubernetes object", 1)
			}
			loadtest.Same(t, got, "thing/ns/a m/a.yaml:1",
				"info NotKubernetes: 1 document is not a Kubernetes object: m/"+tt.file)
			s := files(t, "m/a.yaml", "m/"+tt.file)
			if len(s.Objects) == 1 && !slices.ContainsFunc(s.Problems, func(p model.Problem) bool {
				return p.Severity != model.Info && p.Origin.File == "m/"+tt.file && p.Origin.Line > 0
			}) {
				t.Errorf("by its name: got %q", loadtest.Describe(s))
			}
		})
	}
}

// A manifest with a mistake is one wherever it is.
func TestBrokenManifestsInFolders(t *testing.T) {
	const forgotten = " (give it one, or leave the file out if it is for another program)"
	tests := []struct{ name, text, want string }{
		{"block style", "apiVersion: v1\nkind: Service\nmetadata: {\n",
			"error InvalidYAML m/b.yaml:3: not used: did not find expected node content"},
		{"block style behind a comment, indented", "# about\n  apiVersion: v1\n  kind: Service\n  metadata: {\n",
			"error InvalidYAML m/b.yaml:4: not used: did not find expected node content"},
		{"keys in quotes", "\"apiVersion\": v1\n'kind' : Service\nmetadata: {\n",
			"error InvalidYAML m/b.yaml:3: not used: did not find expected node content"},
		{"JSON", "{\"apiVersion\": \"v1\",\n \"kind\": \"Service\" \"metadata\": {}}\n",
			"error InvalidYAML m/b.yaml:2: not used: invalid character '\"' after object key:value pair"},
		{"flow style", "{apiVersion: v1, kind: Service, metadata: {name: a}\n",
			"error InvalidYAML m/b.yaml:1: not used: did not find expected ',' or '}'"},
		{"a text with what looks like an action", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n   b: c\ndata: {a: \"{{ x }}\"}\n",
			"error InvalidYAML m/b.yaml:5: not used: mapping values are not allowed in this context"},
		{"a key twice beside what looks like an action", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: \"{{ x }}\", a: b}\n",
			"error InvalidYAML m/b.yaml:4: not used: key \"a\" is written twice, on lines 4 and 4"},
		{"a part of a file with objects", loadtest.Thing("b") + "---\nspec: {\n",
			"error InvalidYAML m/b.yaml:5: not used: did not find expected node content"},
		{"a core kind without metadata", "apiVersion: v1\nkind: Service\nspec: {}\n",
			"error NotAnObject m/b.yaml:1: not used: it has no metadata.name" + forgotten},
		{"a route without a name", "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: a}\n",
			"error NotAnObject m/b.yaml:3: not used: it has no metadata.name" + forgotten},
		{"a policy without a name", "apiVersion: example.com/v1\nkind: Limit\nspec: {targetRefs: [{name: a}]}\n",
			"error NotAnObject m/b.yaml:1: not used: it has no metadata.name" + forgotten},
		{"a route without apiVersion", "kind: HTTPRoute\nmetadata: {name: a}\nspec: {parentRefs: [{name: b}]}\n",
			"error NotAnObject m/b.yaml:1: not used: it has no apiVersion" + forgotten},
		{"no apiVersion, beside objects", loadtest.Thing("b") + "---\nkind: Service\nmetadata: {name: a}\nspec: {}\n",
			"error NotAnObject m/b.yaml:5: not used: it has no apiVersion" + forgotten},
		{"a name that is a number", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: 7}\n",
			"error WrongType m/b.yaml:3: not used: metadata.name is not text (quote it)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a"), "m/b.yaml": tt.text})
			if got := loadtest.Describe(files(t, "m")); !slices.Contains(got, tt.want) || len(got) > 3 {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestForeignFilesAreListed(t *testing.T) {
	loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a"), "m/1.yaml": "a: 1\n---\nb: 1\n",
		"m/2.yaml": "a: [", "m/3.json": "{//\n}", "m/4.yaml": "x", "m/sub/5.yaml": "x"})
	s, err := load.Files(t.Context(), load.Options{Paths: []string{"m"}, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s), "thing/ns/a m/a.yaml:1",
		"info NotKubernetes: 6 documents are not Kubernetes objects: m/1.yaml, m/2.yaml, m/3.json and 2 more files")
}

func TestFolderOfOtherPrograms(t *testing.T) {
	loadtest.Write(t, map[string]string{"m/a.yaml": "a: [\n"})
	_, err := load.Files(t.Context(), load.Options{Paths: []string{"m"}})
	if err == nil || err.Error() != "m: no document could be read as a Kubernetes object" {
		t.Errorf("got %v", err)
	}
}

// What a template or an encrypted file would make may exist.
func TestTemplatesMayMakeObjects(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"m/a.yaml": loadtest.Thing("a"),
		"m/t.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .a }}\n---\n{{ if .b }}\napiVersion: v1\nkind: \"Service\"\n{{ end }}\n",
		"m/u.yaml": "{{ define \"x\" }}\napiVersion: v1\nkind: {{ .kind }}\n{{ end }}\n---\n{{ .rest }}\n",
	})
	var got []string
	for _, o := range files(t, "m").Omissions {
		line := o.String() + ":"
		for _, gk := range o.Kinds {
			line += " " + gk.String()
		}
		got = append(got, line)
	}
	slices.Sort(got)
	loadtest.Same(t, got, "template m/t.yaml is not rendered: Deployment.apps", "template m/t.yaml is not rendered: Service",
		"template m/u.yaml is not rendered:")
}

// What objects make that are there in several versions may exist as well.
func TestAmbiguousObjectsMayMakeObjects(t *testing.T) {
	release := func(chart string) string {
		return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: ns}\nspec: {chart: {spec: {chart: " +
			chart + "}}}\n"
	}
	loadtest.Write(t, map[string]string{"m/a.yaml": release("x"), "m/b.yaml": release("y"), "m/c.yaml": loadtest.Thing("c")})
	s := files(t, "m")
	if o := s.FindOmission(model.GroupKind{Kind: "Service"}, "ns"); o == nil || o.By != "helmrelease/ns/a" {
		t.Errorf("got %v of %v", o, s.Omissions)
	}
}

// A file of a folder that cannot be opened costs itself.
func TestUnreadableFileInFolder(t *testing.T) {
	loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a"), "m/key.yaml": "x", "m/sub/b.yaml": "x"})
	if err := os.Symlink("nowhere", "m/link.yaml"); err != nil {
		t.Skip(err)
	}
	want := []string{"thing/ns/a m/a.yaml:1", "info NotEvaluated m/link.yaml: not read: the link leads to nothing"}
	if os.Geteuid() == 0 {
		want = append(want, "info NotKubernetes: 2 documents are not Kubernetes objects: m/key.yaml and m/sub/b.yaml")
	} else {
		for _, p := range []string{"m/key.yaml", "m/sub"} {
			if err := os.Chmod(p, 0); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(p, 0o700) })
		}
		want = slices.Insert(want, 1, "warning NotEvaluated m/key.yaml: not read: permission denied (check who may read it)",
			"warning NotEvaluated m/sub: not read: permission denied (check who may read it)")
	}
	s, err := load.Files(t.Context(), load.Options{Paths: []string{"m"}, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s), want...)
}
