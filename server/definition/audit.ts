/** The life cycle of a workflow, an agent or a tool. */
const LIFE = ['created', 'cloned', 'saved', 'restored', 'published', 'archived', 'unarchived'] as const

/** The actions in the audit log, by the kind of thing they affect. */
const BY_THING = {
  workflow: [...LIFE, 'deleted', 'startLinkMade', 'startLinkRevoked', 'backtested'],
  agent: LIFE,
  tool: LIFE,
  testCase: ['created', 'renamed', 'updated', 'deleted'],
  schedule: ['created', 'updated', 'deleted'],
  inboundWebhook: ['created', 'updated', 'rotated', 'deleted'],
  webhook: ['created', 'updated', 'rotated', 'deleted'],
  apiKey: ['created', 'rotated', 'disabled', 'enabled'],
  signingSecret: ['created', 'limited', 'rotated', 'disabled', 'enabled'],
  vaultSecret: ['set', 'bound', 'deleted'],
  member: ['added', 'joined', 'roleChanged', 'removed', 'left'],
  group: ['created', 'updated', 'deleted'],
  invitation: ['created', 'renewed', 'revoked'],
  workspace: ['created', 'renamed', 'corsChanged', 'runsKept', 'auditKept'],
  limits: ['changed'],
  run: [
    ...(['cancelled', 'terminated', 'retried', 'rerun', 'moved'] as const),
    ...(['linkMade', 'linkRevoked', 'linkUsed', 'revealed', 'triedOut'] as const),
  ],
  subject: ['deleted'],
} as const

export type AuditThing = keyof typeof BY_THING
/** An action: the kind of the thing, a dot and a verb, such as `workflow.published`. */
export type AuditAction = { [T in AuditThing]: `${T}.${(typeof BY_THING)[T][number]}` }[AuditThing]

export const AUDIT_THINGS = Object.keys(BY_THING) as [AuditThing, ...AuditThing[]]
export const AUDIT_ACTIONS = AUDIT_THINGS.flatMap((thing) => BY_THING[thing].map((done) => `${thing}.${done}`)) as [
  AuditAction,
  ...AuditAction[],
]

/** A customer's own user is a `token`: their id is the token's `sub`. */
export const AUDIT_ACTORS = ['user', 'apiKey', 'token', 'system'] as const
export type AuditActor = (typeof AUDIT_ACTORS)[number]

type Plain = string | number | boolean | null
type Value = Plain | string[]

/** A short summary of a change, by name; a changed field has both values. Never a secret. */
export type AuditDetails = Record<string, Value | { from: Value; to: Value }>

/** More would make an entry as large as the change it describes. */
const MAX_NAMES = 20
const MAX_ITEMS = 20
const MAX_CHARACTERS = 200

/** Cuts values that are too long for a summary. */
export function boundedDetails(details: AuditDetails): AuditDetails {
  const bounded = Object.entries(details)
    .slice(0, MAX_NAMES)
    .map(([name, value]) => [
      name,
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? { from: boundedValue(value.from), to: boundedValue(value.to) }
        : boundedValue(value),
    ])
  return Object.fromEntries(bounded)
}

function boundedValue(value: Value): Value {
  if (typeof value === 'string') return boundedText(value)
  if (!Array.isArray(value)) return value
  const shown = value.slice(0, MAX_ITEMS).map(boundedText)
  return value.length > MAX_ITEMS ? [...shown, '…'] : shown
}

/** At most 200 characters, none of them cut in half. */
export function boundedText(text: string): string {
  const characters = [...text.slice(0, MAX_CHARACTERS * 2)]
  return text.length <= MAX_CHARACTERS ? text : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}

/**
 * The differences between two states: texts, numbers and lists of texts with both values, anything else as `changed`.
 * @param after may omit unchanged fields
 * @param unsaid fields whose values the log omits; it shows only that they changed
 */
export function differences(before: object, after: object, unsaid: readonly string[] = []): AuditDetails {
  const was = new Map(Object.entries(before))
  const found = Object.entries(after).flatMap(([name, to]): [string, AuditDetails[string]][] => {
    const from = was.get(name)
    if (to === undefined || JSON.stringify(from) === JSON.stringify(to)) return []
    return [[name, !unsaid.includes(name) && isShown(from) && isShown(to) ? { from, to } : 'changed']]
  })
  return Object.fromEntries(found)
}

function isShown(value: unknown): value is Value {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return true
  // An expression or a list of conditions is too long for a summary.
  return typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'))
}
