package kustomize

import (
	"os"
	"sync"
)

// quiet counts the runs of the library during which os.Stderr leads nowhere: the library prints
// there what it thinks of old fields, without the name of the file.
var quiet struct {
	sync.Mutex
	runs   int
	stderr *os.File // what it was before
	nul    *os.File
}

// silenceLibrary has the library print nothing until the returned function is called. The program
// itself writes to streams that it has from the start. A build that is left behind may print.
func silenceLibrary() (end func()) {
	quiet.Lock()
	defer quiet.Unlock()
	if quiet.nul == nil {
		nul, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil { // then it prints
			return func() {}
		}
		quiet.nul = nul
	}
	if quiet.runs++; quiet.runs == 1 {
		quiet.stderr, os.Stderr = os.Stderr, quiet.nul
	}
	return func() {
		quiet.Lock()
		defer quiet.Unlock()
		if quiet.runs--; quiet.runs == 0 {
			os.Stderr = quiet.stderr
		}
	}
}
