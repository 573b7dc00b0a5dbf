import type { Approval } from '@/server/definition/approval'
import {
  type Difference,
  otherRows,
  schemaRow,
  textRow,
  type Used,
  usesRow,
  valueRow,
  words,
} from '../../_versioned/differences'
import type { AgentForm } from './agent-form'
import { DAY_LIMITS, FALLBACK_REASONS, MESSAGE_LIMITS, MODEL_NUMBERS, TOOL_LIMITS, USUAL_REASONS } from './labels'

type Model = AgentForm['model']

const KNOWN = [
  ...['name', 'description', 'instructions', 'model', 'fallbacks', 'fallbackOn', 'limits', 'tools'],
  ...['outputSchema', 'supervisor', 'handoffs'],
]

/** The fields of an agent's form that differ. `nameOf` names a tool or an agent by its id. */
export function agentDifferences(before: AgentForm, now: AgentForm, nameOf: (id: string) => string): Difference[] {
  return [
    ...valueRow('Name', before.name, now.name),
    ...textRow('Description', before.description, now.description),
    ...textRow('Instructions', before.instructions, now.instructions),
    ...modelDifferences('', before.model, now.model),
    ...limitDifferences(before, now),
    ...fallbackDifferences(before, now),
    ...usesRow('Tools', toolsOf(before, nameOf), toolsOf(now, nameOf)),
    ...valueRow('Supervisor', before.supervisor, now.supervisor),
    ...usesRow('Can hand requests to', handoffsOf(before, nameOf), handoffsOf(now, nameOf)),
    ...schemaRow('Output schema', 'output', before.outputSchema, now.outputSchema),
    ...otherRows(before, now, KNOWN),
  ]
}

function modelDifferences(prefix: string, before: Model, now: Model): Difference[] {
  const own = 'The provider’s own'
  const value = (label: string, was: unknown, is: unknown, nothing?: string) =>
    valueRow(`${prefix}${label}`, was, is, nothing)
  const known = [...MODEL_NUMBERS.map(({ name }) => name), 'stopSequences']
  return [
    ...value('Provider', before.provider, now.provider),
    ...value('Model', before.modelId, now.modelId),
    ...value('Base URL', before.baseUrl, now.baseUrl),
    ...value('Key', before.apiKey, now.apiKey),
    ...MODEL_NUMBERS.flatMap(({ name, label }) => value(label, before.settings[name], now.settings[name], own)),
    ...value('Stop at', before.settings.stopSequences, now.settings.stopSequences),
    ...value('Price', priceWords(before), priceWords(now)),
    ...otherRows(before.settings, now.settings, known),
  ]
}

function priceWords({ prices }: Model): string {
  if (prices === undefined) return 'Not counted'
  if (prices === 'list') return 'List price'
  return `${prices.input} for input, ${prices.output} for output, in US dollars per million tokens`
}

function limitDifferences(before: AgentForm, now: AgentForm): Difference[] {
  const at = ({ limits = {} }: AgentForm, group: string, name: string) =>
    ((limits as Record<string, unknown>)[group] as Record<string, number> | undefined)?.[name]
  const people = ({ limits = {} }: AgentForm) => {
    if (!limits.at) return 'Fail'
    const { ask, dueIn, expiresIn } = limits.at
    const times = [dueIn && `due in ${dueIn}`, expiresIn && `at most ${expiresIn}`].flatMap((one) => one || [])
    return [`Ask ${ask.join(', ')}`, ...times].join(', ')
  }
  return [
    ...[...DAY_LIMITS, ...MESSAGE_LIMITS, ...TOOL_LIMITS].flatMap(({ group, name, label, empty }) =>
      valueRow(label, at(before, group, name), at(now, group, name), empty ?? 'No limit'),
    ),
    ...valueRow('At a limit', people(before), people(now)),
  ]
}

function fallbackDifferences(before: AgentForm, now: AgentForm): Difference[] {
  const { fallbacks: old = [] } = before
  const { fallbacks = [] } = now
  const named = (model: Model | undefined) => model && `${model.provider}, ${model.modelId}`
  const models = Array.from({ length: Math.max(old.length, fallbacks.length) }).flatMap((_, i) => {
    const [was, is] = [old[i], fallbacks[i]]
    const label = `Fall-back ${i + 1}`
    return was && is ? modelDifferences(`${label}: `, was, is) : valueRow(label, named(was), named(is))
  })
  const reasons = ({ fallbackOn = USUAL_REASONS }: AgentForm) =>
    FALLBACK_REASONS.flatMap(({ value, label }) => (fallbackOn.includes(value) ? [label] : [])).join('; ')
  return [...models, ...valueRow('The next model answers if', reasons(before), reasons(now))]
}

function toolsOf({ tools }: AgentForm, nameOf: (id: string) => string): Used[] {
  return tools.map(({ toolId: id, ...use }) => ({ id, name: nameOf(id), words: useWords(use) }))
}

function handoffsOf({ handoffs }: AgentForm, nameOf: (id: string) => string): Used[] {
  return handoffs.map(({ agentId: id, ...use }) => ({ id, name: nameOf(id), words: useWords(use) }))
}

function useWords({ version, approval }: { version: string | number; approval?: Approval | undefined }): string {
  const which = Number.isInteger(Number(version)) ? `Version ${version}` : `The ${version} version`
  return `${which}, ${approvalWords(approval)}`
}

function approvalWords(approval: Approval | undefined): string {
  if (approval === undefined) return 'without approval'
  if (approval === 'always') return 'always needs approval'
  const { when, ...rest } = approval
  const others = Object.entries(rest).map(([name, value]) => `${name}: ${words(value)}`)
  return [when === undefined ? 'always needs approval' : `needs approval when ${when}`, ...others].join(', ')
}
