package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// joined writes a view for some clusters, and a failure for the last.
func joined(t *testing.T, v View, format Format, clusters ...string) string {
	t.Helper()
	var out bytes.Buffer
	j := NewJoinedWriter(&out)
	for i, cluster := range clusters {
		one := v
		if i == len(clusters)-1 {
			one = view.NewClusterFailure(model.Problem{Severity: model.Error, Code: model.ClusterFailed,
				Message: "down"})
		}
		p, err := NewClusterPart(one, Options{Format: format, Stamp: Stamp{Cluster: cluster, ReadAt: time.Unix(0, 0)}})
		if err == nil {
			err = j.Write(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Every format of an answer has the cluster with everything, and can be read.
func TestJoined(t *testing.T) {
	for _, v := range views() {
		for _, format := range supportedFormats(v) {
			switch Format(format) {
			case Table, Wide, Grouped, Tree, Name:
				text := joined(t, v, Format(format), "alpha", "beta", "gone")
				if strings.Count(text, "alpha") != strings.Count(text, "beta") || strings.Contains(text, "gone") {
					t.Errorf("%T, %s:\n%s", v, format, text)
				}
			case JSON:
				checkJoinedJSON(t, v, joined(t, v, JSON, "alpha", `t"wo`, "gone"))
			case YAML:
				documents := strings.Split(joined(t, v, YAML, "alpha", "beta", "gone"), "---\n")
				if len(documents) != 3 {
					t.Fatalf("%T: %d documents", v, len(documents))
				}
				for i, cluster := range []string{"alpha", "beta", "gone"} {
					var got struct {
						Cluster, Kind string
						Items         []struct{ Cluster string }
					}
					if err := yaml.Unmarshal([]byte(documents[i]), &got); err != nil || got.Cluster != cluster {
						t.Errorf("%T: %v, %+v", v, err, got)
					}
					for _, item := range got.Items {
						if item.Cluster != cluster {
							t.Errorf("%T: an item of cluster %q", v, item.Cluster)
						}
					}
				}
			}
		}
	}
}

func checkJoinedJSON(t *testing.T, v View, text string) {
	t.Helper()
	var got struct {
		Kind     string
		Complete bool
		Items    []struct{ Cluster string }
		Clusters []struct {
			Cluster, ReadAt string
			Items, Problems any
		}
		Problems []struct{ Cluster, Message string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%T: %v\n%s", v, err, text)
	}
	last := got.Problems[len(got.Problems)-1]
	if got.Complete || got.Kind == "ClusterFailure" || len(got.Clusters) != 3 || last.Cluster != "gone" ||
		last.Message != "down" {
		t.Errorf("%T: %+v", v, got)
	}
	for i, cluster := range []string{"alpha", `t"wo`, "gone"} {
		if c := got.Clusters[i]; c.Cluster != cluster || c.ReadAt == "" || c.Items != nil || c.Problems != nil {
			t.Errorf("%T: %+v", v, c)
		}
	}
	count := map[string]int{}
	for _, item := range got.Items {
		count[item.Cluster]++
	}
	if len(got.Items) > 0 && (len(count) != 2 || count["alpha"] != count[`t"wo`]) {
		t.Errorf("%T: items %v", v, count)
	}
}

// A table is held back for so long only as it is short.
func TestJoinedTablesAreWrittenInParts(t *testing.T) {
	var out bytes.Buffer
	j := NewJoinedWriter(&out)
	l := overriddenFixture()
	rows := 0
	for i := 0; rows < 2*joinedRows; i++ {
		p, err := NewClusterPart(l, Options{Format: Table, Stamp: Stamp{Cluster: fmt.Sprint("c", i)}})
		if err != nil {
			t.Fatal(err)
		}
		rows += len(p.table.Blocks[0].Rows)
		if err := j.Write(p); err != nil {
			t.Fatal(err)
		}
		if j.rows > joinedRows+100 {
			t.Fatalf("%d rows are held back", j.rows)
		}
	}
	if out.Len() == 0 {
		t.Error("nothing is written before the end")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "\nc") + 1; got < rows {
		t.Errorf("%d lines of %d rows", got, rows)
	}
}
