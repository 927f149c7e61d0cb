package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// The front end, as the folder web builds it. They end neither a script nor a style element; a test
// sees to it.
var (
	//go:embed page/app.js
	script string
	//go:embed page/app.css
	style string
)

// HTML writes a report as one HTML page that needs nothing else. What the input says is text
// wherever it stands: in the packed document, in the title, and in the picture, of which only what
// draws is kept. The page's own policy lets nothing run but the embedded front end, and lets
// nothing be loaded.
func HTML(w io.Writer, r *Packed, picture Picture) error {
	out := bufio.NewWriterSize(w, 1<<16)
	styles := []string{style, pictureStyle()}
	p := pageWriter{out}
	p.writeMarkup(
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"")
	p.writeText(securityPolicy([]string{script}, styles))
	p.writeMarkup(
		"\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n" +
			"<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"")
	p.writeText("kubectl-dopolicy " + r.Version)
	p.writeMarkup("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>")
	p.writeText(r.Title)
	p.writeMarkup("</title>\n")
	for _, s := range styles {
		p.writeMarkup("<style>" + s + "</style>\n")
	}
	p.writeMarkup("</head>\n<body>\n<noscript><p>" + needsScript +
		"</p></noscript>\n<div id=\"app\"></div>\n<div id=\"picture\">")
	if picture.Missing != "" {
		p.writeMarkup("<p>")
		p.writeText(picture.Missing)
		p.writeMarkup("</p>")
	}
	p.writeMarkup(string(picture.svg))
	p.writeMarkup("</div>\n")
	text, err := r.packText()
	if err != nil {
		return err
	}
	if err := p.writeData(text, maxPlainBytes); err != nil {
		return err
	}
	p.writeMarkup("<script>" + script + "</script>\n</body>\n</html>\n")
	return out.Flush()
}

const needsScript = "This report is shown by the script that is part of it. Allow scripts for this file, or read the report as JSON: kubectl dopolicy report -o json."

// pageWriter writes markup. What is not a constant of this package, or was written by
// render.CleanSVG, goes through writeText.
type pageWriter struct{ w *bufio.Writer }

// writeMarkup writes what is markup already. Errors are those of Flush.
func (p pageWriter) writeMarkup(s string) { _, _ = p.w.WriteString(s) }

// writeText writes a text, in an element or a quoted attribute.
func (p pageWriter) writeText(s string) { p.writeMarkup(escape.EscapeMarkup(s)) }

// maxPlainBytes is how large a packed document may be that stands in the page as it is: it opens
// sooner, and people and programs can read it. A larger one is compressed to about a fifth, so that
// the page can still be mailed.
const maxPlainBytes = 12 << 20

// writeData writes the packed document. The element tells in data-encoding how, if not as it is:
// "gzip" is that, in base 64.
func (p pageWriter) writeData(text []byte, plain int) error {
	if len(text) <= plain {
		p.writeMarkup("<script type=\"application/json\" id=\"data\">")
		_, _ = p.w.Write(text)
		p.writeMarkup("</script>\n")
		return nil
	}
	p.writeMarkup("<script type=\"text/plain\" id=\"data\" data-encoding=\"gzip\">")
	encoded := base64.NewEncoder(base64.StdEncoding, p.w)
	z := gzip.NewWriter(encoded)
	_, err := z.Write(text)
	if err := errors.Join(err, z.Close(), encoded.Close()); err != nil {
		return err
	}
	p.writeMarkup("</script>\n")
	return nil
}

// securityPolicy lets the given scripts and styles be, and forbids all else.
func securityPolicy(scripts, styles []string) string {
	return "default-src 'none'; script-src" + formatHashes(scripts) + "; style-src" + formatHashes(styles) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

func formatHashes(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		b.WriteString(" 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	}
	return b.String()
}
