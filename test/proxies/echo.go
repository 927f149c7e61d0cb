package main

import (
	"encoding/json"
	"net"
	"net/http"
	"sync"
)

// echoHeader is the header in which a backend says what it got.
const echoHeader = "X-Backend-Got"

// echoed is what a backend says of a request.
type echoed struct{ Backend, Method, Host, Path string }

// echo is a server for each backend on loopback, which serve all worlds.
type echo struct {
	lock    sync.Mutex
	servers map[string]*net.TCPAddr
}

// backendServers are those of this process.
var backendServers = &echo{servers: map[string]*net.TCPAddr{}}

// address is where a backend is. Its server starts when it is first asked for.
func (e *echo) address(backend string) (string, int) {
	e.lock.Lock()
	defer e.lock.Unlock()
	at := e.servers[backend]
	if at == nil {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err) // of a machine without loopback
		}
		at = listener.Addr().(*net.TCPAddr)
		e.servers[backend] = at
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, err := json.Marshal(echoed{backend, r.Method, r.Host, r.RequestURI})
			if err != nil {
				panic(err) // of four texts
			}
			w.Header().Set(echoHeader, string(text))
			if r.Header.Get("Content-Type") == "application/grpc" {
				w.Header().Set("Content-Type", "application/grpc")
			}
		})}
		server.Protocols = &http.Protocols{}
		server.Protocols.SetHTTP1(true)
		server.Protocols.SetUnencryptedHTTP2(true)
		go server.Serve(listener)
	}
	return at.IP.String(), at.Port
}
