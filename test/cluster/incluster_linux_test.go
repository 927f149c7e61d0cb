package cluster

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// TestDeployed applies what is shipped for publishing to a server: it takes the pod by the restricted standard, and a program that has nothing around
// it but what such a pod has publishes with the token of the ServiceAccount.
func TestDeployed(t *testing.T) {
	c := Start(t)
	c.InstallGatewayAPI()
	c.InstallPolicyKinds()
	c.ApplyFiles("testdata/policyreports.yaml", demo)
	env := environment(c.Kubeconfig(admin, ""))
	kubectl := func(args ...string) string {
		t.Helper()
		got := RunProgram(t, Kubectl(t), args, env)
		if got.Code != 0 {
			t.Fatalf("kubectl %s: %s", args, got.Stderr)
		}
		return got.Stdout
	}
	folder, err := filepath.Abs("../../deploy")
	if err != nil {
		t.Fatal(err)
	}
	kubectl("apply", "-k", filepath.Join(folder, "publish"))
	kubectl("apply", "-k", filepath.Join(folder, "hub"))
	for _, at := range []struct{ kind, namespace, template string }{
		{"cronjob", "dopolicy", "{.spec.jobTemplate.spec.template.spec}"}, {"job", "dopolicy-hub",
			"{.spec.template.spec}"},
	} {
		spec := kubectl("-n", at.namespace, "get", at.kind, "publish", "-o", "jsonpath="+at.template)
		c.MustApply(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "like-` + at.kind + `", "namespace": "` +
			at.namespace + `"}, "spec": ` + spec + `}`)
		if err := c.Apply(`{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "loose", "namespace": "` +
			at.namespace + `"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}`); err == nil {
			t.Errorf("namespace %s takes any pod", at.namespace)
		}
	}
	c.grant("system:serviceaccount:dopolicy:publisher",
		reading("policies.example.com")) // a kind without a descriptor takes a rule of its own
	if os.Geteuid() != 0 {
		t.Skip("changing the root takes the rights of root")
	}
	got := c.inPod(t, kubectl("-n", "dopolicy", "create", "token", "publisher"), "publish", "-o", "json")
	if got.Code != 0 {
		t.Fatalf("exit %d: %s", got.Code, got.Stderr)
	}
	var plan struct {
		Complete bool
		Items    []struct{ Action string }
	}
	if err := json.Unmarshal([]byte(got.Stdout), &plan); err != nil {
		t.Fatal(err)
	}
	if !plan.Complete || len(plan.Items) < 5 {
		t.Errorf("published are %+v\n%s", plan, got.Stderr)
	}
	for _, i := range plan.Items {
		if i.Action != "create" {
			t.Errorf("%s in place of create", i.Action)
		}
	}
}

// grant lets somebody read more.
func (c *Cluster) grant(user string, rules ...rbacv1.PolicyRule) {
	c.tb.Helper()
	namespace, name, _ := strings.Cut(strings.TrimPrefix(user, "system:serviceaccount:"), ":")
	text, err := json.Marshal(rules)
	if err != nil {
		c.tb.Fatal(err)
	}
	c.MustApply(
		`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "more"}, "rules": `+string(text)+`}`,
		`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "more"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "more"},
		"subjects": [{"kind": "ServiceAccount", "name": "`+name+`", "namespace": "`+namespace+`"}]}`)
	for _, rule := range rules {
		if err := c.allowed(user, "", rule); err != nil {
			c.tb.Fatal(err)
		}
	}
}

// inPod runs the plugin as a pod would: with its own root, in which there is the program and what the kubelet mounts.
func (c *Cluster) inPod(t *testing.T, token string, args ...string) Result {
	t.Helper()
	root := t.TempDir()
	account := filepath.Join(root, "var/run/secrets/kubernetes.io/serviceaccount")
	program, err := os.ReadFile(Plugin(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(account, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{filepath.Join(root, "kubectl-dopolicy"): program,
		filepath.Join(account, "token"):  []byte(strings.TrimSpace(token)),
		filepath.Join(account, "ca.crt"): c.config.CAData, filepath.Join(account, "namespace"): []byte("dopolicy")} {
		if err := os.WriteFile(name, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "/kubectl-dopolicy", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", &out, &told
	cmd.Env = []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Skipf("the root cannot be changed here: %v", err)
	}
	return Result{Stdout: out.String(), Stderr: told.String(), Code: cmd.ProcessState.ExitCode()}
}
