package publishtest

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// built are the objects that a kustomization of deploy/ makes, by kind and name.
func built(t *testing.T, name string) map[string]map[string]any {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(),
		filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]any{}
	for _, r := range made.Resources() {
		o, err := r.Map()
		if err != nil {
			t.Fatal(err)
		}
		out[r.GetKind()+" "+r.GetName()] = o
	}
	return out
}

// TestImageIsRelease: the kustomizations name the image of a release, the one that the pages install.
func TestImageIsRelease(t *testing.T) {
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`kubectl-dopolicy@(v[0-9]+\.[0-9]+\.[0-9]+)`).FindSubmatch(page)
	if version == nil {
		t.Fatal("docs/ci.md installs no release")
	}
	for _, name := range []string{"publish", "hub"} {
		text, err := os.ReadFile(filepath.Join("../../deploy", name, "kustomization.yaml"))
		if want := "newName: ghcr.io/dopolicy/kubectl-dopolicy\n  newTag: " + string(version[1]) + "\n"; err != nil ||
			!strings.Contains(string(text), want) {
			t.Errorf("deploy/%s does not name the image of %s (%v)", name, version[1], err)
		}
	}
}

// TestRights: the ServiceAccount that publishes may do what docs/rbac.yaml says, and write reports,
// and nothing else.
func TestRights(t *testing.T) {
	objects := built(t, "publish")
	text, err := os.ReadFile("../../docs/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ = bytes.Cut(text, []byte("\n---\n")) // the role for asking proxies is apart
	var documented map[string]any
	if err := yaml.Unmarshal(text, &documented); err != nil {
		t.Fatal(err)
	}
	verbs := []any{"list", "create", "patch", "delete"}
	want := map[string]any{
		"kubectl-dopolicy": documented["rules"],
		"kubectl-dopolicy-publisher": []any{
			map[string]any{"apiGroups": []any{"wgpolicyk8s.io"}, "resources": []any{"policyreports"}, "verbs": verbs},
			map[string]any{"apiGroups": []any{"openreports.io"}, "resources": []any{"reports"}, "verbs": verbs},
		},
	}
	bound := map[string]any{}
	for name, o := range objects {
		kind, _, _ := strings.Cut(name, " ")
		switch kind {
		case "ClusterRoleBinding":
			subjects := o["subjects"].([]any)
			one := subjects[0].(map[string]any)
			if len(subjects) != 1 || one["kind"] != "ServiceAccount" || one["name"] != "publisher" ||
				one["namespace"] != "dopolicy" {
				t.Errorf("%s is for %v", name, subjects)
			}
			role := model.Text(o, "roleRef", "name")
			bound[role] = objects["ClusterRole "+role]["rules"]
		case "Role", "RoleBinding":
			t.Errorf("%s gives rights as well", name)
		}
	}
	if !reflect.DeepEqual(bound, want) {
		t.Errorf("the rights are %v, not %v", bound, want)
	}
}

// TestPods: what is deployed keeps to the restricted standard for pods, with a root that cannot be
// written, and says what it needs.
func TestPods(t *testing.T) {
	for _, at := range []struct {
		folder, object string
		template       []string
		token          bool
		args           []any
	}{
		{"publish", "CronJob publish", []string{"spec", "jobTemplate", "spec", "template", "spec"}, true,
			[]any{"publish"}},
		{"hub", "Job publish", []string{"spec", "template", "spec"}, false, []any{"publish", "--kubeconfig",
			"/clusters/$(CLUSTER)"}},
	} {
		objects := built(t, at.folder)
		pod, _ := model.Get(objects[at.object], at.template...).(map[string]any)
		if pod == nil {
			t.Fatalf("%s has no %s", at.folder, at.object)
		}
		containers := pod["containers"].([]any)
		one := containers[0].(map[string]any)
		image, _ := one["image"].(string)
		for what, ok := range map[string]bool{
			"one container": len(containers) == 1 && pod["initContainers"] == nil,
			"no root": model.Get(pod, "securityContext", "runAsNonRoot") == true &&
				model.Get(pod, "securityContext", "runAsUser") == 65532,
			"seccomp":       model.Get(pod, "securityContext", "seccompProfile", "type") == "RuntimeDefault",
			"no escalation": model.Get(one, "securityContext", "allowPrivilegeEscalation") == false,
			"no capabilities": reflect.DeepEqual(model.Get(one, "securityContext", "capabilities"),
				map[string]any{"drop": []any{"ALL"}}),
			"read-only root": model.Get(one, "securityContext", "readOnlyRootFilesystem") == true,
			"requests": model.Get(one, "resources", "requests", "cpu") != nil &&
				model.Get(one, "resources", "requests", "memory") != nil,
			"a limit of memory":     model.Get(one, "resources", "limits", "memory") != nil,
			"the token if needed":   pod["automountServiceAccountToken"] == at.token,
			"the image of releases": strings.HasPrefix(image, "ghcr.io/dopolicy/kubectl-dopolicy:"),
			"the arguments":         reflect.DeepEqual(one["args"], at.args),
			"nothing of the host":   pod["hostNetwork"] == nil && pod["hostPID"] == nil && pod["hostIPC"] == nil,
		} {
			if !ok {
				t.Errorf("%s of %s: %s is not so: %v", at.object, at.folder, what, pod)
			}
		}
		volumes, _ := pod["volumes"].([]any)
		for _, v := range volumes {
			if model.Get(v, "projected") == nil {
				t.Errorf("%s has the volume %v", at.object, v)
			}
		}
		restricted := 0
		for name, o := range objects {
			if strings.HasPrefix(name, "Namespace ") {
				labels, _ := model.Get(o, "metadata", "labels").(map[string]any)
				if labels["pod-security.kubernetes.io/enforce"] == "restricted" {
					restricted++
				}
			}
		}
		if restricted != 1 {
			t.Errorf("%s has %d restricted namespaces", at.folder, restricted)
		}
	}
}

// TestHub: there is a kubeconfig for each index of the Job.
func TestHub(t *testing.T) {
	job := built(t, "hub")["Job publish"]
	spec, _ := job["spec"].(map[string]any)
	var paths []string
	volumes, _ := model.Get(spec, "template", "spec", "volumes").([]any)
	for _, v := range volumes {
		sources, _ := model.Get(v, "projected", "sources").([]any)
		for _, s := range sources {
			items, _ := model.Get(s, "secret", "items").([]any)
			for _, i := range items {
				paths = append(paths, model.Text(i, "path"))
			}
		}
	}
	if spec["completionMode"] != "Indexed" || spec["completions"] != len(paths) ||
		!slices.Equal(paths, []string{"0", "1"}) {
		t.Errorf("%v indexes, and kubeconfigs %q", spec["completions"], paths)
	}
}
