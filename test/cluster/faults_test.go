package cluster

import (
	"bytes"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// everyQuestion is the question that is asked through a broken server.
var everyQuestion = []string{"effective", "-A", "-o", "json"}

// routes is the list of HTTPRoutes: those of one group, of several that have a kind of this name.
const routes = "gateway.networking.k8s.io/v1/httproutes"

// pages makes several pages of the demo's lists.
const pages = "--chunk-size=2"

// onList makes faults of the first times requests for the list of a resource, which may begin with its group; from is the page from which they count, from 1.
func onList(resource string, from, times int, fault Fault) func(*http.Request, int) Fault {
	n := 0
	return func(r *http.Request, _ int) Fault {
		if !strings.HasSuffix(r.URL.Path, "/"+resource) || r.URL.Query().Get("watch") != "" {
			return Fault{}
		}
		n++
		if n >= from && n < from+times {
			return fault
		}
		return Fault{}
	}
}

// always is more often than anybody tries again.
const always = 1000

// TestFaults: what may pass is tried again and gives the whole answer; what does not pass gives none.
func TestFaults(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	whole := ask(t, c.Proxy("admin", nil).Kubeconfig(""), everyQuestion...).Stdout
	expired := Expired()
	faults := map[string]Fault{
		"too many requests": TooManyRequests(0), "too many requests, come back": TooManyRequests(1),
		"error": InternalError(),
		"unavailable": Refuse(http.StatusServiceUnavailable, "ServiceUnavailable",
			"starting"), "reset": ResetBody(), "closed": CloseBody(),
	}
	for name, fault := range faults {
		for page := 1; page <= 2; page++ {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := c.Proxy("admin", onList(routes, page, 1, fault))
				if got := Run(t, append(everyQuestion, pages), environment(p.Kubeconfig(""))); got.Code != 0 ||
					got.Stdout != whole {
					t.Errorf("page %d, once: exit %d, the same answer: %v\n%s", page, got.Code,
						got.Stdout == whole, got.Stderr)
				}
			})
		}
	}
	for name, x := range map[string]struct {
		fault Fault
		says  string
	}{
		"error":        {InternalError(), "something broke"},
		"busy":         {TooManyRequests(0), "the server is busy"},
		"reset":        {ResetBody(), "listing httproutes"},
		"closed":       {CloseBody(), "listing httproutes"},
		"truncated":    {TruncateBody(), "listing httproutes"},
		"sign-in page": {Answer(http.StatusOK, "text/html", "<p>sign in</p>"), "listing httproutes"},
		"empty answer": {Answer(http.StatusOK, "application/json", ""), "listing httproutes"},
		"null":         {Answer(http.StatusOK, "application/json", "null"), "listing httproutes"},
		"no list": {Answer(http.StatusOK, "application/json", `{"kind":"Status","apiVersion":"v1"}`),
			"listing httproutes"},
		"no items": {Answer(http.StatusOK, "application/json",
			`{"kind":"HTTPRouteList","apiVersion":"gateway.networking.k8s.io/v1"}`), "listing httproutes"},
		"redirect":       {Answer(http.StatusFound, "text/html", ""), "listing httproutes"},
		"no content":     {Answer(http.StatusNoContent, "application/json", ""), "listing httproutes"},
		"always expired": {expired, "listing httproutes"},
		"not found": {Refuse(http.StatusNotFound, "NotFound", "the server could not find the requested resource"),
			"listing httproutes"},
		"not allowed": {Refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "not by this proxy"),
			"listing httproutes"},
		"logged out": {Refuse(http.StatusUnauthorized, "Unauthorized", "Unauthorized"), "must be logged in"},
	} {
		for page := 1; page <= 2; page++ {
			t.Run("always "+name, func(t *testing.T) {
				t.Parallel()
				p := c.Proxy("admin", onList(routes, page, always, x.fault))
				got := Run(t, append(everyQuestion, pages), environment(p.Kubeconfig("")))
				if got.Code != 3 || got.Stdout != "" || !strings.Contains(got.Stderr, x.says) {
					t.Errorf("page %d: exit %d, %d bytes\n%s", page, got.Code, len(got.Stdout), got.Stderr)
				}
			})
		}
	}
	t.Run("expired between pages", func(t *testing.T) {
		t.Parallel()
		p := c.Proxy("admin", onList(routes, 2, 1, expired))
		if got := Run(t, append(everyQuestion, pages), environment(p.Kubeconfig(""))); got.Code != 0 ||
			got.Stdout != whole {
			t.Errorf("exit %d, the same answer: %v\n%s", got.Code, got.Stdout == whole, got.Stderr)
		}
	})
	t.Run("slow body", func(t *testing.T) {
		t.Parallel()
		p := c.Proxy("admin", onList(routes, 1, 1, SlowBody(time.Second)))
		if got := Run(t, everyQuestion, environment(p.Kubeconfig(""))); got.Code != 0 || got.Stdout != whole {
			t.Errorf("exit %d, the same answer: %v\n%s", got.Code, got.Stdout == whole, got.Stderr)
		}
	})
}

// TestFaultsForbidden: a list of which a later page is forbidden is one that may not be read, as a whole.
func TestFaultsForbidden(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	whole := askJSON(t, c.Kubeconfig("admin", ""), everyQuestion[:2]...)
	forbidden := Refuse(http.StatusForbidden, "Forbidden", "not any more")
	for _, resource := range []string{"httproutes", "services", "authpolicies", "gateways", "namespaces"} {
		for _, page := range []int{1, 2} {
			p := c.Proxy("admin", onList(resource, page, always, forbidden))
			got := askJSON(t, p.Kubeconfig(""), "effective", "-A", "--chunk-size=1")
			if got.Complete || len(got.forbidden()) == 0 {
				t.Errorf("%s, page %d: complete %v, forbidden %v", resource, page, got.Complete, got.forbidden())
			}
			for _, wrong := range unmarked(t, whole, got) {
				t.Errorf("%s, page %d: not marked, and not what the whole answer has: %s", resource, page, wrong)
			}
		}
	}
}

