import type { TransactionContext } from '../context'
import { type Pins, samePins, withPins } from '../definition/pins'
import type { Definition, Step } from '../definition/schema'
import { AppError } from '../errors'
import { asRunsRead, type Target } from '../runs/backtest/trial'
import { findStepType } from '../steps/registry'
import { loadTool } from '../tools/find'
import type { LoadedTool } from '../tools/loaded'
import { findRowAt } from '../versioned/row-at'
import { requireRunnable } from '../workflows/check/definition'
import { findPins } from '../workflows/find-pins'
import { WORKFLOW } from '../workflows/noun'
import { toolKey } from '../workflows/replay/compute'
import type { Outcome } from './carry-out'
import type { ApplyOptions } from './schema'
import type { Task } from './task'
import type { VersionedTask } from './tasks'

/** A workflow whose past runs cannot be tried. */
export interface Untried {
  workflowId: string
  name: string
  why: 'new' | 'archived' | 'invalid' | 'time'
}

/** What an apply makes of the workflows of its body. */
export interface Targets {
  /** Those whose runs would follow something else. */
  targets: Target[]
  untried: Untried[]
  /** How many stay as they are. */
  unchanged: number
}

/** By kind and id, what an apply makes of an object that workflows use. */
type Changed = ReadonlyMap<string, { latest: number; published: number | null }>

/**
 * Reads in the transaction of an apply what runs of its workflows would follow if all of them were published: contents,
 * pins, and the tools that it changes.
 */
export async function targetsOf(
  tx: TransactionContext,
  { tasks }: Pick<Outcome, 'tasks'>,
  options: ApplyOptions,
): Promise<Targets> {
  const versioned = tasks.filter(isVersioned)
  const changed: Changed = new Map(
    versioned
      .filter(({ wanted, actions }) => wanted !== null && actions.length > 0)
      .map(({ kind, id, version }) => [
        `${kind.word}/${id}`,
        { latest: version, published: options.publish ? version : null },
      ]),
  )
  const tools = await unsavedTools(tx, versioned)
  const found: Targets = { targets: [], untried: [], unchanged: 0 }
  for (const task of versioned) {
    if (task.kind.word !== 'workflow') continue
    const untried = (why: Untried['why']) => {
      const name = (task.wanted ?? task.seen?.content)?.name ?? task.id
      found.untried.push({ workflowId: task.id, name, why })
    }
    if (!task.seen) untried('new')
    else if (task.wanted === null) untried('archived')
    else {
      const target = await targetOf(tx, task, changed, options)
      if (target === 'same') found.unchanged += 1
      else if (target === 'invalid') untried('invalid')
      else found.targets.push({ ...target, tools })
    }
  }
  return found
}

function isVersioned(task: Task): task is VersionedTask {
  return 'decision' in task
}

async function unsavedTools(
  tx: TransactionContext,
  tasks: readonly VersionedTask[],
): Promise<ReadonlyMap<string, LoadedTool>> {
  const tools = new Map<string, LoadedTool>()
  for (const { kind, id, wanted, version, actions } of tasks) {
    if (kind.word !== 'tool' || wanted === null || actions.length === 0) continue
    tools.set(toolKey(id, version), await loadTool(tx, id, version))
  }
  return tools
}

/** What runs would follow; `same` if that is what they follow now, and `invalid` if it could not run. */
async function targetOf(
  tx: TransactionContext,
  { id, seen, version }: VersionedTask,
  changed: Changed,
  { publish }: ApplyOptions,
): Promise<Target | 'same' | 'invalid'> {
  const [now, was] = await Promise.all([
    findRowAt(tx, WORKFLOW, id, version),
    findRowAt(tx, WORKFLOW, id, seen?.row.publishedVersion ?? seen?.row.version ?? version),
  ])
  const content = WORKFLOW.contentOf(now.version)
  const pins = publish ? now.version.pins : await findPins(tx, content)
  const isSame =
    WORKFLOW.same(WORKFLOW.contentOf(was.version), content) &&
    !content.steps.some((step) => namedVersion(step, changed) !== step) &&
    (was.version.publishedAt === null ? !usesAny(content, changed) : samePins(was.version.pins, pins))
  if (isSame) return 'same'
  if (!publish && !(await isRunnable(tx, content))) return 'invalid'
  return { id, name: now.row.name, version, ...asRunsRead(asPublished(content, pins, changed)) }
}

async function isRunnable(tx: TransactionContext, content: Definition): Promise<boolean> {
  try {
    await requireRunnable(tx, content)
    return true
  } catch (err) {
    if (err instanceof AppError && err.code === 'VALIDATION_FAILED') return false
    throw err
  }
}

/** With the numbers of the versions it would run with, as the transaction knows them. */
function asPublished(content: Definition, pins: Pins | null, changed: Changed): Definition {
  const pinned = withPins(content, pins)
  return { ...pinned, steps: pinned.steps.map((step) => namedVersion(step, changed)) }
}

/** A step that names `latest` or `published` of an object that the apply changes, with the number of that version. */
function namedVersion(step: Step, changed: Changed): Step {
  const [use] = usesOf(step)
  const made = use && changed.get(`${use.kind}/${use.id}`)
  const version = use?.version === 'latest' ? made?.latest : use?.version === 'published' ? made?.published : null
  return version ? ({ ...step, version } as Step) : step
}

function usesAny({ steps }: Definition, changed: Changed): boolean {
  return steps.flatMap(usesOf).some(({ kind, id }) => changed.has(`${kind}/${id}`))
}

function usesOf(step: Step) {
  const type = findStepType(step.type)
  const config = type?.config.safeParse(step)
  return config?.success ? (type?.uses?.(config.data) ?? []) : []
}
