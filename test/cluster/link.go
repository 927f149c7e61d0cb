package cluster

import (
	"net"
	"net/url"
	"sync"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Link is a way to a server that can be cut.
type Link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	state linkState
	conns []net.Conn
}

// linkState is what becomes of what is sent over a Link.
type linkState int

const (
	linkUp     linkState = iota
	linkSilent           // nothing arrives, and nobody is told
	linkDown             // connections are closed, and new ones too
)

// Link starts a way to the server. It ends with the test.
func (c *Cluster) Link() *Link {
	c.tb.Helper()
	target, err := url.Parse(c.Config(admin).Host)
	if err != nil {
		c.tb.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.tb.Fatal(err)
	}
	l := &Link{listener: listener, target: target.Host}
	go l.acceptConnections()
	c.tb.Cleanup(func() {
		_ = listener.Close()
		l.setState(linkDown)
	})
	return l
}

// LinkKubeconfig is Kubeconfig by the way of a link.
func (c *Cluster) LinkKubeconfig(l *Link, user, namespace string) string {
	c.tb.Helper()
	config := c.Config(user)
	path, err := writeKubeconfig(c.tb.TempDir(), namespace,
		&clientcmdapi.Cluster{Server: "https://" + l.listener.Addr().String(), CertificateAuthorityData: config.CAData},
		&clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData})
	if err != nil {
		c.tb.Fatal(err)
	}
	return path
}

// setState cuts the link, or mends it: connections from before are gone then.
func (l *Link) setState(state linkState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state
	if state == linkSilent {
		return
	}
	for _, conn := range l.conns {
		_ = conn.Close()
	}
	l.conns = nil
}

func (l *Link) currentState() linkState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// acceptConnections passes connections on until the link ends.
func (l *Link) acceptConnections() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		if l.currentState() == linkDown {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", l.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, client, server)
		l.mu.Unlock()
		go l.copyBytes(client, server)
		go l.copyBytes(server, client)
	}
}

// copyBytes copies what is sent while the link is up; what is sent over a silent one is gone.
func (l *Link) copyBytes(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && l.currentState() == linkUp {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
