package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// refused asks for an answer that there cannot be: exit code 3, nothing on standard output, and an error with these words and a hint.
func refused(t *testing.T, kubeconfig string, words ...string) Result {
	t.Helper()
	got := Run(t, []string{"effective", "-A"}, environment(kubeconfig))
	if got.Code != 3 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, "error: ") ||
		!strings.Contains(got.Stderr, "hint: ") {
		t.Errorf("exit %d, %q\n%s", got.Code, got.Stdout, got.Stderr)
	}
	for _, word := range words {
		if !strings.Contains(got.Stderr, word) {
			t.Errorf("nothing about %q in\n%s", word, got.Stderr)
		}
	}
	return got
}

// kubeconfigOf is a file for a server and a user of the test's own making.
func kubeconfigOf(t *testing.T, server *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) string {
	t.Helper()
	path, err := writeKubeconfig(t.TempDir(), "", server, user)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestErrorsOfKubeconfig: without a kubeconfig, with a broken one, and with one that names what is not in it.
func TestErrorsOfKubeconfig(t *testing.T) {
	refused(t, "", "there is no kubeconfig", "--kubeconfig", "-f")
	refused(t, filepath.Join(t.TempDir(), "missing"), "there is no kubeconfig")
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("clusters: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, broken, "reading the kubeconfig", broken)
	good := kubeconfigOf(t, &clientcmdapi.Cluster{Server: "http://127.0.0.1:1"}, &clientcmdapi.AuthInfo{})
	got := Run(t, []string{"effective", "-A", "--context", "other"}, environment(good))
	if got.Code != 3 || got.Stdout != "" || !strings.Contains(got.Stderr, `context "other" does not exist`) {
		t.Errorf("another context: %+v", got)
	}
}

// TestErrorsOfConnection: nobody listens, somebody else does, or the certificate is not trusted.
func TestErrorsOfConnection(t *testing.T) {
	c := Shared(t)
	ports, err := freePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	closed := "127.0.0.1:" + ports[0]
	got := refused(t, kubeconfigOf(t, &clientcmdapi.Cluster{Server: "https://" + closed}, &clientcmdapi.AuthInfo{}),
		closed, "connection refused")
	if got.Elapsed > 5*time.Second {
		t.Errorf("took %s", got.Elapsed)
	}
	refused(t, kubeconfigOf(t, &clientcmdapi.Cluster{Server: "https://no-such-host.invalid"},
		&clientcmdapi.AuthInfo{}), "no-such-host.invalid")
	refused(t, kubeconfigOf(t, &clientcmdapi.Cluster{Server: c.URL()}, &clientcmdapi.AuthInfo{}), "certificate")
}

// TestErrorsOfCredentials: a token that the server does not know, and a certificate of somebody else's.
func TestErrorsOfCredentials(t *testing.T) {
	c := Shared(t)
	server := &clientcmdapi.Cluster{Server: c.URL(), CertificateAuthorityData: c.config.CAData}
	refused(t, kubeconfigOf(t, server, &clientcmdapi.AuthInfo{Token: "expired"}),
		"you must be logged in to the server (Unauthorized)")
	other, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := other.user("stranger", nil)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, kubeconfigOf(t, server, &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}),
		"you must be logged in to the server (Unauthorized)")
	refused(t, kubeconfigOf(t, server, &clientcmdapi.AuthInfo{}), "orbidden") // nobody in particular may not read
}

// TestErrorsOfBareServer: a server without the Gateway API has no answers; snapshot takes none.
func TestErrorsOfBareServer(t *testing.T) {
	c := Start(t)
	kubeconfig := c.Kubeconfig("admin", "")
	refused(t, kubeconfig, "no Gateway API", "CRDs")
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if got := Run(t, []string{"snapshot", "-o", file}, environment(kubeconfig)); got.Code != 3 {
		t.Errorf("snapshot: %+v", got)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a snapshot was written")
	}
}
