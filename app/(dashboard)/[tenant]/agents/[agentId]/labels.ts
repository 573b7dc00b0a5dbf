import type { AgentLimits } from '@/server/definition/agent'
import type { AgentForm } from './agent-form'

// The labels of an agent's form, which comparisons of versions use too.

type Settings = AgentForm['model']['settings']

export const MODEL_NUMBERS: {
  name: keyof Settings & ('temperature' | 'topP' | 'topK' | 'maxOutputTokens' | 'seed')
  label: string
  step: number
}[] = [
  { name: 'temperature', label: 'Temperature', step: 0.1 },
  { name: 'topP', label: 'Top P', step: 0.05 },
  { name: 'topK', label: 'Top K', step: 1 },
  { name: 'maxOutputTokens', label: 'Max tokens per answer', step: 1 },
  { name: 'seed', label: 'Seed', step: 1 },
]

export type FallbackReason = NonNullable<AgentForm['fallbackOn']>[number]

export const FALLBACK_REASONS: { value: FallbackReason; label: string }[] = [
  { value: 'unavailable', label: 'It cannot be reached, or does not answer in time' },
  { value: 'rate-limited', label: 'It is asked too often' },
  { value: 'key', label: 'Its key is refused' },
  { value: 'too-long', label: 'The conversation is too long for it' },
  { value: 'refused', label: 'It refuses to answer' },
]
export const USUAL_REASONS: FallbackReason[] = ['unavailable', 'rate-limited']

export interface LimitField {
  group: Exclude<keyof AgentLimits, 'at'>
  name: 'tokens' | 'cost' | 'rounds' | 'calls'
  label: string
  empty?: string
}

export const DAY_LIMITS: LimitField[] = [
  { group: 'day', name: 'cost', label: 'US dollars a day' },
  { group: 'day', name: 'tokens', label: 'Tokens a day' },
  { group: 'subjectDay', name: 'tokens', label: 'Tokens a day for a person' },
]
export const MESSAGE_LIMITS: LimitField[] = [
  { group: 'turn', name: 'cost', label: 'US dollars for a message' },
  { group: 'turn', name: 'tokens', label: 'Tokens for a message' },
  { group: 'call', name: 'tokens', label: 'Tokens for a call of the model' },
]
export const TOOL_LIMITS: LimitField[] = [
  { group: 'turn', name: 'rounds', label: 'Rounds of tool calls', empty: '10' },
  { group: 'turn', name: 'calls', label: 'Tool calls for a message', empty: '64' },
]
