package calls

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

const module = "github.com/singleeffect/once/"

// caller tells whether the call that is under way is the function's own, and the line of it. Frames are read from the call outwards, past
// the SDK and what stands in for a service. The call is the function's if it comes from code that is deployed: not from a test, nor from
// a test's use of the record store, nor from a hook of a test inside another call.
func caller() (site string, ours bool) {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	return decide(func() (runtime.Frame, bool) { return frames.Next() })
}

func decide(next func() (runtime.Frame, bool)) (site string, ours bool) {
	outside, tested := false, false
	for {
		f, more := next()
		switch {
		case strings.HasPrefix(f.Function, "github.com/aws/") || strings.HasPrefix(f.Function, module+"shared/intenttest"):
			if outside {
				return site, false
			}
		case strings.HasSuffix(f.File, "_test.go"):
			outside, tested = true, true
			site = at(site, f)
		case strings.HasPrefix(f.Function, module):
			outside = true
			site = at(site, f)
			if !strings.HasPrefix(f.Function, module+"shared/dynamo.") || strings.HasPrefix(f.Function, module+"shared/dynamo.(*Ledger") {
				return site, true
			}
		}
		if !more {
			// What the store does on a goroutine of its own was asked for by a handler; a test calls it on its own goroutine.
			return site, outside && !tested
		}
	}
}

// at keeps the first line that there is.
func at(site string, f runtime.Frame) string {
	if site != "" {
		return site
	}
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(f.File)), path.Base(f.File), f.Line)
}
