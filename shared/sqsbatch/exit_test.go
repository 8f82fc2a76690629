package sqsbatch

// SetExit puts another end in the place of the process's.
func (b *Batch) SetExit(exit func(code int)) { b.exit = exit }
