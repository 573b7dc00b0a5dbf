import { z } from 'zod'
import { parseDuration } from './duration'
import { ASSIGNEE, namedPeople, sameAssignee, votesNeeded } from './people'

// The settings that say who is asked and how long they have: of steps, and of the tools of agents.

export const MAX_ASSIGNEES = 50
const MAX_VOTES = 100
export const WANTED =
  'must be user:<email, subject or id>, group:<name> or role:<role>, such as user:ada@example.com, group:Finance or role:admin'
const isTemplate = (text: string) => text.includes('${')

/** The people who may answer, or a template that resolves to the list. */
export const Assignees = z
  .union([
    z
      .array(z.string().refine((text) => isTemplate(text) || ASSIGNEE.test(text), WANTED))
      .min(1, 'needs at least one person, group or role')
      .max(MAX_ASSIGNEES),
    z.string().max(500).refine(isTemplate, 'must be a list, such as ["role:admin"]'),
  ])
  .optional()
  .describe(
    'Who may answer: `user:` with an address, a token’s `sub` or an id, `group:` with the name of a group, or `role:` for that role and higher ones. Anybody by default.',
  )
export type Assignees = z.infer<typeof Assignees>

/** How many votes each action needs. */
export const Needs = z.record(z.string().min(1).max(100), z.number().int().min(1).max(MAX_VOTES)).optional()
export type Needs = z.infer<typeof Needs>

/** An ISO 8601 duration, or a template that resolves to one. */
export const DurationText = z
  .string()
  .max(200)
  .refine(
    (text) => isTemplate(text) || parseDuration(text) !== null,
    'must be an ISO 8601 duration of at most ten years, such as PT30M, PT2H or P7D',
  )

export const DueIn = DurationText.optional().describe(
  'When it should be answered, as an ISO 8601 duration such as `P1D`. For people; nothing happens then.',
)

/** How long people have; without it, the question waits indefinitely. */
export const ExpiresIn = DurationText.optional()

/** Problems of an assignment that no run data can fix. */
export function assigneeProblems(assignees: Assignees, field = 'assignees'): { field: string; message: string }[] {
  const names = Array.isArray(assignees) ? assignees.map(sameAssignee) : []
  const twice = names.find((name, at) => names.indexOf(name) < at)
  return twice === undefined ? [] : [{ field, message: `names ${twice} twice` }]
}

/** Why votes could never decide; null if they can. */
export function undecidable(needs: Needs, assignees: unknown): string | null {
  const people = namedPeople(assignees)
  const short = people === null ? undefined : Object.entries(needs ?? {}).find(([, votes]) => votes > people)
  if (!short) return null
  return `asks for ${short[1]} votes for ${short[0]}, but only ${people === 1 ? 'one person' : `${people} people`} may vote`
}

/** Problems with the votes that a decision needs. */
export function voteProblems(config: {
  needs?: Needs
  assignees?: Assignees
  actions: readonly { id: string }[]
  expiresIn?: string | undefined
}): { field: string; message: string }[] {
  const { needs, assignees, actions, expiresIn } = config
  if (needs === undefined) return []
  const unknown = Object.keys(needs).filter((id) => !actions.some((action) => action.id === id))
  const at = (message: string) => ({ field: 'needs', message })
  if (unknown.length > 0) return unknown.map((id) => at(`names the action ${id}, which the step does not have`))
  const impossible = undecidable(needs, assignees)
  if (impossible) return [at(impossible)]
  const people = namedPeople(assignees)
  // The largest number of votes without a decision: each action is one short.
  const split = actions.reduce((votes, { id }) => votes + votesNeeded(needs, id) - 1, 0)
  if (people === null || people > split || expiresIn !== undefined) return []
  return [
    at(
      `can be split so that nothing is ever decided: ${people} people have one vote each. Ask for fewer votes, assign more people, or set expiresIn`,
    ),
  ]
}
