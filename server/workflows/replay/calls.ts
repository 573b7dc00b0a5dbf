import type { JsonObject } from '../../definition/json'
import { type Calls, isSamePlace, type Place } from '../../definition/verdict'
import { findStepType } from '../../steps/registry'
import type { Fact } from './facts'
import type { Matching } from './match'
import type { Computing } from './source'

/** Which calls a walk makes that its run did not make, or made otherwise. */
export class CallLog {
  private readonly added = new Set<string>()
  private readonly changed = new Set<string>()
  /** The call whose recorded failure the walk took last. */
  failed: (Place & { asksSame: boolean }) | null = null

  constructor(
    private readonly facts: readonly Fact[],
    private readonly matching: Matching,
    private readonly computing: Computing,
  ) {}

  /** Whether a visit reaches something outside. Questions to people are no calls. */
  isCall(typeName: string, config: JsonObject): boolean {
    const type = findStepType(typeName)
    if (type?.mode === 'pause') return type.startsRun === true
    return type?.mode === 'effect' && !this.computing.may(type, config)
  }

  /**
   * @param fact the recorded visit whose outcome a call takes; undefined if it takes none
   * @param asks whether it asks the same, or the same of another version of its tool or agent
   * @param isSaid whether a person has said what it gives, so that it does not take that outcome
   */
  count(place: Place, fact: Fact | undefined, asks: 'same' | 'another version' | 'other', isSaid: boolean): void {
    if (!isSaid && fact && typeof fact.came !== 'string' && 'failed' in fact.came)
      this.failed = { ...place, asksSame: asks === 'same' }
    if (asks !== 'other') return
    if (!fact || !isSamePlace(fact, place) || this.matching.isTaken(fact)) this.added.add(place.stepId)
    else this.changed.add(place.stepId)
    if (fact) this.matching.take(fact)
  }

  /** @param isWhole whether the walk has come to its end, so that what it did not call is not called */
  all(isWhole: boolean): Calls {
    const left = isWhole
      ? this.facts.filter((fact) => typeof fact.came !== 'string' && !this.matching.isTaken(fact))
      : []
    const gone = left.filter(({ type, asked }) => this.isCall(type, asked ?? {})).map(({ stepId }) => stepId)
    return { new: [...this.added], gone: [...new Set(gone)], changed: [...this.changed] }
  }
}
