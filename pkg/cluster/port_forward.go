package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// ErrForbidden is for what the cluster does not let the user do.
var ErrForbidden = errors.New("forbidden")

// PodClient sends requests to pods of a cluster.
type PodClient struct{ config *rest.Config }

// NewPodClient returns a client for the cluster of a configuration. Nothing is sent yet.
func NewPodClient(config *rest.Config) PodClient { return PodClient{config} }

// Pod names a pod.
type Pod struct{ Namespace, Name string }

// FindRunning lists the running pods with these labels (key=value,…), sorted.
func (p PodClient) FindRunning(ctx context.Context, labels string) ([]Pod, error) {
	client, err := rest.HTTPClientFor(p.config)
	if err != nil {
		return nil, err
	}
	client = boundClient(client, document.Limits{}, &retryWaits{})
	at, err := p.serverURL("/api/v1/pods")
	if err != nil {
		return nil, err
	}
	at.RawQuery = url.Values{"labelSelector": {labels}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		return nil, ErrForbidden
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	var list struct {
		Items []struct {
			Metadata struct{ Namespace, Name, DeletionTimestamp string }
			Status   struct{ Phase string }
		}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxProxyAnswer)).Decode(&list); err != nil {
		return nil, err
	}
	var out []Pod
	for _, i := range list.Items {
		if i.Status.Phase == "Running" && i.Metadata.DeletionTimestamp == "" {
			out = append(out, Pod{i.Metadata.Namespace, i.Metadata.Name})
		}
	}
	slices.SortFunc(out, func(a, b Pod) int { return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) })
	return out, nil
}

func (p PodClient) serverURL(path string) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(p.config)
	if err != nil {
		return nil, err
	}
	return base.JoinPath(path), nil
}

// Get asks a port of a pod for a path, through a port-forward of the server and without a port of
// this machine.
func (p PodClient) Get(ctx context.Context, pod Pod, port int, path string) ([]byte, error) {
	conn, err := p.dialContext(ctx, pod)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // what waits for it fails
	defer stop()
	defer conn.Close()
	body, err := getOverConnection(conn, port, path)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return body, err
}

// dialContext is dialPod with a context. A connection that comes too late is closed.
func (p PodClient) dialContext(ctx context.Context, pod Pod) (httpstream.Connection, error) {
	type dialed struct {
		conn httpstream.Connection
		err  error
	}
	done := make(chan dialed, 1)
	go func() {
		conn, err := p.dialPod(pod)
		done <- dialed{conn, err}
	}()
	select {
	case d := <-done:
		return d.conn, d.err
	case <-ctx.Done():
		go func() {
			if d := <-done; d.conn != nil {
				_ = d.conn.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// dialPod opens a port-forward, by websocket where the server can, else by SPDY.
func (p PodClient) dialPod(pod Pod) (httpstream.Connection, error) {
	at, err := p.serverURL("/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name + "/portforward")
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(p.config)
	if err != nil {
		return nil, err
	}
	noted := &statusRecorder{next: transport}
	older := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: noted}, http.MethodPost, at)
	newer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(at, p.config)
	if err != nil {
		return nil, err
	}
	dialer := portforward.NewFallbackDialerForStreaming(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil && noted.status == http.StatusForbidden {
		return nil, fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return conn, err
}

// statusRecorder notes how the server answers. The dialer for SPDY, which is asked last wherever
// the server refuses, keeps no more of a refusal than its text.
type statusRecorder struct {
	next   http.RoundTripper
	status int
}

func (n *statusRecorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := n.next.RoundTrip(req)
	if resp != nil {
		n.status = resp.StatusCode
	}
	return resp, err
}

// getOverConnection makes one request over a connection.
func getOverConnection(conn httpstream.Connection, port int, path string) ([]byte, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(port))
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	told, err := conn.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	_ = told.Close() // nothing is written there
	failed := make(chan error, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(told, 1<<16))
		if len(text) > 0 {
			_ = conn.Close()
			failed <- errors.New(strings.TrimSpace(string(text)))
		}
		close(failed)
	}()
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := conn.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	body, err := getOverStream(data, path)
	if err == nil {
		return body, nil
	}
	_ = conn.Close()
	if why := <-failed; why != nil {
		return nil, why
	}
	return nil, err
}

func getOverStream(stream io.ReadWriter, path string) ([]byte, error) {
	if _, err := fmt.Fprintf(stream, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		path); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(stream), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the pod answers %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxProxyAnswer))
}
