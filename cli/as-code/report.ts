import type { ErrorDetail } from '@/server/errors'
import { styles } from '../print'
import { Report } from '../report'
import { fileOf } from './folder'
import { unifiedDiff } from './line-diff'
import { pastRunText, refusalsOf, type Tried } from './past-runs'
import type { Applied, Diff } from './workspace'
import { toYaml } from './yaml'

const file = (kind: unknown, id: unknown) => fileOf(`${String(kind)}s`, String(id))

/** The file, the place in it, and the problem. */
export function refusalLine({ kind, id, at, stepId, field, path, message }: ErrorDetail): string {
  if (kind === undefined) return path ? `${path}: ${message}` : message
  const places = [at, stepId && `step ${String(stepId)}`, field].filter((place) => place !== undefined)
  return [file(kind, id), ...(places.length > 0 ? [places.join(', ')] : []), message].join(': ')
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}

const headline = ({ kind, id, name, actions, version }: Applied['changes'][number]) =>
  `${file(kind, id)}  ${actions.join(', ')}  (${[name, ...(version === null ? [] : [`version ${version}`])].join(', ')})`

function warningLines(warnings: Applied['warnings']): string[] {
  return warnings.map((warning) => `warning: ${refusalLine(warning)}`)
}

export function reportApplied(answer: Applied, tried?: Tried): Report {
  const { changes, unchanged, warnings } = answer
  const told = tried ? pastRunText(tried) : []
  const lines = [...told, ...changes.map(headline), ...warningLines(warnings)]
  const end = changes.length === 0 ? 'Nothing to do' : `${count(changes.length, 'definition')} changed`
  return new Report(
    [...lines, `${end}; ${count(unchanged, 'definition')} unchanged.`].join('\n'),
    withRuns(answer, tried),
  )
}

/** Nothing was applied, for the verdicts on past runs. */
export function reportRefused(tried: Tried, refusals: readonly string[]): Report {
  const text = [...pastRunText(tried), ...refusals, 'Nothing was applied.']
  return new Report(text.join('\n'), { refused: refusals, backtest: tried.found }, 3)
}

const withRuns = (answer: object, tried?: Tried) => (tried ? { ...answer, backtest: tried.found } : answer)

export function reportDiff(answer: Diff, tried?: Tried): Report {
  const { changes, unchanged, drift, problems, warnings } = answer
  const { bold, red, green, dim } = styles(process.stdout)
  const colour = (line: string) =>
    line.startsWith('+') ? green(line) : line.startsWith('-') ? red(line) : line.startsWith('@@') ? dim(line) : line
  const lines = changes.flatMap((change) => {
    const { before, after } = change
    const yaml = (value: typeof before) => (value ? toYaml(value) : '')
    const changed = before === undefined ? [] : unifiedDiff(yaml(before), yaml(after))
    const own = change.kind === 'workflow' ? (tried?.lines.get(change.id) ?? []) : []
    return [bold(headline(change)), ...changed.map(colour), ...own, '']
  })
  // Drafts that would be published with other versions of their tools.
  const others = tried ? pastRunText(tried, changes) : []
  const refused = [
    ...drift.map((one) => `refused: ${refusalLine(one)}`),
    ...problems.map((one) => `problem: ${refusalLine(one)}`),
  ]
  const end = `${count(changes.length, 'definition')} would change; ${count(unchanged, 'definition')} unchanged.`
  const verdict =
    refused.length > 0
      ? [`Apply would be refused${drift.length > 0 ? '; --force overwrites what was changed' : ''}.`]
      : []
  const fails = tried ? refusalsOf(tried.found, ['fails']) : []
  const code = refused.length > 0 ? 1 : fails.length > 0 ? 3 : changes.length > 0 ? 2 : 0
  const text = [...lines, ...others, ...warningLines(warnings), ...refused, end, ...fails, ...verdict]
  return new Report(text.join('\n'), withRuns(answer, tried), code)
}