// TestFaultsOfDiscovery: without knowing what is served there is no answer; a failure that passes is none.
func TestFaultsOfDiscovery(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	whole := ask(t, c.Proxy("admin", nil).Kubeconfig(""), everyQuestion...).Stdout
	for name, fault := range map[string]Fault{
		"error": InternalError(), "busy": TooManyRequests(0), "reset": ResetBody(), "truncated": TruncateBody(),
		"closed":       CloseBody(),
		"sign-in page": Answer(http.StatusOK, "text/html", "<p>sign in</p>"), "empty": Answer(http.StatusOK,
			"application/json", "{}"),
	} {
		for _, path := range []string{"/api", "/apis"} {
			for _, times := range []int{1, always} {
				t.Run(name+" "+path, func(t *testing.T) {
					t.Parallel()
					n := 0
					p := c.Proxy("admin", func(r *http.Request, _ int) Fault {
						if r.URL.Path != path {
							return Fault{}
						}
						if n++; n > times {
							return Fault{}
						}
						return fault
					})
					got := Run(t, everyQuestion, environment(p.Kubeconfig("")))
					switch {
					case got.Code == 0 && got.Stdout == whole:
					case got.Code == 3 && got.Stdout == "" && got.Stderr != "":
					default:
						t.Errorf("%d times: exit %d, %d bytes, the whole is %d\n%s", times, got.Code, len(got.Stdout),
							len(whole), got.Stderr)
					}
				})
			}
		}
	}
}

// TestFaultsOfOneGroup: where a group that matters is not served, there is no answer. The server's list of everything is left out, as older
// servers have none, so that each group is asked for.
func TestFaultsOfOneGroup(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	for _, group := range []string{"gateway.networking.k8s.io/v1", "kuadrant.io/v1", "policies.example.com/v1"} {
		for _, fault := range []Fault{InternalError(), Refuse(http.StatusServiceUnavailable, "ServiceUnavailable",
			"the server is currently unable to handle the request")} {
			p := c.Proxy("admin", func(r *http.Request, _ int) Fault {
				r.Header.Set("Accept", "application/json")
				if r.URL.Path == "/apis/"+group {
					return fault
				}
				return Fault{}
			})
			got := Run(t, everyQuestion, environment(p.Kubeconfig("")))
			if (got.Code != 3 || got.Stdout != "" || !strings.Contains(got.Stderr, group)) && (got.Code != 0 ||
				readAnswer(t, got.Stdout).Complete) {
				t.Errorf("%s: exit %d\n%s", group, got.Code, got.Stderr)
			}
		}
	}
}

// TestFaultsOfEveryList breaks each request of an answer in turn.
func TestFaultsOfEveryList(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	sound := c.Proxy("admin", nil)
	whole := ask(t, sound.Kubeconfig(""), everyQuestion...).Stdout
	for _, r := range sound.Requests() {
		t.Run(r.Path, func(t *testing.T) {
			t.Parallel()
			p := c.Proxy("admin", func(have *http.Request, _ int) Fault {
				if have.URL.Path == r.Path {
					return InternalError()
				}
				return Fault{}
			})
			got := Run(t, everyQuestion, environment(p.Kubeconfig("")))
			if got.Code != 3 || got.Stdout != "" {
				t.Errorf("exit %d, %d bytes, the whole is %d\n%s", got.Code, len(got.Stdout), len(whole), got.Stderr)
			}
		})
	}
}

// TestTimeout: --request-timeout ends a slow reading, of the server's own or of a body.
func TestTimeout(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	for name, fault := range map[string]Fault{"start": SlowStart(time.Minute), "body": SlowBody(time.Minute)} {
		for _, resource := range []string{"httproutes", "apis"} {
			t.Run(name+" of "+resource, func(t *testing.T) {
				p := c.Proxy("admin", onList(resource, 1, always, fault))
				got := Run(t, append(everyQuestion, "--request-timeout=1s"), environment(p.Kubeconfig("")))
				if got.Code != 3 || got.Stdout != "" || !strings.Contains(got.Stderr, "longer than 1s") ||
					got.Elapsed > 3*time.Second {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// TestInterrupt: Ctrl-C ends a slow reading at once, without an answer.
func TestInterrupt(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	for _, resource := range []string{"httproutes", "apis"} {
		t.Run(resource, func(t *testing.T) {
			reached := make(chan struct{})
			once := sync.OnceFunc(func() { close(reached) })
			slow := onList(resource, 1, always, SlowBody(time.Minute))
			p := c.Proxy("admin", func(r *http.Request, n int) Fault {
				f := slow(r, n)
				if f.body != nil {
					once()
				}
				return f
			})
			cmd := exec.Command(Plugin(t), everyQuestion...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Env = []string{environment(p.Kubeconfig("")), "HOME=" + t.TempDir()}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code tells
			if took := time.Since(began); took > time.Second {
				t.Errorf("ended after %s", took)
			}
			if code := cmd.ProcessState.ExitCode(); code != 3 && code != 130 {
				t.Errorf("exit %d", code)
			}
			if stdout.Len() > 0 {
				t.Errorf("wrote %q", stdout.String())
			}
			t.Logf("%v: %s", cmd.ProcessState, stderr.String())
		})
	}
}
