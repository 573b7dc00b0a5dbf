import { clockTime } from '@/app/_ui/time-text'
import type { RunItem } from '@/server/views/runs/items'

/** A run in a list to choose from: its key, its state and when it began. */
export function runLabel({ businessKey, runId, state, startTime }: RunItem, zone: string): string {
  return [businessKey ?? runId, state, clockTime(new Date(startTime), zone, Date.now())].join(', ')
}
