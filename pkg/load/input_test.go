package load_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestFolders(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"m/b.yml": loadtest.Thing("b"), "m/a.yaml": loadtest.Thing("a"),
		"m/c.json":    `{"apiVersion":"v1","kind":"Service","metadata":{"name":"c","namespace":"n"}}`,
		"m/notes.txt": "a: [", "m/.hidden.yaml": loadtest.Thing("hidden"), "m/.ci.yaml": "a: [",
		"m/.git/x.yaml": "a: [", "m/sub/d.yaml": loadtest.Thing("d"),
		"m/values.yaml": "a: 1\n---\n- b\n---\ntext\n",
	})
	loadtest.Same(t, loadtest.Describe(files(t, "m")),
		"service/n/c m/c.json:1", "thing/ns/a m/a.yaml:1", "thing/ns/b m/b.yml:1", "thing/ns/hidden m/.hidden.yaml:1",
		"info NotKubernetes: 3 documents are not Kubernetes objects: m/values.yaml")
	s, err := load.Files(context.Background(), load.Options{Paths: []string{"./m/", "m/a.yaml", "m/sub/../sub/d.yaml"},
		Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s),
		"service/n/c m/c.json:1", "thing/ns/a m/a.yaml:1", "thing/ns/b m/b.yml:1", "thing/ns/d m/sub/d.yaml:1",
		"thing/ns/hidden m/.hidden.yaml:1",
		"info NotKubernetes: 3 documents are not Kubernetes objects: m/values.yaml")
}

func TestNamedFileIsMeant(t *testing.T) {
	loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a"), "m/values.yaml": "a: 1\n"})
	loadtest.Same(t, loadtest.Describe(files(t, "m", "m/values.yaml")),
		"thing/ns/a m/a.yaml:1", "warning NotAnObject m/values.yaml:1: not used: it has neither apiVersion nor kind (leave the file out if it is for another program)")
}

func TestLinks(t *testing.T) {
	loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a"), "other/b.yaml": loadtest.Thing("b"),
		"m/sub/c.txt": loadtest.Thing("c")})
	for link, to := range map[string]string{"m/loop": "../m", "m/z.yaml": "a.yaml", "m/y.yaml": "../other/b.yaml",
		"m/in.yaml": "sub/c.txt", "m/zero.yaml": "/dev/zero", "folder": "m"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	s, err := load.Files(context.Background(), load.Options{Paths: []string{"folder", "m"}, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	const out = ": not read: it is a link that leads out of folder (name what it leads to with -f if it is part of the input)"
	loadtest.Same(t, loadtest.Describe(s), "thing/ns/a folder/a.yaml:1", "thing/ns/c folder/in.yaml:1",
		"warning NotEvaluated folder/y.yaml:1"+out, "warning NotEvaluated folder/zero.yaml:1"+out)
	if len(s.Omissions) != 2 || s.Omissions[0].By != "folder/y.yaml" {
		t.Errorf("left out: %v", s.Omissions)
	}
	loadtest.Same(t, loadtest.Describe(files(t, "m", "other/b.yaml", "m/y.yaml")), "thing/ns/a m/a.yaml:1",
		"thing/ns/b other/b.yaml:1", "thing/ns/c m/in.yaml:1",
		"warning NotEvaluated m/zero.yaml:1"+strings.Replace(out, "folder", "m", 1))
}

// TestDevices: what never gives anything is given up, and a pipe that nobody writes to for as long
// as the reader is asked to wait.
func TestDevices(t *testing.T) {
	t.Chdir(t.TempDir())
	pipe, err := exec.LookPath("mkfifo")
	if err != nil || exec.Command(pipe, "pipe").Run() != nil {
		t.Skip("there are no pipes")
	}
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	if _, err := load.Files(ctx, load.Options{Paths: []string{"pipe"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a pipe: %v", err)
	}
}

func TestNoAnswer(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"empty/readme.md": "", "above/sub/deep/a.yaml": loadtest.Thing("a"), "above/.git/x.yaml": "",
		"blank.yaml": "# nothing\n", "broken.yaml": "a: [\n---\n{\n",
	})
	if err := os.Symlink("nowhere", "dangling.yaml"); err != nil {
		t.Skip(err)
	}
	tests := []struct {
		paths      []string
		recursive  bool
		err, hint  string
		unreadable bool
		problems   int
	}{
		{nil, false, "input: there are no files to read", "name files or folders with -f", false, 0},
		{[]string{"gone.yaml"}, false, "gone.yaml: no such file or directory",
			"check the path; files, folders and - (standard input) can be read", false, 0},
		{[]string{"dangling.yaml"}, false, "dangling.yaml: no such file or directory",
			"check the path; files, folders and - (standard input) can be read", false, 0},
		{[]string{"https://example.com/a.yaml"}, false, "https://example.com/a.yaml: addresses are not read",
			"download it first, or pipe it in with -f -", false, 0},
		{[]string{"./empty/"}, false, "empty: the folder holds no manifests",
			"manifests are files that end in .yaml, .yml or .json", false, 0},
		{[]string{"above"}, false, "above: the folder holds no manifests", "its sub-folders hold some: add -R", false,
			0},
		{[]string{"empty"}, true, "empty: the folder holds no manifests",
			"manifests are files that end in .yaml, .yml or .json", false, 0},
		{[]string{"-"}, false, "stdin: there is no standard input", "", false, 0},
		{[]string{"blank.yaml"}, false, "blank.yaml: no document could be read as a Kubernetes object",
			"there is nothing in it", true, 0},
		{[]string{"blank.yaml", "broken.yaml"}, false,
			"blank.yaml, broken.yaml: no document could be read as a Kubernetes object",
			"see the problems with each document; objects have apiVersion, kind and metadata.name", true, 2},
	}
	for _, tt := range tests {
		s, err := load.Files(context.Background(), load.Options{Paths: tt.paths, Recursive: tt.recursive})
		var e *load.Error
		if !errors.As(err, &e) || e.Error() != tt.err || e.Hint != tt.hint ||
			errors.Is(err, load.ErrNothingReadable) != tt.unreadable {
			t.Errorf("%v: got %v (%+v)", tt.paths, err, e)
		}
		if tt.unreadable != (s != nil) || s != nil && len(s.Problems) != tt.problems {
			t.Errorf("%v: got %+v", tt.paths, s)
		}
	}
}

func TestEmptyListIsReadable(t *testing.T) {
	for _, text := range []string{"apiVersion: v1\nkind: List\nitems: []\n", "apiVersion: v1\nkind: List\n",
		`{"kind":"HTTPRouteList","apiVersion":"v1","items":null}`} {
		s, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text)})
		if err != nil || len(s.Objects)+len(s.Problems) > 0 {
			t.Errorf("%q: %v %v", text, err, s)
		}
	}
}

