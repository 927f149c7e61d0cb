package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const docs, demo = "../../docs", "../../testdata/demo"

func TestPicturesAreUpToDate(t *testing.T) {
	if err := run(docs, demo, true); err != nil {
		t.Error(err)
	}
}

// The pictures are XML, and each is shown.
func TestPicturesAreShown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docs, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures {
		if !strings.Contains(string(text), "(pictures/"+p.name+".svg)") {
			t.Errorf("%s does not show %s.svg", page, p.name)
		}
		picture, err := os.Open(filepath.Join(docs, "pictures", p.name+".svg"))
		if err != nil {
			t.Error(err)
			continue
		}
		d := xml.NewDecoder(picture)
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", p.name, err)
		}
		_ = picture.Close()
	}
}

func TestPageWithoutPlace(t *testing.T) {
	if _, err := replaced("# Graph\n", "flowchart LR\n"); err == nil {
		t.Error("a page without a place for it takes the text")
	}
}
