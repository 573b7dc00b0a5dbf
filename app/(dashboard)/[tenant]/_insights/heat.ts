import { durationText } from '@/app/_ui/time-text'
import type { StepFigures } from '@/server/views/insights/steps'
import { percentText } from './period'

/** The figures that a step's colour can show. */
export const HEATS = [
  { value: 'time', label: 'Time' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'failures', label: 'Failures' },
  { value: 'tokens', label: 'Tokens' },
] as const
export type Heat = (typeof HEATS)[number]['value']

/** A step's share of the hottest step, from 0 to 1, and its figure in words short enough for a card. */
export function heatOf(heat: Heat, step: StepFigures | undefined, all: readonly StepFigures[]) {
  if (!step) return { share: 0, text: 'not reached' }
  if (step.visits === 0 && heat !== 'waiting') return { share: 0, text: 'under way' }
  const value = (one: StepFigures) => VALUES[heat](one)
  const most = heat === 'failures' ? 1 : Math.max(...all.map(value), 1)
  return { share: value(step) / most, text: figureText(heat, step) }
}

const VALUES: Record<Heat, (step: StepFigures) => number> = {
  time: ({ p50 }) => p50,
  waiting: ({ wait }) => wait?.p50 ?? 0,
  failures: ({ failed, visits }) => failed / Math.max(1, visits),
  tokens: ({ tokens }) => tokens ?? 0,
}

function figureText(heat: Heat, { p50, p95, visits, failed, tokens, cost, wait }: StepFigures): string {
  if (heat === 'time') return `half ${durationText(p50)}, 95% ${durationText(p95)}`
  if (heat === 'failures') return failed === 0 ? 'never failed' : `${percentText(failed, visits)} of ${visits} failed`
  if (heat === 'waiting') return wait === null ? 'no tasks' : waitText(wait)
  if (tokens === null) return 'no tokens'
  const each = `${Math.round(tokens / visits).toLocaleString('en')} tokens each time`
  return cost === null ? each : `${each}, cost ${(cost / visits).toPrecision(2)}`
}

function waitText({ p50, waiting }: NonNullable<StepFigures['wait']>): string {
  const now = waiting === 0 ? [] : [`${waiting} waiting`]
  if (p50 === null) return now.join()
  return [`half ${durationText(p50)}`, ...now].join(', ')
}
