import { originOf } from '../../definition/branches'
import type { JsonObject } from '../../definition/json'
import type { Place } from '../../definition/verdict'
import type { Entry, Position } from '../../interpreter/flow/index'
import type { Watcher } from './source'

/** Where a value comes from: START, a visit, or a person who changed it before a visit. */
export type Origin = 'start' | { gave: Place } | { changed: Place }

/** Where the values come from that a walk stands before. */
export class Origins implements Watcher {
  /** By branch and name. Without an entry, a value is of START. */
  private readonly fields = new Map<string, Map<string, Origin>>()
  private readonly outputs = new Map<string, Origin>()

  visit({ state: { ref, own } }: Entry<Position>): void {
    const origin = originOf(ref.branch)
    if (!origin || this.fields.has(ref.branch)) return
    const { parent, stepId, visit } = origin
    const fork = { gave: { branch: parent, stepId, visit } }
    const names = Object.keys(own?.data ?? {})
    this.fields.set(ref.branch, new Map([...this.of(parent), ...names.map((name) => [name, fork] as const)]))
  }

  leave(): void {}
  fail(): void {}

  gave({ state, at }: Entry<Position>, delta: JsonObject): void {
    const gave = { gave: { branch: state.ref.branch, ...at } }
    this.outputs.set(at.stepId, gave)
    this.set(state.ref.branch, delta, gave)
  }

  /** A person changed these fields before a visit. */
  changed(entry: Entry<Position>, fields: JsonObject): void {
    // The branch may begin with this visit.
    this.visit(entry)
    const { state, at } = entry
    this.set(state.ref.branch, fields, { changed: { branch: state.ref.branch, ...at } })
  }

  /** @param isField whether the name is one of a field, and not only the id of a step */
  find({ state }: Entry<Position>, name: string, isField: boolean): Origin {
    return (isField ? this.of(state.ref.branch).get(name) : this.outputs.get(name)) ?? 'start'
  }

  private set(branch: string, fields: JsonObject, origin: Origin): void {
    const known = this.of(branch)
    for (const name of Object.keys(fields)) known.set(name, origin)
    this.fields.set(branch, known)
  }

  private of(branch: string): Map<string, Origin> {
    return this.fields.get(branch) ?? new Map()
  }
}
