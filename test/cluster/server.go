package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// admin is the user that may do everything; the harness is the same under a name of its own, so that its requests can be told apart.
const (
	admin   = "admin"
	harness = "harness"
	masters = "system:masters"
)

// server is etcd and kube-apiserver, with clients that may do everything.
type server struct {
	folder    string
	authority *authority
	etcd, api *process
	etcdURL   string

	config  *rest.Config
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	users   users
}

// auditPolicy logs every request once, before it is handled: whoever has the answer finds the request in the log.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
- {level: None, users: ["system:apiserver", "harness"]}
- {level: Metadata}
`

// launch builds what is not built, starts a server in a new folder and waits until it answers.
func launch(ctx context.Context) (*server, error) {
	etcd, err := built("etcd")
	if err != nil {
		return nil, err
	}
	api, err := built("kube-apiserver")
	if err != nil {
		return nil, err
	}
	const attempts = 3 // a free port may be taken between finding and using it
	for range attempts {
		var s *server
		if s, err = start(ctx, etcd, api); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// start starts the two programs. The caller stops what it gets.
func start(ctx context.Context, etcd, api string) (_ *server, err error) {
	s := &server{}
	if s.folder, err = os.MkdirTemp("", "dopolicy-cluster"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	if err := s.credentials("https://127.0.0.1:" + ports[2]); err != nil {
		return nil, fmt.Errorf("making certificates: %w", err)
	}
	s.etcdURL = "http://127.0.0.1:" + ports[0]
	if s.etcd, err = run(s.folder, etcd, s.etcdArguments("http://127.0.0.1:"+ports[1])...); err != nil {
		return nil, err
	}
	if s.api, err = run(s.folder, api, s.apiArguments(ports[2])...); err != nil {
		return nil, err
	}
	if err := s.clients(); err != nil {
		return nil, err
	}
	return s, s.ready(ctx)
}

func (s *server) etcdArguments(peer string) []string {
	return []string{
		"--data-dir=" + s.file("etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=" + s.etcdURL, "--advertise-client-urls=" + s.etcdURL,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
	}
}

// apiArguments: objects are stored as JSON so that CreatedAt can change those of all kinds. There is nobody who makes the service accounts
// that the admission plugin asks for.
func (s *server) apiArguments(port string) []string {
	return []string{
		"--etcd-servers=" + s.etcdURL, "--storage-media-type=application/json",
		"--bind-address=127.0.0.1", "--secure-port=" + port, "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + s.file("server.crt"), "--tls-private-key-file=" +
			s.file("server.key"), "--client-ca-file=" + s.file("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16",
		"--service-account-key-file=" + s.file("accounts.key"), "--service-account-signing-key-file=" +
			s.file("accounts.key"),
		"--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", "--delete-collection-workers=8",
		"--audit-policy-file=" + s.file("audit.yaml"), "--audit-log-path=" +
			s.file("audit.log"), "--audit-log-maxsize=100000",
	}
}

// credentials writes what kube-apiserver reads, and makes the configuration of the harness.
func (s *server) credentials(url string) error {
	var err error
	if s.authority, err = newAuthority(); err != nil {
		return err
	}
	cert, key, err := s.authority.server()
	if err != nil {
		return err
	}
	_, accounts, err := newKey()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"ca.crt": s.authority.pem, "server.crt": cert, "server.key": key, "accounts.key": accounts,
		"audit.yaml": []byte(auditPolicy),
	}
	for name, data := range files {
		if err := os.WriteFile(s.file(name), data, 0o600); err != nil {
			return err
		}
	}
	if cert, key, err = s.authority.user(harness, []string{masters}); err != nil {
		return err
	}
	s.config = s.configFor(url, cert, key)
	return nil
}

// configFor is a client's configuration that waits for no rate limit of its own and prints no warnings of the server.
func (s *server) configFor(url string, cert, key []byte) *rest.Config {
	return &rest.Config{
		Host: url, QPS: -1, WarningHandler: rest.NoWarnings{},
		TLSClientConfig: rest.TLSClientConfig{CAData: s.authority.pem, CertData: cert, KeyData: key},
	}
}

func (s *server) clients() error {
	var err error
	if s.dynamic, err = dynamic.NewForConfig(s.config); err != nil {
		return err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	s.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	return nil
}

// ready waits until the server says that it is ready.
func (s *server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	disco, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	for {
		if err := disco.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err == nil {
			return nil
		}
		select {
		case <-s.etcd.ended:
			return s.etcd.failure("ended")
		case <-s.api.ended:
			return s.api.failure("ended")
		case <-ctx.Done():
			return s.api.failure("did not become ready")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends both programs and removes what they wrote.
func (s *server) stop() error {
	for _, p := range []*process{s.api, s.etcd} {
		if p != nil {
			p.stop()
		}
	}
	return os.RemoveAll(s.folder)
}

func (s *server) file(name string) string { return filepath.Join(s.folder, name) }
