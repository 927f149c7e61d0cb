package mcp

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// TestRepeatFlags: a command that gets the flags again has the values that the server was given.
func TestRepeatFlags(t *testing.T) {
	type values struct {
		list, array []string
		text        string
		on          bool
	}
	parse := func(args []string) (values, *pflag.FlagSet) {
		var v values
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		fs.StringSliceVar(&v.list, "list", nil, "")
		fs.StringArrayVar(&v.array, "array", nil, "")
		fs.StringVar(&v.text, "text", "", "")
		fs.BoolVar(&v.on, "on", false, "")
		fs.String("listen", "", "")
		if err := fs.Parse(args); err != nil {
			t.Fatal(err)
		}
		return v, fs
	}
	for _, args := range [][]string{
		{},
		{"--list=a,b", "--list=c", "--array=a,b", "--array=c", "--text=--list=x", "--on"},
		{"--list", `"a,b"`, "--list", `"a""b"`, "--array", `"a,b"`, "--on=false", "--listen=127.0.0.1:1"},
		{"--list", "-", "--array", "-x", "--text", "--"},
	} {
		want, fs := parse(args)
		repeated := repeatFlags(fs)
		got, _ := parse(repeated)
		if !slices.Equal(got.list, want.list) || !slices.Equal(got.array, want.array) || got.text != want.text ||
			got.on != want.on {
			t.Errorf("%q becomes %q: %v and not %v", args, repeated, got, want)
		}
		if hasFlag(repeated, "listen") {
			t.Errorf("%q has a flag of the server", repeated)
		}
	}
}

func TestCutFlags(t *testing.T) {
	got := cutFlags([]string{"--a=1", "--ab=2", "--a=3"}, "a")
	if !slices.Equal(got, []string{"--ab=2"}) || !hasFlag(got, "ab") || hasFlag(got, "a") {
		t.Errorf("%q", got)
	}
}
