package sqsbatch

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/singleeffect/once/shared/intent"
)

// outage reports an error that speaks of the provider or of a table as a whole and not
// of one intent: out of reach, failing, throttling; and how long it asks to be left
// alone, at most maxDelay.
func outage(err error) (asked time.Duration, whole bool) {
	if asked, whole = intent.AskedToWait(err); whole {
		return min(max(asked, 0), maxDelay), true
	}
	var effect *intent.EffectError
	if errors.As(err, &effect) {
		return 0, unavailable(effect.Err)
	}
	return 0, unavailable(err)
}

// unavailable reads the errors of AWS's own services, and of the network.
func unavailable(err error) bool {
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() >= http.StatusInternalServerError {
		return true
	}
	var network net.Error
	return errors.As(err, &network) || retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}

// errHeld is why a message was not run.
var errHeld = errors.New("not tried: what it calls is out of reach, or throttles")

// valve sends one job ahead after a failure that speaks of the whole, and holds the
// others back if that one meets it, too. It is of one invocation.
type valve struct {
	ahead chan struct{} // of who goes ahead

	mu    sync.Mutex
	state valveState
}

type valveState int

const (
	flowing  valveState = iota
	doubtful            // one goes ahead
	shut
)

func (v *valve) is() valveState {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state
}

func (v *valve) set(s valveState) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state = s
}

// through runs a job, or holds it back.
func (v *valve) through(run func() fate) fate {
	if v.is() == doubtful {
		if f, went := v.goAhead(run); went {
			return f
		}
	}
	if v.is() == shut {
		f := judge(intent.Outcome{}, errHeld)
		f.retries = true
		return f
	}
	f := run()
	if f.whole && v.is() == flowing {
		v.set(doubtful)
	}
	return f
}

// goAhead runs a job while all others wait, unless another one went ahead meanwhile.
func (v *valve) goAhead(run func() fate) (f fate, went bool) {
	v.ahead <- struct{}{}
	defer func() { <-v.ahead }()
	if v.is() != doubtful {
		return fate{}, false
	}
	f.whole = true // also where the job ends its goroutine
	defer func() {
		if f.whole {
			v.set(shut)
		} else {
			v.set(flowing)
		}
	}()
	f = run()
	return f, true
}
