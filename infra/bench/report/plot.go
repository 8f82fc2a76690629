package report

import (
	"fmt"
	"image/color"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/singleeffect/once/infra/bench/contender"
)

const (
	width  = 11 * vg.Inch
	height = 3.4 * vg.Inch
)

// ours and theirs tell the two apart also where colours are not told apart: one is light.
var (
	ours   = color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}
	theirs = color.RGBA{R: 0xf2, G: 0xa1, B: 0x5a, A: 0xff}
)

// Plot writes an SVG of three panels: processor time, growth and throughput.
func (r Report) Plot(path string) error {
	panels := make([]*plot.Plot, 0, 3)
	for _, panel := range []func() (*plot.Plot, error){r.plotCPU, r.plotGrowth, r.plotWorkers} {
		p, err := panel()
		if err != nil {
			return fmt.Errorf("plot: %w", err)
		}
		panels = append(panels, p)
	}
	canvas := vgsvg.New(width, height)
	all := draw.New(canvas)
	canvas.SetColor(color.White) // GitHub has a dark theme, too
	canvas.Fill(all.Rectangle.Path())
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadTop: 6, PadBottom: 6, PadLeft: 6, PadRight: 12, PadX: 18}
	for i, placed := range plot.Align([][]*plot.Plot{panels}, tiles, all)[0] {
		panels[i].Draw(placed)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if _, err := canvas.WriteTo(file); err != nil {
		file.Close()
		return fmt.Errorf("plot: %w", err)
	}
	return file.Close()
}

func panel(title, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text = title, y
	// Small enough to fit in a wider font, too, where a reader lacks the plot's.
	p.Title.TextStyle.Font.Size, p.X.Tick.Label.Font.Size = vg.Points(10), vg.Points(8)
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.BackgroundColor = color.White
	return p
}

// labels are short: the bars stand close.
var labels = map[string]string{
	contender.Once: "Once", contender.Single: "Claim=put", contender.Naive: "plain Go", contender.Batched: "batched", contender.Powertools: "Powertools",
}

// plotCPU has two bars for each contender.
func (r Report) plotCPU() (*plot.Plot, error) {
	p := panel("CPU a message, batches of ten", "µs")
	const bar = 14
	var names []string
	for _, c := range r.Contenders {
		names = append(names, labels[c.Name])
	}
	for i, scenario := range []string{New, Duplicate} {
		values := make(plotter.Values, len(r.Contenders))
		for j, c := range r.Contenders {
			values[j] = c.Direct[scenario].CPUMicros
		}
		bars, err := plotter.NewBarChart(values, vg.Points(bar))
		if err != nil {
			return nil, err
		}
		bars.Offset = vg.Points(bar * (float64(i) - 0.5))
		bars.Color = ours
		if scenario == Duplicate {
			bars.Color = theirs
		}
		bars.LineStyle.Width = 0
		p.Add(bars)
		p.Legend.Add(scenario, bars)
	}
	p.NominalX(names...)
	return p, nil
}

func (r Report) plotGrowth() (*plot.Plot, error) {
	p := panel("Once: a batch, by records in the table", "p50, ms")
	points := make(plotter.XYs, len(r.Growth))
	for i, s := range r.Growth {
		points[i] = plotter.XY{X: float64(s.Records), Y: s.P50}
		p.Y.Max = max(p.Y.Max, 2*s.P50)
	}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, counts(r.Growth)
	return p, add(p, "", points, ours)
}

// counts are the ticks of an axis: the sizes that were measured.
func counts(sizes []Size) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for _, s := range sizes {
		label := strconv.Itoa(s.Records)
		switch {
		case s.Records%1_000_000 == 0:
			label = strconv.Itoa(s.Records/1_000_000) + " M"
		case s.Records%1000 == 0:
			label = strconv.Itoa(s.Records/1000) + " k"
		}
		ticks = append(ticks, plot.Tick{Value: float64(s.Records), Label: label})
	}
	return ticks
}

func (r Report) plotWorkers() (*plot.Plot, error) {
	p := panel("Throughput on this machine, by workers", "messages a second")
	var once, peer plotter.XYs
	var ticks plot.ConstantTicks
	for _, w := range r.Workers {
		x := float64(w.Workers)
		once, peer = append(once, plotter.XY{X: x, Y: w.Once}), append(peer, plotter.XY{X: x, Y: w.Powertools})
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.Itoa(w.Workers)})
		p.Y.Max = max(p.Y.Max, 1.4*w.Once, 1.4*w.Powertools)
	}
	p.X.Tick.Marker = ticks
	if err := add(p, "Once", once, ours); err != nil {
		return nil, err
	}
	return p, add(p, "Powertools", peer, theirs)
}

func add(p *plot.Plot, name string, points plotter.XYs, c color.Color) error {
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, dots.Color = c, c
	line.Width = vg.Points(1.5)
	dots.Shape = draw.CircleGlyph{}
	p.Add(line, dots)
	if name != "" {
		p.Legend.Add(name, line, dots)
	}
	return nil
}
