//go:build linux

package hostiletest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// secretWord is in every password.
const secretWord = "CANARY"

// oddCharacters are what passwords have that addresses give a meaning to.
var oddCharacters = []string{"", "/", "?", "#", "@", ":", "%zz", "%", " ", `"`, `\`, "'", "[", "]", "é", "\x7f", "\n"}

// TestPasswordsInKubeconfigs: an address with a password, however wrong, is never repeated.
func TestPasswordsInKubeconfigs(t *testing.T) {
	w := world{t.TempDir()}
	n := 0
	for _, odd := range oddCharacters {
		for _, form := range []string{"http://bob:%s@127.0.0.1:x/", "https://bob:%s@127.0.0.1:1", "bob:%s@127.0.0.1:1",
			"http://%s@127.0.0.1:x/", "http://[bob:%s@::1", "ftp://bob:%s@127.0.0.1/"} {
			if strings.HasPrefix(form, "http://%s") && strings.ContainsAny(odd, "/?#") {
				continue // the token would be the host
			}
			address := fmt.Sprintf(form, secretWord+odd+secretWord)
			for _, fields := range []string{"server: " + strconv.Quote(address),
				`server: "http://127.0.0.1:1", proxy-url: ` + strconv.Quote(address)} {
				n++
				file := w.file(t, fmt.Sprintf("%d.yaml", n), []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\n"+
					"contexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {"+fields+"}}]\n"+
					"users: [{name: u, user: {token: CANARY}}]\n"))
				saysNoSecret(t, address, nil, "effective", "-A", "--kubeconfig", file, "-v", "9", "--request-timeout", "2s")
			}
			saysNoSecret(t, address, nil, "effective", "-A", "-o", "json", "--server", address, "--request-timeout", "2s")
		}
	}
}

// TestPasswordsOfProxies: the same of the proxies that the environment names.
func TestPasswordsOfProxies(t *testing.T) {
	config := kubeconfig(t, nil)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	w := world{t.TempDir()} // a name that no proxy is by-passed for
	_, rest, _ := strings.Cut(string(text), `"server":"`)
	address, _, _ := strings.Cut(rest, `"`)
	config = w.file(t, "config", []byte(strings.Replace(string(text), address, "https://a.invalid", 1)))
	for _, odd := range oddCharacters {
		for _, form := range []string{"http://bob:%s@127.0.0.1:x/", "http://bob:%s@127.0.0.1:1", "bob:%s@127.0.0.1:1"} {
			address := fmt.Sprintf(form, secretWord+odd+secretWord)
			if odd == "\n" {
				continue // no variable has one
			}
			saysNoSecret(t, address, []string{"HTTPS_PROXY=" + address}, "effective", "-A", "--kubeconfig", config, "-v", "9",
				"--request-timeout", "2s")
		}
	}
}

// TestPasswordsOfParts: the same of what manifests say is elsewhere.
func TestPasswordsOfParts(t *testing.T) {
	for _, odd := range []string{"", "/", "@", "%zz", ":"} {
		address := strconv.Quote("https://bob:" + secretWord + odd + secretWord + "@127.0.0.1:x/r.git")
		for name, files := range map[string]map[string]string{
			"kustomize": {"kustomization.yaml": "resources: [" + address + "]\n"},
			"helm":      {"kustomization.yaml": "helmCharts: [{name: c, repo: " + address + ", releaseName: c, version: 1.0.0}]\n"},
			"Flux": {"a.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: g, namespace: a}\n" +
				"spec: {url: " + address + "}\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n" +
				"metadata: {name: k, namespace: a}\nspec: {path: ./x, sourceRef: {kind: GitRepository, name: g}}\n---\n" + route},
			"Argo CD": {"a.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\n" +
				"spec: {source: {repoURL: " + address + ", path: x}, destination: {namespace: a}}\n---\n" + route},
		} {
			w := world{t.TempDir()}
			for file, text := range files {
				w.file(t, file, []byte(text))
			}
			w.file(t, "r/route.yaml", []byte(route))
			for _, format := range []string{"table", "json"} {
				saysNoSecret(t, name+" "+address, nil, "effective", "-A", "-v", "-R", "-f", w.in, "-o", format)
			}
			saysNoSecret(t, name+" "+address, nil, "check", "-R", "-f", w.in, "--config", "none", "-o", "wide")
			if name == "kustomize" || name == "helm" {
				saysNoSecret(t, name+" "+address, nil, "effective", "-A", "-v", "-k", w.in)
			}
		}
	}
}

// saysNoSecret runs a command line, and looks for the password in what it says.
func saysNoSecret(t *testing.T, of string, env []string, args ...string) {
	t.Helper()
	var said string
	if env == nil {
		var out bytes.Buffer
		cli.App{Plugins: plugins.All()}.Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out,
			LookupEnv: func(string) (string, bool) { return "", false }})
		said = out.String()
	} else {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
		out, _ := cmd.CombinedOutput()
		said = string(out)
	}
	if strings.Contains(said, secretWord) || said == "" {
		t.Errorf("%q: %s", of, said)
	}
}
