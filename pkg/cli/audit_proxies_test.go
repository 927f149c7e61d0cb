package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	constants "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// standIn is a server that lists pods and forwards their ports, as an API server does: what each
// pod answers is given.
type standIn struct {
	t     *testing.T
	pods  map[string]func(stream httpstream.Stream)
	order []string

	websocket bool         // it is spoken, too
	tunnels   atomic.Int32 // port-forwards that came over it
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v1/pods" {
		if !strings.Contains(r.URL.Query().Get("labelSelector"), "owning-gateway-name=eg") {
			fmt.Fprint(w, `{"items": []}`)
			return
		}
		var items []any
		for _, name := range s.order {
			items = append(items, map[string]any{"metadata": map[string]any{"namespace": "proxies", "name": name},
				"status": map[string]any{"phase": "Running"}})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/proxies/pods/"), "/portforward")
	answer := s.pods[name]
	switch {
	case answer == nil:
		http.Error(w, `pods "`+name+`" is forbidden: User "dev" cannot create resource "pods/portforward"`,
			http.StatusForbidden)
		return
	case s.websocket && r.Header.Get("Upgrade") == "websocket":
		s.tunnel(w, r, answer)
		return
	case r.Header.Get("Upgrade") != "SPDY/3.1":
		http.Error(w, "only SPDY is spoken here", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream,
		replySent <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if conn == nil {
		return
	}
	serve(conn, streams, answer)
}

// tunnel forwards over a websocket, as newer API servers do.
func (s *standIn) tunnel(w http.ResponseWriter, r *http.Request, answer func(httpstream.Stream)) {
	ws, err := (&websocket.Upgrader{Subprotocols: []string{constants.WebsocketsSPDYTunnelingPortForwardV1}}).Upgrade(w,
		r, nil)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.tunnels.Add(1)
	streams := make(chan httpstream.Stream, 2)
	conn, err := spdy.NewServerConnection(portforward.NewTunnelingConnection("server", ws),
		func(stream httpstream.Stream, _ <-chan struct{}) error {
			streams <- stream
			return nil
		})
	if err != nil {
		s.t.Error(err)
		return
	}
	serve(conn, streams, answer)
}

// serve answers on the data stream of a connection.
func serve(conn httpstream.Connection, streams <-chan httpstream.Stream, answer func(httpstream.Stream)) {
	defer conn.Close()
	for {
		select {
		case stream := <-streams:
			if stream.Headers().Get("streamType") == "data" {
				answer(stream)
			}
			_ = stream.Close()
		case <-conn.CloseChan():
			return
		}
	}
}

// serves answers with a dump.
func serves(t *testing.T, dump []byte) func(httpstream.Stream) {
	return func(stream httpstream.Stream) {
		r, err := http.ReadRequest(bufio.NewReader(stream))
		if err != nil || r.URL.Path != "/config_dump" || strings.Contains(r.URL.RawQuery, "secret") {
			t.Errorf("asked for %v, error %v", r, err)
			return
		}
		fmt.Fprintf(stream, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(dump))
		_, _ = stream.Write(dump)
	}
}

// TestProxies: proxies are found by their labels and asked through port-forwards, and one that
// cannot be asked costs its own answer only.
func TestProxies(t *testing.T) {
	dump := func(n string) []byte {
		raw, err := os.ReadFile("../../testdata/audit/proxy-" + n + ".json")
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	large := append(bytes.Repeat([]byte(" "), 10<<20), dump("1")...)
	s := &standIn{t: t, order: []string{"dies", "good", "large", "old", "refused"},
		pods: map[string]func(httpstream.Stream){
			"good": serves(t, dump("1")), "old": serves(t, dump("2")), "large": serves(t, large),
			"dies": func(stream httpstream.Stream) {
				fmt.Fprint(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"configs\"")
			}}}
	server := httptest.NewServer(s)
	defer server.Close()
	ask := func(more ...string) (int, string, string) {
		var out, errs bytes.Buffer
		args := append([]string{"audit", "--proxies", "-f", "../../testdata/audit/manifests.yaml", "--server",
			server.URL}, more...)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		code := cli.App{Plugins: plugins.All()}.Run(ctx, args, cli.Streams{In: strings.NewReader(""), Out: &out,
			Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }})
		return code, out.String(), errs.String()
	}
	code, out, errs := ask()
	if code != cli.ExitFindings || !strings.Contains(out, "proxies/old") ||
		!strings.Contains(out, "1 of 3 proxies of gateway/infra/eg run with another version than most: proxies/old") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, want := range []string{"proxy proxies/refused could not be asked: you may not forward ports",
		"proxy proxies/dies could not be asked"} {
		if !strings.Contains(errs, want) {
			t.Errorf("not told: %s\n%s", want, errs)
		}
	}
	if strings.Contains(out+errs, "canary") {
		t.Error("a secret of the dump is printed")
	}
	if code, _, _ = ask("--strict"); code != cli.ExitNoAnswer {
		t.Errorf("with --strict: exit %d", code)
	}
	s.order = []string{"good"}
	if code, out, errs = ask(); code != cli.ExitAnswered || !strings.Contains(out, "no differences") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	hang := make(chan struct{})
	defer close(hang)
	s.pods["hangs"] = func(httpstream.Stream) { <-hang }
	s.order = []string{"good", "hangs"}
	if code, out, errs = ask("--request-timeout", "1s"); code != cli.ExitAnswered ||
		!strings.Contains(out, "2 of 2 rules found") ||
		!strings.Contains(errs, "proxies/hangs could not be asked: it took longer than 1s") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	// What a pod says of permissions is not about the user's.
	s.pods["guarded"] = func(stream httpstream.Stream) {
		fmt.Fprint(stream, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
	}
	s.order = []string{"good", "guarded"}
	if code, out, errs = ask(); code != cli.ExitAnswered ||
		!strings.Contains(errs, "proxies/guarded could not be asked: the pod answers 403 Forbidden") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	// Over a websocket, where the server can.
	s.websocket, s.order = true, []string{"good", "large", "refused"}
	if code, out, errs = ask(); code != cli.ExitAnswered || s.tunnels.Load() != 2 ||
		!strings.Contains(errs, "proxy proxies/refused could not be asked: you may not forward ports") {
		t.Errorf("exit %d, %d websockets\n%s\n%s", code, s.tunnels.Load(), out, errs)
	}
	s.order = nil
	if code, out, errs = ask(); code != cli.ExitNoAnswer ||
		!strings.Contains(errs, "no running proxy of gateway/infra/eg was found by its labels") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}
