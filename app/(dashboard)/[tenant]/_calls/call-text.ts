import { Bot, Wrench } from 'lucide-react'
import type { Tried } from '@/server/definition/agent'
import type { CallDetail, CallRow } from '@/server/views/runs/calls'

export const CALL_ICONS = { model: Bot, tool: Wrench }

export function tokensText({ input, output }: { input: number; output: number }): string {
  return `${input.toLocaleString('en')} in, ${output.toLocaleString('en')} out`
}

export function costText(cost: number): string {
  return cost.toLocaleString('en', { maximumFractionDigits: 6 })
}

/** Its tokens and its cost; empty for a tool. */
export function callFigures({ tokens, cost }: Pick<CallRow, 'tokens' | 'cost'>): string {
  return [...(tokens ? [tokensText(tokens)] : []), ...(cost === null ? [] : [`cost ${costText(cost)}`])].join(', ')
}

export function hasFailed(call: CallDetail): boolean {
  return call.kind === 'model' ? call.errorCode !== null : !call.result.ok
}

const WHY: Record<Tried['why'], string> = {
  unavailable: 'no answer',
  'rate-limited': 'asked too often',
  key: 'its key was refused',
  'too-long': 'too long for it',
  refused: 'refused to answer',
  'no-key': 'no key',
}

/** A model that gave no answer, and why. */
export function triedText({ modelId, why }: Tried): string {
  return `${modelId} (${WHY[why]})`
}
