package form

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"route", "gateway", "gatewayclass"}
	if got := Nearest("gatway", known); len(got) == 0 || got[0] != "gateway" {
		t.Errorf("got %v", got)
	}
	if got := Nearest(strings.Repeat("g", 1<<20), known); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := Nearest("ruote", known); len(got) == 0 || got[0] != "route" {
		t.Errorf("got %v", got)
	}
	// one slip of the fingers
	if got := Nearest("shpo", []string{"cart", "shop"}); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("got %v", got)
	}
	if got := Nearest("", known); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
