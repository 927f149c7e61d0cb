package publishtest

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestMetricsRights: the ServiceAccount that counts may read what the publisher may read, and
// nothing else.
func TestMetricsRights(t *testing.T) {
	objects := built(t, "metrics")
	readers := built(t, "publish")["ClusterRole kubectl-dopolicy"]
	role := objects["ClusterRole kubectl-dopolicy"]
	if role == nil || !reflect.DeepEqual(role["rules"], readers["rules"]) {
		t.Errorf("the rights are %v", role)
	}
	for name, o := range objects {
		switch kind, _, _ := strings.Cut(name, " "); kind {
		case "Namespace", "ServiceAccount", "CronJob":
		case "ClusterRole", "ClusterRoleBinding":
			if name != "ClusterRole kubectl-dopolicy" && model.Text(o, "roleRef", "name") != "kubectl-dopolicy" {
				t.Errorf("%s gives rights as well", name)
			}
		default:
			t.Errorf("%s is deployed as well", name)
		}
	}
}

// TestMetricsPod: the pod keeps to the restricted standard, mounts the image of a release, and runs
// a command that the program has.
func TestMetricsPod(t *testing.T) {
	objects := built(t, "metrics")
	pod, _ := model.Get(objects["CronJob count"], "spec", "jobTemplate", "spec", "template", "spec").(map[string]any)
	if pod == nil {
		t.Fatal("no CronJob")
	}
	one := pod["containers"].([]any)[0].(map[string]any)
	command, _ := one["command"].([]any)
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil || len(command) != 3 {
		t.Fatal(err, command)
	}
	version := regexp.MustCompile(`kubectl-dopolicy@(v[0-9]+\.[0-9]+\.[0-9]+)`).FindSubmatch(page)[1]
	script, mounted := command[2].(string), ""
	for _, v := range pod["volumes"].([]any) {
		switch {
		case model.Get(v, "image") != nil:
			mounted = model.Text(v, "image", "reference")
		case model.Get(v, "emptyDir") == nil:
			t.Errorf("the volume %v", v)
		}
	}
	for what, ok := range map[string]bool{
		"one container":  len(pod["containers"].([]any)) == 1,
		"no root":        model.Get(pod, "securityContext", "runAsNonRoot") == true,
		"seccomp":        model.Get(pod, "securityContext", "seccompProfile", "type") == "RuntimeDefault",
		"no escalation":  model.Get(one, "securityContext", "allowPrivilegeEscalation") == false,
		"read-only root": model.Get(one, "securityContext", "readOnlyRootFilesystem") == true,
		"no capabilities": reflect.DeepEqual(model.Get(one, "securityContext", "capabilities"),
			map[string]any{"drop": []any{"ALL"}}),
		"a limit of memory":    model.Get(one, "resources", "limits", "memory") != nil,
		"the image of release": mounted == "ghcr.io/dopolicy/kubectl-dopolicy:"+string(version),
		"the command": strings.Contains(script,
			"/dopolicy/kubectl-dopolicy check -A -o openmetrics --fail-on none > "),
		"an end at an error": command[1] == "-ec",
		"a restricted namespace": model.Get(objects["Namespace dopolicy-metrics"], "metadata", "labels",
			"pod-security.kubernetes.io/enforce") == "restricted",
	} {
		if !ok {
			t.Errorf("%s is not so: %v", what, pod)
		}
	}
}
