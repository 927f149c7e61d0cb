package run

import (
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// Streams are the terminal and the environment of one run.
type Streams struct {
	In        io.Reader
	Out, Err  io.Writer
	OutIsTTY  bool
	ErrIsTTY  bool
	Width     int // columns of the terminal behind Out or Err; 0: unknown, or none
	Margin    int // columns of the terminal that are kept free
	LookupEnv func(string) (string, bool)
	Draw      render.Drawer // of the answer to be written; nil: pictures are not asked for

	// Answer takes the answer in place of Out, where those of several clusters are written as one;
	// nil: it is written to Out.
	Answer func(render.View, render.Options) error
}

// InRunner reports whether a CI runner reads the output: it takes some text as commands.
func (s Streams) InRunner() bool {
	for _, name := range []string{"GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"} {
		if value, _ := s.LookupEnv(name); value != "" {
			return true
		}
	}
	return false
}

// WriteView writes an answer, or hands it to where those of several clusters are written as one.
func (s Streams) WriteView(v render.View, o render.Options) error {
	if s.Answer != nil {
		return s.Answer(v, o)
	}
	return render.Write(s.Out, v, o)
}

// IsUTF8Locale reports whether the locale uses UTF-8; without any locale it is assumed.
func IsUTF8Locale(s Streams) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, ok := s.LookupEnv(name); ok && v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") || v != "c" && v != "posix"
		}
	}
	return true
}

// Terminal are the streams of the process.
func Terminal() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, OutIsTTY: isTTY(os.Stdout), ErrIsTTY: isTTY(os.Stderr),
		LookupEnv: os.LookupEnv}
	for _, out := range []*os.File{os.Stderr, os.Stdout} {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			s.Width = width
		}
	}
	return s
}

// TerminalWidth is how wide text may be that goes to a stream: as wide as the terminal, or as
// COLUMNS says; 0, any, where the stream is no terminal.
func (s Streams) TerminalWidth(tty bool) int {
	if !tty {
		return 0
	}
	if text, ok := s.LookupEnv("COLUMNS"); ok {
		if width, err := strconv.Atoi(text); err == nil && width > 0 {
			return max(width-s.Margin, 1)
		}
	}
	if s.Width == 0 {
		return 0
	}
	return max(s.Width-s.Margin, 1)
}

func isTTY(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
