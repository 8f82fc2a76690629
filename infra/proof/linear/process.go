package linear

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/singleeffect/once/shared/intenttest"
)

// process is a worker, from its start to its end.
type process struct {
	number   int
	cmd      *exec.Cmd
	tethered *intenttest.Tethered
}

// start starts this program again, as a worker.
func start(number int, s settings) (*process, error) {
	s.Seed += uint64(number)
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{number: number, cmd: exec.Command(program)}
	p.cmd.Env = append(os.Environ(), variable+"="+string(text))
	p.cmd.Stdout, p.cmd.Stderr = os.Stderr, os.Stderr
	if p.tethered, err = intenttest.Tether(p.cmd, ""); err != nil {
		return nil, fmt.Errorf("start worker %d: %w", number, err)
	}
	return p, nil
}

// kill ends the process where it stands.
func (p *process) kill() { _ = p.cmd.Process.Signal(syscall.SIGKILL) } // who is gone already is gone
