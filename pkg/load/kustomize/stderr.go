package kustomize

import (
	"os"
	"sync"
)

// silencedRuns counts the runs of the library during which os.Stderr leads nowhere: the library
// prints warnings about old fields there, without the name of the file.
var silencedRuns struct {
	sync.Mutex
	runs   int
	stderr *os.File // what it was before
	nul    *os.File
}

// silenceLibrary has the library print nothing until the returned function is called. The program
// itself writes to streams that it has from the start. A build that is left behind may print.
func silenceLibrary() (end func()) {
	silencedRuns.Lock()
	defer silencedRuns.Unlock()
	if silencedRuns.nul == nil {
		nul, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil { // then it prints
			return func() {}
		}
		silencedRuns.nul = nul
	}
	if silencedRuns.runs++; silencedRuns.runs == 1 {
		silencedRuns.stderr, os.Stderr = os.Stderr, silencedRuns.nul
	}
	return func() {
		silencedRuns.Lock()
		defer silencedRuns.Unlock()
		if silencedRuns.runs--; silencedRuns.runs == 0 {
			os.Stderr = silencedRuns.stderr
		}
	}
}
