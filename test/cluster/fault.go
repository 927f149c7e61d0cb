package cluster

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is what a Proxy does to one request. The zero value passes it on as it is.
type Fault struct {
	delay  time.Duration
	answer func(
		w http.ResponseWriter) // in place of the server's; nil: the server answers
	body func(w http.ResponseWriter, answer *http.Response, head, tail []byte) // nil: the body as it is
}

// TooManyRequests is 429 with the number of seconds after which to try again.
func TooManyRequests(retryAfter int) Fault {
	f := Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "the server is busy")
	refuse := f.answer
	f.answer = func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		refuse(w)
	}
	return f
}

// InternalError is 500.
func InternalError() Fault {
	return Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, "something broke")
}

// Expired is the 410 with which a server answers to a continue token that is too old.
func Expired() Fault {
	return Refuse(http.StatusGone, metav1.StatusReasonExpired,
		"The provided continue parameter is too old to display a consistent list result.")
}

// Refuse is any other failure as the server's API reports it.
func Refuse(code int, reason metav1.StatusReason, message string) Fault {
	text, _ := json.Marshal(metav1.Status{ // of strings and numbers: cannot fail
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code),
		Reason: reason, Message: message,
	})
	return Answer(code, "application/json", string(text))
}

// Answer is any other answer in place of the server's.
func Answer(code int, contentType, text string) Fault {
	return Fault{answer: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		write(w, []byte(text))
	}}
}

// SlowStart waits before the request is passed on.
func SlowStart(pause time.Duration) Fault { return Fault{delay: pause} }

// SlowBody waits in the middle of the body.
func SlowBody(pause time.Duration) Fault {
	return Fault{body: func(w http.ResponseWriter, answer *http.Response, head, tail []byte) {
		copyHeader(w, answer, len(head)+len(tail))
		write(w, head)
		select {
		case <-time.After(pause):
		case <-answer.Request.Context().Done(): // the client has gone
		}
		write(w, tail)
	}}
}

// ResetBody resets the connection in the middle of the body.
func ResetBody() Fault {
	return Fault{body: func(w http.ResponseWriter, answer *http.Response, head, tail []byte) {
		hangUp(w, answer, head, tail, 0)
	}}
}

// CloseBody closes the connection in the middle of the body, short of its stated length.
func CloseBody() Fault {
	return Fault{body: func(w http.ResponseWriter, answer *http.Response, head, tail []byte) {
		hangUp(w, answer, head, tail, -1)
	}}
}

// TruncateBody ends the body in its middle as if that were its end: only its syntax tells.
func TruncateBody() Fault {
	return Fault{body: func(w http.ResponseWriter, answer *http.Response, head, _ []byte) {
		copyHeader(w, answer, len(head))
		write(w, head)
	}}
}

// hangUp writes one half of a body and closes the connection; linger is that of net.TCPConn.SetLinger, 0 for a reset.
func hangUp(w http.ResponseWriter, answer *http.Response, head, tail []byte, linger int) {
	copyHeader(w, answer, len(head)+len(tail))
	write(w, head)
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the client has gone
	}
	defer conn.Close()
	if linger == 0 {
		time.Sleep(20 * time.Millisecond) // a reset throws away what has not been sent
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(linger) // fails only for a connection that is gone
	}
}

func copyHeader(w http.ResponseWriter, answer *http.Response, length int) {
	header := w.Header()
	for name, values := range answer.Header {
		header[name] = values
	}
	header.Set("Content-Length", strconv.Itoa(length))
	w.WriteHeader(answer.StatusCode)
}

// write sends at once. That a client does not listen any more is its own business.
func write(w http.ResponseWriter, data []byte) {
	_, _ = w.Write(data)
	_ = http.NewResponseController(w).Flush()
}

// spoil answers with the body as the fault has it.
func (f Fault) spoil(w http.ResponseWriter, answer *http.Response) {
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	f.body(w, answer, body[:len(body)/2], body[len(body)/2:])
}
