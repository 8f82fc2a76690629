package template

import (
	"regexp"
	"strconv"
	"time"
)

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

// Pace says how many invocations a new version gets, and for how long before it gets all.
type Pace struct {
	// Percent is the version's share at first: 1 to 99, or 100 where it gets all at once.
	Percent int
	// Every is how long that lasts, and each further step of a linear deployment, which adds as much again.
	Every  time.Duration
	Linear bool
}

// CodeDeploy's own paces, as SAM names them (AWS SAM developer guide, "Deploying serverless applications gradually").
var (
	canaryPace = regexp.MustCompile(`^Canary([1-9][0-9]?)Percent([1-9][0-9]*)Minutes?$`)
	linearPace = regexp.MustCompile(`^Linear([1-9][0-9]?)PercentEvery([1-9][0-9]*)Minutes?$`)
)

// Pace returns what the type's name says; false if it is none of CodeDeploy's own.
func (d Deployment) Pace() (Pace, bool) {
	if d.Type == "AllAtOnce" {
		return Pace{Percent: 100}, true
	}
	linear := linearPace.FindStringSubmatch(d.Type)
	parts := linear
	if parts == nil {
		if parts = canaryPace.FindStringSubmatch(d.Type); parts == nil {
			return Pace{}, false
		}
	}
	percent, _ := strconv.Atoi(parts[1])
	minutes, err := strconv.Atoi(parts[2])
	return Pace{Percent: percent, Every: time.Duration(minutes) * time.Minute, Linear: linear != nil}, err == nil
}

// Length is how long some invocations still go to the old version.
func (p Pace) Length() time.Duration {
	if !p.Linear {
		return p.Every
	}
	return p.Every * time.Duration((100-1)/p.Percent)
}

// Weight is the new version's share of the invocations, 0 to 1, so long after the deployment began.
func (p Pace) Weight(after time.Duration) float64 {
	switch {
	case after >= p.Length():
		return 1
	case p.Linear:
		return float64(p.Percent) / 100 * float64(1+after/p.Every)
	default:
		return float64(p.Percent) / 100
	}
}
