package model_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func content() map[string]any {
	long := strings.Repeat("long ", 40)
	return map[string]any{
		"null": nil, "no": false, "yes": true, "zero": int64(0), "minus": int64(-1), "least": int64(math.MinInt64),
		"most": int64(math.MaxInt64),
		"half": 0.5, "empty": "", "text": "text", "long": long, "again": []any{long, long}, strings.Repeat("k",
			100): map[string]any{long: long},
		"list": []any{}, "map": map[string]any{}, "deep": []any{map[string]any{"a": []any{int64(1),
			map[string]any{"b": "c"}}}, "last"},
	}
}

func TestBodyGivesBackWhatWasPacked(t *testing.T) {
	want := content()
	b := model.Pack(want, nil)
	if got := b.Value(); !reflect.DeepEqual(got, any(want)) {
		t.Errorf("got %v", got)
	}
	for key, v := range want {
		if got := b.Get(key); !reflect.DeepEqual(got, v) {
			t.Errorf("%s: got %v, want %v", key, got, v)
		}
		if text, _ := v.(string); b.Text(key) != text {
			t.Errorf("%s: got text %q, want %q", key, b.Text(key), text)
		}
	}
	if got := b.Text("deep", "0", "a", "1", "b"); got != "c" {
		t.Errorf("got %q", got)
	}
	b.Value().(map[string]any)["text"] = "changed"
	if got := b.Text("text"); got != "text" {
		t.Errorf("a caller changed the body: %s", got)
	}
}

func TestBodyWithManyEntries(t *testing.T) { // from a certain number on there is an index
	for _, n := range []int{1, 63, 64, 65, 1000} {
		m, l := map[string]any{}, []any{}
		for i := range n {
			m[fmt.Sprint("k", i*7919%n)] = []any{int64(i)}
			l = append(l, map[string]any{"i": int64(i)})
		}
		want := map[string]any{"m": m, "l": l, "z": "end"}
		b := model.Pack(want, func(path ...string) int { return 100*len(path) + len(path[len(path)-1]) })
		if got := b.Value(); !reflect.DeepEqual(got, any(want)) || b.Text("z") != "end" {
			t.Errorf("%d: got %v", n, got)
		}
		for i := range n {
			key, index := fmt.Sprint("k", i), fmt.Sprint(i)
			if got := b.Get("m", key); !reflect.DeepEqual(got, m[key]) || b.Line("m", key) != 200+len(key) {
				t.Errorf("%d: %s is %v on line %d", n, key, got, b.Line("m", key))
			}
			if got := b.Get("l", index, "i"); got != int64(i) || b.Line("l", index) != 200+len(index) {
				t.Errorf("%d: %d is %v", n, i, got)
			}
		}
		if b.Has("m") != true || b.At("m").Has("k") || b.Get("l", fmt.Sprint(n)) != nil || b.Get("l", "-1") != nil ||
			b.At("m").Len() != n {
			t.Errorf("%d: finds what is not there", n)
		}
		if got := string(model.AppendJSON(nil, b)); got != string(model.AppendJSON(nil, want)) {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// bound: 10 s for each of 200,000 keys and entries; one after the other it takes minutes
func TestBodyIsSearchedQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	const n, bound = 200_000, 10 * time.Second
	m, l := map[string]any{}, []any{}
	for i := range n {
		m[fmt.Sprint("key-", i)] = int64(i)
		l = append(l, int64(i))
	}
	b := model.Pack(map[string]any{"m": m, "l": l}, nil)
	start := time.Now()
	for i := range n {
		if b.Get("m", fmt.Sprint("key-", i)) != int64(i) || b.Get("l", fmt.Sprint(i)) != int64(i) {
			t.Fatalf("%d is not found", i)
		}
		if i%1000 == 0 && time.Since(start) > bound {
			t.Fatalf("%d look-ups took %s", i, time.Since(start))
		}
	}
}

func TestBodyWithoutThePath(t *testing.T) {
	b := model.Pack(content(), nil)
	for _, path := range [][]string{{"gone"}, {"text", "x"}, {"map", "x"}, {"deep", "2"}, {"deep", "a"},
		{"null", "x"}} {
		if v := b.Get(path...); v != nil || b.Text(path...) != "" || b.Line(path...) != 0 {
			t.Errorf("%v: got %v", path, v)
		}
	}
	var none model.Body
	if none.Value() != nil || none.Get("a") != nil || none.Text("a") != "" || none.Line("a") != 0 {
		t.Error("the zero body is not null")
	}
}

func TestBodyKnowsLines(t *testing.T) {
	b := model.Pack(content(), func(path ...string) int { return 10*len(path) + len(path[0]) })
	for _, tt := range []struct {
		path []string
		want int
	}{
		{nil, 0}, {[]string{"text"}, 14}, {[]string{"deep", "0", "a", "1", "b"}, 54}, {[]string{"deep", "0", "a", "2"},
			34},
		{[]string{"deep", "x"}, 14}, {[]string{"deep", "-1"}, 14}, {[]string{"gone", "0"}, 0},
	} {
		if got := b.Line(tt.path...); got != tt.want {
			t.Errorf("%v: line %d, want %d", tt.path, got, tt.want)
		}
	}
}

func TestPackerSharesATape(t *testing.T) { // what two bodies have in common is on it once
	var p model.Packer
	long := strings.Repeat("x", 1000)
	shared := p.Position()
	at := p.OpenList(1)
	p.BeginItem(7)
	p.WriteScalar(long)
	p.Close(at)
	second := p.Position()
	at = p.OpenObject(2)
	p.BeginField("a", 1)
	p.WriteAgain(shared)
	p.BeginField("b", 2)
	p.WriteScalar(long)
	p.Close(at)
	if size := int(p.Position()); size > len(long)+50 {
		t.Errorf("%d bytes", size)
	}
	body := p.TakeBodies()
	bodies := []model.Body{body(shared), body(second)}
	want := any(map[string]any{"a": []any{long}, "b": long})
	if got := bodies[1].Value(); !reflect.DeepEqual(got, want) || bodies[1].Line("a", "0") != 7 ||
		bodies[1].Text("b") != long {
		t.Errorf("got %v", got)
	}
	if got := bodies[0].Value(); !reflect.DeepEqual(got, any([]any{long})) {
		t.Errorf("got %v", got)
	}
	if p.Position() != 0 {
		t.Error("the packer is not empty")
	}
	if after := bodies[1].WithLineOffset(10); after.Line("a", "0") != 17 || after.At("a").Line("0") != 17 ||
		after.At("b").Line() != 0 {
		t.Errorf("behind ten lines: line %d, from inside %d, of no part %d", after.Line("a", "0"),
			after.At("a").Line("0"), after.At("b").Line())
	}
}
