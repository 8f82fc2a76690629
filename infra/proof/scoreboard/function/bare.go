package function

import (
	"os/exec"

	"github.com/singleeffect/once/shared/intenttest"
)

func launch(cmd *exec.Cmd, bare bool) (command, error) {
	if bare {
		return startUntethered(cmd)
	}
	tethered, err := intenttest.Tether(cmd, "")
	if err != nil {
		return nil, err // not a command that is nil
	}
	return tethered, nil
}

// untethered is a command that nothing holds.
type untethered struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

func startUntethered(cmd *exec.Cmd) (command, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	u := &untethered{cmd: cmd, done: make(chan struct{})}
	go func() {
		u.err = cmd.Wait()
		close(u.done)
	}()
	return u, nil
}

func (u *untethered) Done() <-chan struct{} { return u.done }

func (u *untethered) Err() error { return u.err }

func (u *untethered) Stop() {
	u.cmd.Process.Kill() // fails only if it is gone already
	<-u.done
}
