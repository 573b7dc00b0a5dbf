import type { AuditDetails, AuditThing } from '@/server/definition/audit'
import { SCHEME_LABELS } from '../../inbound-webhooks/schemes'
import { eventInList } from '../webhooks/event-words'

/** A piece of a detail and how to show it. */
export interface Piece {
  as: 'text' | 'code' | 'time' | 'id'
  text: string
}

export interface Detail {
  name: string
  /** The former value, if known. */
  from: Piece[] | null
  to: Piece[]
}

/** Internal ids that mean nothing to users. Downloads and the API have them. */
const UNSAID = new Set(['link', 'invitation', 'newKey'])

/** Details that are ids of named things. */
const IDS = new Set([
  'workflow',
  'agent',
  'tool',
  'from',
  'newRun',
  'newSecret',
  'madeBy',
  'answersFor',
  'workflowIds',
  'agentIds',
])

/** Display names that are clearer than the API's. */
const NAMES: Record<string, string> = {
  by: 'changed by',
  expiresAt: 'expires',
  graceHours: 'hours that the old secret works',
  newRun: 'new run',
  newSecret: 'new kid',
  replaces: 'replaces version',
  scheme: 'signature',
  worksUntil: 'the old one works until',
  workflowIds: 'workflows',
  agentIds: 'agents',
  ownRuns: 'own runs only',
}

/** Screen texts for values that the API names differently; null leaves a value unchanged. */
const VALUES: Record<string, (value: unknown) => string | null> = {
  draft: (value) => (value === true ? 'restored' : null),
  new: (value) => (value === true ? 'new' : 'replaced'),
  scheme: (value) => (value === 'none' ? 'none' : (SCHEME_LABELS[value as keyof typeof SCHEME_LABELS] ?? null)),
  format: (value) => (value === 'slack' ? 'Slack messages' : value === 'standard' ? 'signed JSON' : null),
  workflowIds: (value) => (value === null ? 'all' : null),
  agentIds: (value) => (value === null ? 'all' : null),
}

/** A summary in words: each detail with a name, and its former value if known. */
export function detailsOf(details: AuditDetails, kind: AuditThing): Detail[] {
  return Object.entries(details).flatMap(([key, value]): Detail[] => {
    if (UNSAID.has(key)) return []
    const name = nameOf(key, kind, value)
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return [{ name, from: pieces(key, kind, value.from), to: pieces(key, kind, value.to) }]
    return [{ name, from: null, to: pieces(key, kind, value) }]
  })
}

function nameOf(key: string, kind: AuditThing, value: AuditDetails[string]): string {
  if (key === 'new' && kind === 'vaultSecret') return 'value'
  if (key === 'enabled') return 'status'
  if (key === 'from' && typeof value === 'number') return 'from version'
  return NAMES[key] ?? key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

type Value = string | number | boolean | null | string[]

function pieces(key: string, kind: AuditThing, value: Value): Piece[] {
  const said = VALUES[key]?.(value)
  if (said) return [{ as: 'text', text: said }]
  if (key === 'enabled' && typeof value === 'boolean') return [{ as: 'text', text: statusWord(kind, value) }]
  if (Array.isArray(value))
    return value.length === 0 ? [{ as: 'text', text: 'none' }] : value.map((item) => piece(key, item))
  if (key === 'cron' && typeof value === 'string') return [{ as: 'code', text: value }]
  return [piece(key, value)]
}

/** As on the thing's own screen. */
function statusWord(kind: AuditThing, enabled: boolean): string {
  if (kind === 'webhook') return enabled ? 'enabled' : 'disabled'
  return enabled ? 'active' : 'paused'
}

function piece(key: string, value: string | number | boolean | null): Piece {
  // Not the same as an empty list: an unset limit allows everything.
  if (value === null || value === '') return { as: 'text', text: 'not set' }
  if (typeof value === 'boolean') return { as: 'text', text: value ? 'yes' : 'no' }
  if (typeof value === 'number') return { as: 'text', text: String(value) }
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)) return { as: 'time', text: value }
  if (key === 'events') return { as: 'text', text: eventInList(value) }
  if (IDS.has(key) && value.includes('_')) return { as: 'id', text: value }
  return { as: 'text', text: value }
}
