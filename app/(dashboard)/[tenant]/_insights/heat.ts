import { durationText } from '@/app/_ui/time-text'
import type { StepFigures } from '@/server/views/insights/steps'
import { percentText } from './period'

/** What the colour of a step can show. */
export const HEATS = [
  { value: 'time', label: 'Time' },
  { value: 'failures', label: 'Failures' },
  { value: 'tokens', label: 'Tokens' },
] as const
export type Heat = (typeof HEATS)[number]['value']

/** A step's share of the hottest one, from 0 to 1, and its figure in words. */
export function heatOf(heat: Heat, step: StepFigures | undefined, all: readonly StepFigures[]) {
  if (!step) return { share: 0, text: 'not reached' }
  const value = (one: StepFigures) =>
    heat === 'time' ? one.p50 : heat === 'failures' ? one.failed / Math.max(1, one.visits) : (one.tokens ?? 0)
  const most = heat === 'failures' ? 1 : Math.max(...all.map(value), 1)
  return { share: value(step) / most, text: textOf(heat, step) }
}

function textOf(heat: Heat, { p50, p95, visits, failed, tokens, cost }: StepFigures): string {
  if (heat === 'time') return `half within ${durationText(p50)}, 95 % ${durationText(p95)}`
  if (heat === 'failures') return failed === 0 ? 'never failed' : `${percentText(failed, visits)} of ${visits} failed`
  if (tokens === null) return 'no tokens'
  const each = `${Math.round(tokens / visits).toLocaleString('en')} tokens each time`
  return cost === null ? each : `${each}, cost ${(cost / visits).toPrecision(2)}`
}
