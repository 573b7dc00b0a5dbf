import { inStoredOrder, type JsonObject } from '../../definition/json'
import { type Place, placeKey } from '../../definition/verdict'
import type { Fact } from './facts'
import { mayEqual } from './unknown'

/** Finds the recorded visit that a visit of a walk corresponds to. */
export class Matching {
  private readonly byPlace: ReadonlyMap<string, Fact>
  private readonly byAsked = new Map<string, Fact[]>()
  private readonly byStep = new Map<string, Fact[]>()
  private readonly taken = new Set<Fact>()

  constructor(private readonly facts: readonly Fact[]) {
    this.byPlace = new Map(facts.map((fact) => [placeKey(fact), fact]))
    for (const fact of facts) {
      if (typeof fact.came === 'string') continue
      add(this.byStep, fact.stepId, fact)
      if (fact.asked) add(this.byAsked, askedKey(fact.type, fact.asked), fact)
    }
  }

  at(place: Place): Fact | undefined {
    return this.byPlace.get(placeKey(place))
  }

  /** The visit that asked the same: at the same place, or elsewhere, such as of a step that has a new name now. */
  same(place: Place, type: string, asked: JsonObject): Fact | undefined {
    const here = this.at(place)
    const key = askedKey(type, asked)
    // Runs that were kept by older releases do not say what they asked.
    const isSame = here && (here.asked === null || askedKey(here.type, here.asked) === key)
    const free = isSame ? [] : (this.byAsked.get(key) ?? []).filter((fact) => !this.taken.has(fact))
    const found = isSame ? here : (free.find(({ stepId }) => stepId === place.stepId) ?? free[0])
    if (found) this.taken.add(found)
    return found
  }

  /**
   * Whether nobody can say if a visit asked the same, because something in that is hidden: the visit at the same place, or
   * one of a step that is gone.
   */
  mayBeSame(place: Place, type: string, asked: JsonObject, isGone: (stepId: string) => boolean): boolean {
    const here = this.at(place)
    return this.facts.some((fact) => {
      if (this.taken.has(fact) || (fact !== here && !isGone(fact.stepId))) return false
      return fact.asked !== null && isOf(fact, type) && mayEqual(unpinned(asked), unpinned(fact.asked))
    })
  }

  /** The visits that are left over are made no longer. */
  take(fact: Fact): void {
    this.taken.add(fact)
  }

  isTaken(fact: Fact): boolean {
    return this.taken.has(fact)
  }

  /** The visit at the same place, also if it asked for something else; otherwise the step's last one in the branch, or anywhere. */
  likely(place: Place, type: string): Fact | undefined {
    const here = this.at(place)
    if (here && isOf(here, type)) return here
    const others = (this.byStep.get(place.stepId) ?? []).filter((fact) => isOf(fact, type))
    return others.findLast(({ branch }) => branch === place.branch) ?? others.at(-1)
  }
}

/** The version of a tool, an agent or a workflow is ignored: pins change it without a change of the step. */
function unpinned({ version: _version, ...asked }: JsonObject): JsonObject {
  return asked
}

function askedKey(type: string, asked: JsonObject): string {
  return `${type} ${JSON.stringify(inStoredOrder(unpinned(asked)))}`
}

/** The type of a visit that an older release has kept is not known. */
function isOf(fact: Fact, type: string): boolean {
  return fact.type === '' || fact.type === type
}

function add(to: Map<string, Fact[]>, key: string, fact: Fact): void {
  const known = to.get(key)
  if (known) known.push(fact)
  else to.set(key, [fact])
}
