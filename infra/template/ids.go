package template

// ids are the logical ids of resources by what others call them.
type ids struct {
	queueARNs  map[string]string // in events and redrive policies
	queueNames map[string]string // in the dimensions of alarms; nil where there are no alarms
	alarms     map[string]string // in deployment preferences, by name
}

func (e *evaluator) ids(resources []*resource) (ids, error) {
	var all ids
	var err error
	if all.queueARNs, err = e.callings(resources, queueType, "Arn"); err != nil {
		return ids{}, err
	}
	if all.alarms, err = e.callings(resources, alarmType, ""); err != nil {
		return ids{}, err
	}
	if len(all.alarms) > 0 {
		all.queueNames, err = e.callings(resources, queueType, "QueueName")
	}
	return all, err
}

// callings returns the logical id of each resource of one type by what an attribute of it is here; an empty one is what a Ref gives.
func (e *evaluator) callings(resources []*resource, kind, attribute string) (map[string]string, error) {
	callings := map[string]string{}
	for _, r := range resources {
		if r.kind != kind {
			continue
		}
		calling, err := e.reference(r.path(), r.line, r.logicalID, attribute)
		if other, taken := callings[calling]; taken && err == nil {
			err = fault(r.path(), r.line, "Options.Resolve gives %s the %s of %s: %s", r.logicalID, attribute, other, calling)
		}
		if e.options.Lenient && e.noteErr(r.logicalID, r.kind, err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		callings[calling] = r.logicalID
	}
	return callings, nil
}
