package load

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestNamespacesToTry: what objects say becomes part of a request's path, and must not lead anywhere else.
func TestNamespacesToTry(t *testing.T) {
	v, err := readTree([]byte(`{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "namespace": "shop"}, "spec": {"to": [
		{"namespace": "infra"}, {"namespace": "kube-system/secrets/db"}, {"namespace": "../namespaces/x/secrets/y"}, {"namespace": "A?b"}, {"namespace": ""}]}}`), newWords(), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	l := newListing(&liveReader{o: LiveOptions{Context: "test"}}, job{})
	d := &document{from: "test", press: l.press.begin(noLines), out: &l.out}
	d.take(subject{value: v})
	l.press.deliver()
	r := &liveReader{o: LiveOptions{Home: []string{"home", "no/home"}}, outcomes: []outcome{l.out}}
	if got, want := r.namespaces(), []string{"home", "infra", "shop"}; !reflect.DeepEqual(got, want) {
		t.Errorf("namespaces %q, want %q", got, want)
	}
}

// TestNextWakes: a change that was taken already does not end the watch.
func TestNextWakes(t *testing.T) {
	w := &Watcher{changed: map[model.GroupKind]bool{}, refused: map[model.GroupKind]bool{{Kind: "Refused"}: true}, wake: make(chan struct{}, 1)}
	w.wake <- struct{}{} // left behind by a change that Next has told of
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		time.Sleep(20 * time.Millisecond)
		w.mark(model.GroupKind{Kind: "Changed"})
	}()
	kinds, ok := w.Next(ctx, time.Millisecond, nil)
	if want := []model.GroupKind{{Kind: "Changed"}, {Kind: "Refused"}}; !ok || !reflect.DeepEqual(kinds, want) {
		t.Errorf("%v, %t; want %v", kinds, ok, want)
	}
	again := make(chan time.Time, 1)
	again <- time.Now()
	if kinds, ok := w.Next(ctx, time.Millisecond, again); !ok || kinds != nil {
		t.Errorf("when it is time to try again: %v, %t", kinds, ok)
	}
	cancel()
	if _, ok := w.Next(ctx, time.Millisecond, nil); ok {
		t.Error("a watch that is interrupted goes on")
	}
}

// TestArchiveBeyondLimit: what the entries of an archive say they hold counts, before it is read.
func TestArchiveBeyondLimit(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	archive := tar.NewWriter(z)
	text := bytes.Repeat([]byte("# comment\n"), 200)
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if archive.Close() != nil || z.Close() != nil {
		t.Fatal("packing")
	}
	r := &reader{left: 9_000}
	if _, err := r.unpack(context.Background(), source{name: "x.tgz"}, packed.Bytes()); err != nil || len(r.problems) != 1 || r.problems[0].Code != model.LimitExceeded {
		t.Errorf("%v, %v", r.problems, err)
	}
}
