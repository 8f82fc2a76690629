package template

// Deployment is how a new version takes over from the one before: a part of the messages first, and back again if an alarm rings.
type Deployment struct {
	// Type is the name of the pace, such as Canary10Percent5Minutes.
	Type string
	// Alarms are the logical ids of the alarms that turn it back.
	Alarms []string
}

// deployment reads a DeploymentPreference; nil where it is not enabled.
func deployment(p *properties, alias string, ids ids) *Deployment {
	enabled := p.flag("Enabled", true)
	d := &Deployment{Type: p.required("Type")}
	for _, name := range p.texts("Alarms") {
		alarm := ids.alarms[name]
		if alarm == "" {
			p.fail("Alarms", p.line, "%q is none of the template's alarms", name)
		}
		d.Alarms = append(d.Alarms, alarm)
	}
	if !enabled {
		return nil
	}
	if alias == "" {
		p.fail("Enabled", p.line, "is true without an AutoPublishAlias: there is nothing that could be shifted")
	}
	return d
}
