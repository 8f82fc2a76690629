package calls

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

const module = "github.com/singleeffect/once/"

// caller tells whether the call that is under way is the function's own, and the line of it. Frames are read from the call outwards, past
// the SDK, if it is one of a client, and past what stands in for a service. The call is the function's if it comes from code that is
// deployed: not from a test, nor from a test's use of the record store, nor from a hook of a test inside another call.
func caller(client bool) (site string, ours bool) {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	return decide(client, frames.Next)
}

func decide(client bool, next func() (runtime.Frame, bool)) (site string, ours bool) {
	inside, outside, tested := client, false, false
	for more := true; more; {
		var f runtime.Frame
		f, more = next()
		sdks := strings.HasPrefix(f.Function, "github.com/aws/")
		switch {
		case inside && !(sdks && strings.Contains(f.Function, ".(*Client).")): // among them the function's own middleware
		case inside:
			inside = false
		case sdks || strings.HasPrefix(f.Function, module+"shared/intenttest"):
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
	}
	// What the store does on a goroutine of its own was asked for by a handler; a test calls it on its own goroutine.
	return site, outside && !tested
}

// at keeps the first line that there is.
func at(site string, f runtime.Frame) string {
	if site != "" {
		return site
	}
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(f.File)), path.Base(f.File), f.Line)
}
