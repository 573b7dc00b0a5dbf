import type { DefinitionsBacktest } from '@/server/as-code/backtest'
import type { Verdict } from '@/server/definition/verdict'
import type { Group } from '@/server/definition/verdict-groups'
import { assumptionText, callsText, countsText, verdictText, type Words } from '@/server/definition/verdict-text'
import { type Flags, UsageError } from '../usage'
import { fileOf } from './folder'

// What past runs say of definitions: for people, on a terminal and in a pull request.

/** Files name steps and exits by these, too. */
const WORDS: Words = { step: (stepId) => stepId, exit: (_stepId, exit) => exit }

const WHY_NOT = {
  new: 'none, because it is new.',
  archived: 'not tried, because it would be archived.',
  invalid: 'not tried, because it would be saved, but could not run.',
  time: 'not tried, because the time was over.',
} as const

/** The report on one workflow. */
interface Section {
  workflowId: string
  name: string
  summary: string
  groups: { size: string; says: string; notes: string[]; runs: readonly string[] }[]
}

function sectionsOf({ workflows, untried }: DefinitionsBacktest): Section[] {
  return [
    ...workflows.map(({ workflowId, name, sampled, groups, truncated }): Section => {
      const tried = groups.reduce((sum, { count }) => sum + count, 0)
      const over = truncated ? ` The time was over after ${number(tried)}.` : ''
      const summary =
        sampled.runs === 0
          ? 'none.'
          : `${number(sampled.runs)} of the newest ${number(sampled.of)}.${over} ${countsText(groups)}`
      return { workflowId, name, summary: summary.trim(), groups: groups.filter(isTold).map(groupOf) }
    }),
    ...untried.map(({ workflowId, name, why }) => ({ workflowId, name, summary: WHY_NOT[why], groups: [] })),
  ]
}

/** Whether its runs would differ in any way. */
function isTold({ verdict: { is, calls } }: Group): boolean {
  return is !== 'same' || calls.new.length + calls.gone.length + calls.changed.length > 0
}

function groupOf({ verdict, count, about, assuming, runs }: Group): Section['groups'][number] {
  const assumed = [...new Set(verdict.assumed.map((one) => assumptionText(one, WORDS)))]
  const some = assuming === 1 ? '1 of them assumes something.' : `${number(assuming)} of them assume something.`
  return {
    size: about > count ? `${number(count)} (about ${number(about)} of the newest)` : number(count),
    says: oneLine(verdictText(verdict, WORDS)),
    notes: [...callsText(verdict, WORDS), ...assumed, ...(assuming > 0 && assuming < count ? [some] : [])].map(oneLine),
    runs,
  }
}

const number = (value: number) => value.toLocaleString('en')
/** Values of runs may be in the messages of errors. */
const oneLine = (text: string) => text.replace(/\s+/g, ' ')

/**
 * The lines below each workflow of a diff, by its id.
 * @param runUrl where people see a run; without one, its id is shown
 */
export function pastRunLines(found: DefinitionsBacktest, runUrl: (runId: string) => string): Map<string, string[]> {
  return new Map(
    sectionsOf(found).map(({ workflowId, summary, groups }) => [
      workflowId,
      [
        `  Past runs: ${summary}`,
        ...groups.flatMap(({ size, says, notes, runs }) => [
          `  - ${size}: ${says}`,
          ...[...notes, ...runs.map(runUrl)].map((line) => `      ${line}`),
        ]),
      ],
    ]),
  )
}

/** What past runs say, with the lines for each workflow. */
export interface Tried {
  found: DefinitionsBacktest
  lines: ReadonlyMap<string, string[]>
}

/** @param changes that a report mentions with their lines */
export function pastRunText({ found, lines }: Tried, changes: readonly { kind: string; id: string }[] = []): string[] {
  const told = new Set(changes.filter(({ kind }) => kind === 'workflow').map(({ id }) => id))
  return [...found.workflows, ...found.untried]
    .filter(({ workflowId }) => !told.has(workflowId))
    .flatMap(({ workflowId, name }) => [
      `${fileOf('workflows', workflowId)}  (${name})`,
      ...(lines.get(workflowId) ?? []),
      '',
    ])
}

/** For a comment on a pull request. */
export function pastRunMarkdown(found: DefinitionsBacktest, runUrl: (runId: string) => string): string {
  const link = (runId: string) => (runUrl(runId) === runId ? code(runId) : `[${runId}](${runUrl(runId)})`)
  const sections = sectionsOf(found).map(({ workflowId, name, summary, groups }) =>
    [
      `**${code(name)}** (${code(fileOf('workflows', workflowId))}): ${summary}`,
      ...(groups.length > 0 ? [''] : []),
      ...groups.flatMap(({ size, says, notes, runs }) => [
        `- **${size}**: ${code(says)}`,
        ...notes.map((note) => `  - ${code(note)}`),
        `  - ${runs.map(link).join(', ')}`,
      ]),
    ].join('\n'),
  )
  const none = 'No workflow changes.'
  return `### Past runs\n\n${sections.length > 0 ? sections.join('\n\n') : none}\n`
}

/** As it is: nothing in it is a link, a mention or a heading. */
function code(text: string): string {
  return `\`${text.replaceAll('`', "'")}\``
}

/** How many runs would end so. */
function countOf({ workflows }: DefinitionsBacktest, is: Verdict['is']): number {
  return workflows.reduce((sum, { counts }) => sum + counts[is], 0)
}

const REFUSABLE = ['result', 'way', 'fails', 'passes', 'untold'] as const
type Refusable = (typeof REFUSABLE)[number]
const REFUSES: Record<Refusable, [string, string]> = {
  result: ['past run would have another result', 'past runs would have another result'],
  way: ['past run would go another way', 'past runs would go another way'],
  fails: ['past run would fail that did not', 'past runs would fail that did not'],
  passes: ['past run would get past its failure', 'past runs would get past their failure'],
  untold: ['past run has an open outcome', 'past runs have an open outcome'],
}

/** Why an apply is refused for what past runs say. */
export function refusalsOf(found: DefinitionsBacktest, refuse: readonly Refusable[]): string[] {
  const counted = refuse.flatMap((is) => {
    const many = countOf(found, is)
    return many > 0 ? [`${number(many)} ${REFUSES[is][many === 1 ? 0 : 1]}.`] : []
  })
  const late = found.truncated && refuse.includes('untold') ? ['The time was over before all runs were tried.'] : []
  return [...counted, ...late]
}

/** @throws UsageError */
export function refusedBy({ refuse }: Flags): Refusable[] {
  if (typeof refuse !== 'string') return ['fails']
  return refuse.split(',').map((word) => {
    const found = REFUSABLE.find((one) => one === word.trim())
    if (!found) throw new UsageError(`--refuse must be a list of ${REFUSABLE.join(', ')}.`)
    return found
  })
}

/** The number of runs of each workflow to try; null without `--backtest`. @throws UsageError */
export function runsToTry({ backtest }: Flags): number | null {
  if (typeof backtest !== 'string') return null
  const runs = /^\d{1,4}$/.test(backtest) ? Number(backtest) : 0
  if (runs < 1 || runs > 1_000) throw new UsageError('--backtest must be a number from 1 to 1000.')
  return runs
}
