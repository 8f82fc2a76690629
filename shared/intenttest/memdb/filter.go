package memdb

// scalarKeys refuses a path that leads into a key attribute, of a condition, an update or a projection; each may be nil.
func (t *table) scalarKeys(c condition, u *update, p projection) error {
	var err error
	look := func(p path) {
		if len(p) > 1 && t.isKey(p[0].name) && err == nil {
			err = invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: %s", p[0].name)
		}
	}
	visit(c, look)
	if u != nil {
		for _, a := range u.sets {
			visitSource(a.from, look)
		}
	}
	for _, steps := range p {
		look(steps)
	}
	return err
}

// unfiltered refuses a filter that mentions a key: DynamoDB does.
func (t *table) unfiltered(filter condition) error {
	if filter == nil {
		return nil
	}
	var err error
	visit(filter, func(p path) {
		if t.isKey(p[0].name) && err == nil {
			err = invalid("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", p[0].name)
		}
	})
	return err
}

// visit calls f for each path of a condition.
func visit(c condition, f func(path)) {
	switch c := c.(type) {
	case both:
		visit(c.one, f)
		visit(c.two, f)
	case either:
		visit(c.one, f)
		visit(c.two, f)
	case negation:
		visit(c.of, f)
	case existence:
		f(c.of)
	case comparison:
		visitAll(f, c.one, c.two)
	case between:
		visitAll(f, c.of, c.low, c.high)
	case among:
		visitAll(f, append([]operand{c.of}, c.list...)...)
	case kinship:
		visitAll(f, c.of, c.kind)
	case prefix:
		visitAll(f, c.of, c.start)
	case contains:
		visitAll(f, c.of, c.part)
	}
}

// visitSource calls f for each path of the right side of an assignment.
func visitSource(s source, f func(path)) {
	switch s := s.(type) {
	case copied:
		f(s.of)
	case ifUnset:
		f(s.of)
		visitSource(s.from, f)
	case joined:
		visitSource(s.one, f)
		visitSource(s.two, f)
	case sum:
		visitSource(s.one, f)
		visitSource(s.two, f)
	case changed:
		f(s.of)
		visitSource(s.with, f)
	}
}

func visitAll(f func(path), operands ...operand) {
	for _, o := range operands {
		switch o := o.(type) {
		case path:
			f(o)
		case size:
			visitAll(f, o.of)
		}
	}
}
