// Package duckdb runs the SQL of docs/fleet.md with DuckDB on what the program writes. It is a module of its own, so that its dependencies are not
// those of the program.
package duckdb

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/marcboeker/go-duckdb"
)

const page = "../../docs/fleet.md"

// TestQuestions runs each statement of the page, and holds its result against the one that stands below it. UPDATE_GOLDEN=1 writes the results.
func TestQuestions(t *testing.T) {
	data := answers(t)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(string(text), "```")
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	asked := 0
	for i := 0; i < len(pieces); i++ {
		statement, ok := strings.CutPrefix(pieces[i], "sql\n")
		if !ok {
			continue
		}
		if strings.HasPrefix(statement, "create") {
			if _, err := db.Exec(strings.ReplaceAll(statement, "'*/", "'"+data+"/*/")); err != nil {
				t.Fatalf("%v\n%s", err, statement)
			}
			continue
		}
		got, err := table(db, statement)
		if err != nil {
			t.Errorf("%v\n%s", err, statement)
			continue
		}
		asked++
		want := i + 2
		if want >= len(pieces) || !strings.HasPrefix(pieces[want], "text\n") {
			t.Errorf("no result stands below:\n%s", statement)
			continue
		}
		if os.Getenv("UPDATE_GOLDEN") != "" {
			pieces[want] = "text\n" + got
			continue
		}
		if pieces[want] != "text\n"+got {
			t.Errorf("%s\ngot:\n%s\nthe page has:\n%s", statement, got, strings.TrimPrefix(pieces[want], "text\n"))
		}
	}
	if asked < 4 {
		t.Errorf("the page asks %d questions", asked)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(page, []byte(strings.Join(pieces, "```")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// answers asks the program about the clusters of each day, as the page does.
func answers(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "kubectl-dopolicy")
	build := exec.Command("go", "build", "-tags", "kustomize_disable_go_plugin_support", "-o", program, "./cmd/kubectl-dopolicy")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	days, err := filepath.Glob("testdata/*")
	if err != nil || len(days) == 0 {
		t.Fatalf("no snapshots: %v", err)
	}
	to := t.TempDir()
	for _, day := range days {
		at := filepath.Join(to, filepath.Base(day))
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, question := range []string{"effective", "matrix"} {
			out, err := exec.Command(program, question, "-A", "-o", "ndjson", "--each", "-f", day).Output()
			if err != nil {
				t.Fatalf("%s: %v", question, err)
			}
			if err := os.WriteFile(filepath.Join(at, question+".ndjson"), out, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return to
}

// table is the result of a statement as text, its columns aligned.
func table(db *sql.DB, statement string) (string, error) {
	found, err := db.Query(statement)
	if err != nil {
		return "", err
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		return "", err
	}
	rows := [][]string{names}
	for found.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			return "", err
		}
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = fmt.Sprint(v)
			if at, ok := v.(time.Time); ok {
				row[i] = at.UTC().Format(time.DateTime)
			}
		}
		rows = append(rows, row)
	}
	return aligned(rows), found.Err()
}

func aligned(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if i > 0 {
				line += " | "
			}
			line += fmt.Sprintf("%-*s", widths[i], cell)
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}