func TestStdinIsReadOnce(t *testing.T) {
	s, err := load.Files(context.Background(), load.Options{Paths: []string{"-", "-"},
		Stdin: strings.NewReader(loadtest.Thing("a"))})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, loadtest.Describe(s), "thing/ns/a stdin:1")
}

func TestEndOfContext(t *testing.T) {
	loadtest.Write(t, map[string]string{"a.yaml": loadtest.Thing("a")})
	ctx, cancel := context.WithCancel(context.Background())
	waiting, _ := io.Pipe()
	defer waiting.Close()
	go cancel()
	if _, err := load.Files(ctx, load.Options{Paths: []string{"-"}, Stdin: waiting}); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
	if _, err := load.Files(ctx, load.Options{Paths: []string{"a.yaml"}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestUnreadableFile(t *testing.T) {
	loadtest.Write(t, map[string]string{"m/a.yaml": loadtest.Thing("a")})
	if err := os.Chmod(filepath.Join("m", "a.yaml"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile("m/a.yaml"); err == nil {
		t.Skip("this user may read everything")
	}
	_, err := load.Files(context.Background(), load.Options{Paths: []string{"m"}})
	if err == nil || err.Error() != "m/a.yaml: permission denied" {
		t.Error(err)
	}
}

func TestNamespaces(t *testing.T) {
	text := `
apiVersion: v1
kind: Service
metadata: {name: a}
---
apiVersion: v1
kind: Service
metadata: {name: b, namespace: other}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c, namespace: dropped}
---
apiVersion: example.com/v1
kind: Zone
metadata: {name: d, namespace: dropped}
---
apiVersion: example.com/v1
kind: Region
metadata: {name: e}
---
apiVersion: example.com/v1
kind: Town
metadata: {name: f, namespace: ""}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: regions.example.com}
spec:
  group: example.com
  names: {kind: Region}
  scope: Cluster
`
	for namespace, want := range map[string]string{"": "default", "mine": "mine"} {
		s, err := load.Files(context.Background(), load.Options{
			Paths: []string{"-"}, Stdin: strings.NewReader(text), Namespace: namespace,
			ClusterScoped: []model.GroupKind{{Group: "example.com", Kind: "Zone"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		loadtest.Same(t, loadtest.Describe(s),
			"service/"+want+
				"/a stdin:2", "service/other/b stdin:6", "customresourcedefinition/regions.example.com stdin:26",
			"region/e stdin:18", "town/"+want+"/f stdin:22", "zone/d stdin:14", "gatewayclass/c stdin:10",
			"info NamespaceAssumed: 2 objects have no namespace: "+want+" is assumed (another can be given with -n)")
	}
}

func TestBuiltInScopes(t *testing.T) {
	for _, kind := range []string{
		"v1 Node", "apiregistration.k8s.io/v1 APIService", "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
		"storage.k8s.io/v1 StorageClass",
		"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration", "scheduling.k8s.io/v1 PriorityClass",
		"node.k8s.io/v1 RuntimeClass",
		"networking.k8s.io/v1 IngressClass", "certificates.k8s.io/v1 CertificateSigningRequest",
		"flowcontrol.apiserver.k8s.io/v1 FlowSchema",
		"gateway.networking.x-k8s.io/v1alpha1 XMesh", "v1 Namespace", "v1 PersistentVolume",
	} {
		apiVersion, kind, _ := strings.Cut(kind, " ")
		s := stdin(t, "apiVersion: "+apiVersion+"\nkind: "+kind+"\nmetadata: {name: a}\n", load.Limits{})
		loadtest.Same(t, loadtest.Describe(s), strings.ToLower(kind)+"/a stdin:1")
	}
}
