// Package begin keeps garbage from being collected while the libraries of the program prepare themselves. Go initialises packages in the order
// of their paths as far as imports allow, so that this one, which needs little, comes before most of them. What they make is in use as long as the
// program runs; collecting it takes a tenth of the time of a short command. Collecting begins with pkg/cli.
package begin

import (
	"os"
	"runtime/debug"
)

func init() {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(-1)
	}
}
