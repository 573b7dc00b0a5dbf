import { MEASURES, type MeasureName, measured } from '../telemetry/measures'

/** A figure that is read on demand. */
export interface Figure {
  name: string
  kind: 'counter' | 'gauge'
  help: string
  values: readonly { labels?: Readonly<Record<string, string>>; value: number }[]
}

/**
 * The text format of Prometheus, version 0.0.4. Our own: prom-client holds its metrics in a module, and Next loads two
 * copies of it; the figures that are read on demand would need a second way.
 */
export function metricsText(figures: readonly Figure[]): string {
  const counted = (Object.keys(MEASURES) as MeasureName[]).map(measureText)
  return [...figures.map(figureText), ...counted].join('')
}

function figureText({ name, kind, help, values }: Figure): string {
  return head(name, kind, help) + values.map(({ labels = {}, value }) => line(name, labels, value)).join('')
}

function measureText(name: MeasureName): string {
  const measure = MEASURES[name]
  const bounds = 'buckets' in measure ? measure.buckets : []
  const lines: string[] = []
  for (const { labels, value, counts } of measured(name)) {
    if (!counts) {
      lines.push(line(name, labels, value))
      continue
    }
    let sum = 0
    for (const [at, own] of counts.entries()) {
      sum += own
      lines.push(line(`${name}_bucket`, { ...labels, le: at < bounds.length ? String(bounds[at]) : '+Inf' }, sum))
    }
    lines.push(line(`${name}_sum`, labels, value), line(`${name}_count`, labels, sum))
  }
  return head(name, measure.kind, measure.help) + lines.join('')
}

function head(name: string, kind: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const shown = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/[\\"\n]/g, escaped)}"`)
  return `${name}${shown.length > 0 ? `{${shown.join(',')}}` : ''} ${Number.isFinite(value) ? value : 'NaN'}\n`
}

function escaped(char: string): string {
  return char === '\n' ? '\\n' : `\\${char}`
}
