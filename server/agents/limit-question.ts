import { cutText } from '../definition/json'
import type { ShownValue } from '../definition/shown'
import type { Budget } from './budget'
import type { LimitQuestion } from './journal/part-ends'
import { type Asking, limitText } from './limits'

/** The question whether a turn continues at a limit. */
export function questionAt({ limit, at }: Asking, id: string, agent: string, budget: Budget): LimitQuestion {
  const { usage, known } = budget
  const cost = Number(known.toPrecision(6)).toLocaleString('en', { maximumFractionDigits: 6 })
  const show: ShownValue[] = [
    { label: 'Used by this message', value: `${usage.totalTokens.toLocaleString('en')} tokens` },
    ...(known > 0 ? [{ label: 'Its cost so far', value: `US$ ${cost}` }] : []),
  ]
  // Room for the name, which may be long.
  const title = `${cutText(agent, 200)} has reached a limit: ${limitText(limit)}`
  return { id, limit, title, show, at }
}
