import { beginsBranch, exitOf, exitsOf, FAILURE_EXITS, fallsToNext } from '../../definition/exits'
import { edgesBySource } from '../../definition/paths'
import type { Region } from '../../definition/regions'
import type { Definition, Edge } from '../../definition/schema'
import type { DefinedField } from '../../steps/form'
import { findStepType } from '../../steps/registry'
import { bodiesOf, keptApart, stepsOutside } from './regions'

/** The names that a step defines for later steps. */
export interface Defined {
  fields: Record<string, DefinedField>
  /** Those that become run data, rather than only the step's output. */
  added: Record<string, DefinedField>
  /** It may add fields of any name. */
  open: boolean
}

/** Names that have a value on some paths, and on every path: one bit each. */
export type Bits = { some: bigint; every: bigint }

/** A step that runs branches. */
interface Fork {
  /** The initial data of each exit that begins a branch. */
  begins: Map<string, Bits>
  /** The exits at which a path of any branch ends. */
  ends: { step: number; exit: string }[]
  /** The branches whose data is merged at `done`. */
  branches: {
    /** The exits at which a path of the branch ends. */
    ends: { step: number; exit: string }[]
    /** Names that stand only for outputs, which nothing outside the branch can refer to, and ... */
    onlyIds: bigint
    /** ... names that are in its data only on some paths. */
    notAlways: bigint
  }[]
  /** Whether `done` means that all branches have succeeded. */
  all: boolean
}

/** The steps that run branches, by their position. */
export function forksOf(
  definition: Definition,
  position: Map<string, number>,
  defined: readonly Defined[],
  bitsOf: (fields: Record<string, DefinedField>) => Bits,
): Map<number, Fork> {
  const forks = new Map<number, Fork>()
  const regions = bodiesOf(definition)
  const keptIn = keptApart(regions, definition)
  const leaving = edgesBySource(definition.edges)
  for (const [at, step] of definition.steps.entries()) {
    const type = findStepType(step.type)
    if (type?.mode !== 'fork') continue
    const exits = exitsOf(type.exits, step).filter(({ id }) => beginsBranch(type.exits, id))
    const begins = new Map(exits.map(({ id }) => [id, bitsOf(type.gives?.[id] ?? {})]))
    const bodies = regions.filter(({ fork, steps }) => fork === step.id && !steps.has(fork))
    const endsIn = (body: Region) =>
      [...stepsOutside(body, regions)].flatMap((id) => endsOf(definition, position.get(id) ?? -1, leaving))
    const branches = bodies
      .filter(() => type.merges)
      .map((body) => {
        const { steps } = body
        const apart = stepsOutside(body, keptIn)
        const members = [...apart].flatMap((id) => position.get(id) ?? [])
        const ends = endsIn(body)
        const ids = bitsOf(Object.fromEntries([...steps].map((id) => [id, { type: 'any' }])))
        const added = members.map((member) => {
          const { added = {}, open = false } = defined[member] ?? {}
          const { [definition.steps[member]?.id ?? '']: _id, ...rest } = added
          return { some: bitsOf(added).some, every: bitsOf(open ? rest : added).every }
        })
        const some = added.reduce((set, bits) => set | bits.some, 0n)
        const every = added.reduce((set, bits) => set | bits.every, 0n)
        return { ends, onlyIds: ids.some & ~some, notAlways: ids.some & ~every }
      })
    const config = type.config.safeParse(step)
    const forking = config.success && type.merges ? type.fork({ config: config.data }) : null
    // A branch without steps ends where it begins.
    const empty = [...begins.keys()].filter((exit) => !bodies.some((body) => body.exit === exit))
    const ends = [...bodies.flatMap(endsIn), ...empty.map((exit) => ({ step: at, exit }))]
    forks.set(at, { begins, ends, branches, all: forking?.need === forking?.branches.length })
  }
  return forks
}

/** The exits of a step at which a path ends, except by a failure. */
export function endsOf(
  { steps }: Definition,
  at: number,
  leaving: Map<string, Edge[]>,
): { step: number; exit: string }[] {
  const step = steps[at]
  const spec = step && findStepType(step.type)?.exits
  if (!step || !spec) return []
  const taken = new Set((leaving.get(step.id) ?? []).map(exitOf))
  return exitsOf(spec, step)
    .filter(
      ({ id }) => !taken.has(id) && !FAILURE_EXITS.includes(id) && !fallsToNext(spec, id) && !beginsBranch(spec, id),
    )
    .map(({ id }) => ({ step: at, exit: id }))
}
