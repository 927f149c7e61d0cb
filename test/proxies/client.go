package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
)

// send sends a request to an address, as it is written: nothing is encoded, joined or sorted. number is what the proxy logs it by.
func send(ctx context.Context, address string, r request, number int) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	if r.TLS {
		secure := tls.Client(conn, &tls.Config{ServerName: r.SNI, InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
		if err := secure.HandshakeContext(ctx); err != nil {
			if isClosed(err) {
				return reply{Closed: true}, nil
			}
			return reply{}, err
		}
		conn = secure
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n%s: %d\r\nConnection: close\r\n", r.Method, r.Path, r.Host, numberHeader, number)
	if r.GRPC {
		text.WriteString("Content-Type: application/grpc\r\nTE: trailers\r\n")
	}
	for _, h := range r.Headers {
		fmt.Fprintf(&text, "%s: %s\r\n", h[0], h[1])
	}
	if r.Method == "POST" || r.Method == "PUT" {
		text.WriteString("Content-Length: 0\r\n")
	}
	text.WriteString("\r\n")
	if _, err := conn.Write(text.Bytes()); err != nil {
		return reply{}, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.Method})
	if err != nil {
		if isClosed(err) {
			return reply{Closed: true}, nil
		}
		return reply{}, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return reply{}, err
	}
	out := reply{Status: answer.StatusCode, Location: answer.Header.Get("Location")}
	if got := answer.Header.Get(echoHeader); got != "" {
		var echoed echoed
		if err := json.Unmarshal([]byte(got), &echoed); err != nil {
			return reply{}, fmt.Errorf("reading what backend %q says: %w", got, err)
		}
		out.Backend, out.Method, out.Host, out.Path = echoed.Backend, echoed.Method, echoed.Host, echoed.Path
	} else if r.GRPC {
		out.Status = httpStatus(out.Status, answer.Header.Get("Grpc-Status"))
	}
	return out, nil
}

// httpStatus is the status that a proxy would have answered with by itself, had the call not been gRPC: it writes those into another header.
func httpStatus(status int, grpc string) int {
	switch grpc {
	case "12":
		return http.StatusNotFound
	case "14":
		return http.StatusServiceUnavailable
	case "2":
		return http.StatusInternalServerError
	case "16":
		return http.StatusUnauthorized
	case "7":
		return http.StatusForbidden
	}
	return status
}

// isClosed reports whether the other side has closed the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}
