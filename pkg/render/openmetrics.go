package render

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// metricView is a view that can be counted.
type metricView interface{ Metrics() []metric.Family }

// clusterLabel names one of several clusters.
const clusterLabel = "cluster"

// gatherMetrics returns the metrics of a view with those about the program and the cluster. The
// labels are bounded. Without a view the cluster did not answer.
func gatherMetrics(v metricView, o Options) []metric.Family {
	answered := metric.NewGauge("cluster_answered", "Whether the cluster could be read (1) or could not (0).", 0)
	if v == nil {
		return []metric.Family{answered}
	}
	answered.Series[0].Value = 1
	info := metric.NewCounter("build_info", "The version of the program that counted.", "version")
	info.Add(1, escapeLabel(o.Version))
	all := []metric.Family{answered, info.Family()}
	if at := o.Stamp.ReadAt; !at.IsZero() {
		all = append(all, metric.NewGauge("read_timestamp_seconds", "When the cluster was read, as Unix time.",
			int(at.Unix())).WithUnit("seconds"))
	}
	return metric.Bound(metric.Join(v.Metrics(), all))
}

// writeOpenMetrics writes families in the text format of OpenMetrics 1.0. All are gauges, so that
// what reads the text format of Prometheus only reads them as well.
func writeOpenMetrics(w *bufio.Writer, families []metric.Family) error {
	for _, f := range families {
		if len(f.Series) == 0 {
			continue
		}
		fmt.Fprintf(w, "# TYPE %s gauge\n", f.Name)
		if f.Unit != "" {
			fmt.Fprintf(w, "# UNIT %s %s\n", f.Name, f.Unit)
		}
		fmt.Fprintf(w, "# HELP %s %s\n", f.Name, metricEscaper.Replace(f.Help))
		for _, s := range f.Series {
			fmt.Fprintf(w, "%s%s %d\n", f.Name, formatLabels(f.Labels, s.Values), s.Value)
		}
	}
	_, err := w.WriteString("# EOF\n")
	return err
}

// escapeLabel makes a text safe to show as the value of a label.
func escapeLabel(text string) string {
	return string(escape.EscapeBracket([]byte(escape.Escape(text)), `\x5b`))
}

// metricEscaper escapes texts and the values of labels.
var metricEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// formatLabels writes labels with their values. An empty value is the same as no label.
func formatLabels(names, values []string) string {
	var out []string
	for i, name := range names {
		if values[i] != "" {
			out = append(out, name+`="`+metricEscaper.Replace(values[i])+`"`)
		}
	}
	if out == nil {
		return ""
	}
	return "{" + strings.Join(out, ",") + "}"
}
